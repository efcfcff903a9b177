package engine

import (
	"fmt"

	"appserver/core"
	"appserver/protocol"
)

// changeStored loads a stored thread, applies one input and unloads it.
func (a *actor) changeStored(to protocol.Caller, input func(*actor) (core.Input, error)) {
	var in core.Input
	contents, err := a.openLog("", true)
	if err == nil {
		err = contents.Backup.Err // without its backup the thread lacks items
	}
	if err == nil {
		in, err = input(a)
	}
	if err != nil {
		a.closeOnError(to, err)
		return
	}
	out, err := a.commit(in)
	if err != nil {
		a.closeOnError(to, errStorage(err))
		return
	}
	a.subscribe(to.Conn)
	a.deliver(out)
	a.unload()
}

// inScope adapts an input to the configuration of the thread, which may differ from the global one.
func (a *actor) inScope(in core.Input) core.Input {
	switch in := in.(type) {
	case core.ListCheckpoints:
		in.Off = !a.tracking().Worktree
		return in
	case core.PreviewContext:
		in.Cache = a.config().CacheFacts
		return in
	case core.SuggestContext:
		in.Rules, in.Cache = a.config().Economy, a.config().CacheFacts
		return in
	case core.ListUsage:
		in.Prices = a.config().Prices
		return in
	}
	return in
}

// stepStored returns the result of an input on a stored thread that is not changed.
func (e *Engine) stepStored(id string, in core.Input, load func(id string) (*storedThread, error)) (any, error) {
	t, err := load(id)
	if err != nil {
		return nil, err
	}
	defer t.close()
	for _, m := range t.Step(e.stamp(), in).Messages {
		switch m := m.(type) {
		case core.Reply:
			return t.checkRead(m.Result, nil)
		case core.Refusal:
			return nil, m.Err
		}
	}
	return nil, fmt.Errorf("%T has no answer", in)
}
