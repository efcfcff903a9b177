package model

import (
	"cmp"
	"errors"
	"fmt"

	"appserver/core"
)

// The finish reasons that matter here.
const (
	finishError  = "error"
	finishLength = "length"
	finishFilter = "content_filter"
)

const (
	// answerLimit bounds an answer, in bytes of what it says: models end theirs far below it.
	answerLimit = 32 << 20
	// eventCost and callCost are what an event and a piece of a call count besides, so that
	// answers without end that say nothing end, too.
	eventCost = 16
	callCost  = 128
)

// assembly puts an answer together from its events, and emits text as it comes.
type assembly struct {
	prompt *core.Prompt
	emit   func(core.Piece)
	calls  callAssembly
	echo   echoAssembly
	usage  *usage
	finish string
	spoken bool // text was emitted
	size   int  // of what came, as answerLimit counts
}

func newAssembly(p *core.Prompt, emit func(core.Piece)) *assembly {
	return &assembly{prompt: p, emit: emit}
}

// add takes one event. It fails on what is not JSON, and with *reportedError
// where the provider gave up, and with *oversizedError where it goes on and on.
func (a *assembly) add(raw []byte) error {
	c, err := decodeChunk(raw)
	if err != nil {
		return err
	}
	if u := cmp.Or(c.Usage, c.Groq.Usage); u != nil {
		a.usage = u
	}
	if a.size += eventCost; c.Choices[0].Index == 0 {
		a.choose(&c.Choices[0])
	}
	if a.size > answerLimit {
		return &oversizedError{}
	}
	if a.finish == finishError {
		return &reportedError{problem{text: "the provider ended the answer with finish_reason \"error\""}}
	}
	return nil
}

func (a *assembly) choose(c *choice) {
	a.delta(&c.Delta)
	if c.Message != nil {
		a.delta(c.Message)
	}
	if c.Usage != nil {
		a.usage = c.Usage
	}
	if c.FinishReason != "" && c.FinishReason != "null" {
		a.finish = c.FinishReason
	}
}

func (a *assembly) delta(d *delta) {
	a.size += d.size()
	reasoning, member := d.reasoning()
	a.say(core.PieceReasoning, reasoning)
	a.echo.add(d, reasoning, member)
	a.say(core.PieceText, string(d.Content))
	a.say(core.PieceText, string(d.Refusal))
	for i := range d.ToolCalls {
		a.calls.add(&d.ToolCalls[i])
	}
}

func (a *assembly) say(kind core.PieceKind, text string) {
	if text != "" {
		a.spoken = a.spoken || kind == core.PieceText
		a.emit(core.Piece{Kind: kind, Text: text})
	}
}

// finished tells whether the provider has said that the answer is whole.
func (a *assembly) finished() bool { return a.finish != "" }

// cutReasons are why a provider ends an answer that the model had not ended.
var cutReasons = map[string]string{
	finishLength: "the provider's limit of output tokens was reached",
	finishFilter: "the provider's content filter stopped it",
}

// answer ends the assembly. An answer that the provider cut to nothing is an error.
func (a *assembly) answer() (core.Answer, error) {
	answer := core.Answer{Calls: a.calls.finish(a.prompt)}
	a.echo.finish(a.prompt, a.calls.renamed, &answer)
	if a.usage != nil {
		answer.Usage = a.usage.breakdown()
	}
	if a.spoken || len(answer.Calls) > 0 {
		answer.Cut = cutReasons[a.finish]
		return answer, nil
	}
	switch a.finish {
	case finishLength:
		return core.Answer{}, &barrenError{errors.New("its length limit was reached before any text; raise the limit or lower the reasoning effort")}
	case finishFilter:
		return core.Answer{}, &barrenError{fmt.Errorf("its content filter stopped it (finish_reason %q)", a.finish)}
	}
	return answer, nil
}
