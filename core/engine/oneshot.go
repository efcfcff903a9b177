package engine

import (
	"errors"
	"fmt"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
)

// changeThread applies an input to a thread. A stored thread is loaded for it, and unloaded
// afterwards.
func (e *Engine) changeThread(to protocol.Caller, id string, in core.Input) error {
	return e.changeThreadIf(to, id, in, func(*actor) error { return nil })
}

// changeThreadIf is changeThread with a check in the goroutine of the thread.
func (e *Engine) changeThreadIf(to protocol.Caller, id string, in core.Input, check func(*actor) error) error {
	return e.changeThreadBy(to, id, func(a *actor) (core.Input, error) { return in, check(a) })
}

// changeThreadBy is changeThread with an input that is made in the goroutine of the thread.
func (e *Engine) changeThreadBy(to protocol.Caller, id string, input func(*actor) (core.Input, error)) error {
	if err := checkID("invalid thread id", id); err != nil {
		return err
	}
	_, err := e.post(id, true, request{
		to: to,
		do: func(a *actor) {
			in, err := input(a)
			if err != nil {
				e.parts.Outbox.Refuse(to, withCode(err))
				return
			}
			a.step(in)
		},
		absent: func(a *actor) { a.changeStored(to, input) },
	})
	return err
}

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
		a.open(to, err)
		return
	}
	out, err := a.commit(in)
	if err != nil {
		a.open(to, errStorage(err))
		return
	}
	a.subscribe(to.Conn)
	a.deliver(out)
	a.unload()
}

// readThread applies an input that only reads, to the loaded thread, or to the one that load
// returns.
func (e *Engine) readThread(to protocol.Caller, id string, in core.Input, load func(id string) (*loaded, error)) error {
	if err := checkID("invalid thread id", id); err != nil {
		return err
	}
	stored := func() (any, error) { return e.stepStored(id, in, load) }
	found, err := e.post(id, false, request{
		to: to, do: func(a *actor) { a.step(a.inScope(in)) },
		absent: func(*actor) { e.answer(to, stored) },
	})
	if err != nil || found {
		return err
	}
	return e.background(to, stored)
}

// inScope adapts an input to the configuration of the thread, which may differ from the global one.
func (a *actor) inScope(in core.Input) core.Input {
	if list, ok := in.(core.ListCheckpoints); ok {
		list.Off = !a.tracking().Worktree
		return list
	}
	return in
}

// viewThread replies with the result of look on a loaded or stored thread.
func (e *Engine) viewThread(to protocol.Caller, id string, look func(*core.Thread, Scope) (any, error)) error {
	if err := checkID("invalid thread id", id); err != nil {
		return err
	}
	stored := func() (any, error) {
		t, err := e.loadContext(id)
		if err != nil {
			return nil, err
		}
		defer t.close()
		return t.checkRead(look(t.Thread, nil))
	}
	found, err := e.post(id, false, request{
		to: to, do: func(a *actor) { e.answer(to, func() (any, error) { return look(a.thread, a.scope) }) },
		absent: func(*actor) { e.answer(to, stored) },
	})
	if err != nil || found {
		return err
	}
	return e.background(to, stored)
}

// stepStored returns the result of an input on a stored thread that is not changed.
func (e *Engine) stepStored(id string, in core.Input, load func(id string) (*loaded, error)) (any, error) {
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

// notLoaded converts the error of a missing rollout to that of the reference implementation for
// thread/read.
func notLoaded(id string, err error) error {
	var missing *rollout.NotFoundError
	if errors.As(err, &missing) {
		return protocol.Refuse(protocol.KindThreadNotLoaded, "thread not loaded: %s", id)
	}
	return err
}
