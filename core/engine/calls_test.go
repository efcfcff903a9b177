package engine_test

import (
	"appserver/core/engine"
	"appserver/protocol"
)

// call is a request.
type call struct {
	method string
	thread string
	do     func(e *engine.Engine, to protocol.Caller) error
}

func start() call { return startWith(protocol.ThreadStartParams{}) }

func startWith(p protocol.ThreadStartParams) call {
	return call{"thread/start", "", func(e *engine.Engine, to protocol.Caller) error { return e.ThreadStart(to, &p) }}
}

func resume(thread string) call { return resumeWith(protocol.ThreadResumeParams{ThreadID: thread}) }

func resumeWith(p protocol.ThreadResumeParams) call {
	return call{"thread/resume", p.ThreadID,
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadResume(to, &p) }}
}

func read(thread string) call {
	p := &protocol.ThreadReadParams{ThreadID: thread, IncludeTurns: true}
	return call{"thread/read", thread, func(e *engine.Engine, to protocol.Caller) error { return e.ThreadRead(to, p) }}
}

func list(p protocol.ThreadListParams) call {
	return call{"thread/list", "", func(e *engine.Engine, to protocol.Caller) error { return e.ThreadList(to, &p) }}
}

func loadedList(p protocol.ThreadLoadedListParams) call {
	return call{"thread/loaded/list", "",
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadLoadedList(to, &p) }}
}

func openRequests(p protocol.ServerRequestListParams) call {
	return call{"serverRequest/list", "",
		func(e *engine.Engine, to protocol.Caller) error { return e.ServerRequestList(to, &p) }}
}

func unsubscribe(thread string) call {
	p := &protocol.ThreadUnsubscribeParams{ThreadID: thread}
	return call{"thread/unsubscribe", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadUnsubscribe(to, p) }}
}

func setName(thread, name string) call {
	p := &protocol.ThreadSetNameParams{ThreadID: thread, Name: name}
	return call{"thread/name/set", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadSetName(to, p) }}
}

func turn(thread, words string) call {
	p := &protocol.TurnStartParams{ThreadID: thread, Input: said(words)}
	return call{"turn/start", thread, func(e *engine.Engine, to protocol.Caller) error { return e.TurnStart(to, p) }}
}

func steer(thread, turn, words string) call {
	p := &protocol.TurnSteerParams{ThreadID: thread, ExpectedTurnID: turn, Input: said(words)}
	return call{"turn/steer", thread, func(e *engine.Engine, to protocol.Caller) error { return e.TurnSteer(to, p) }}
}

func interrupt(thread, turn string) call {
	p := &protocol.TurnInterruptParams{ThreadID: thread, TurnID: turn}
	return call{"turn/interrupt", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.TurnInterrupt(to, p) }}
}

func said(words string) []protocol.UserInput {
	return []protocol.UserInput{{UserInputVariant: &protocol.TextInput{Text: words,
		TextElements: []protocol.TextElement{}}}}
}
