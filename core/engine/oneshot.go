package engine

import (
	"errors"
	"fmt"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
)

// changeThread steps a thread with an input that answers its caller. A stored thread is
// loaded for it, and let go again.
func (e *Engine) changeThread(to protocol.Caller, id string, in core.Input) error {
	return e.changeThreadIf(to, id, in, func(*actor) error { return nil })
}

// changeThreadIf does so unless the check, which runs in the thread's goroutine,
// refuses.
func (e *Engine) changeThreadIf(to protocol.Caller, id string, in core.Input, check func(*actor) error) error {
	return e.changeThreadBy(to, id, func(a *actor) (core.Input, error) { return in, check(a) })
}

// changeThreadBy does so with the input that is made in the thread's goroutine, unless that
// fails.
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

// changeStored loads a stored thread for one input and lets it go again.
func (a *actor) changeStored(to protocol.Caller, input func(*actor) (core.Input, error)) {
	var in core.Input
	contents, err := a.openLog("", true)
	if err == nil {
		err = contents.Backup.Err // without it the thread would be less than it was
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

// readThread steps a thread with an input that only reads: a loaded one, or what load
// makes of a stored one's rollout now.
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

// inScope is an input as the thread's own configuration has it, which may be another one
// than that of the file.
func (a *actor) inScope(in core.Input) core.Input {
	if list, ok := in.(core.ListCheckpoints); ok {
		list.Off = !a.tracking().Worktree
		return list
	}
	return in
}

// viewThread answers with what look makes of a thread, loaded or stored, and of its scope.
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

// stepStored is the answer of a stored thread, which nothing of it changes.
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

// notLoaded says of a thread without a rollout what the reference implementation says
// to thread/read.
func notLoaded(id string, err error) error {
	var missing *rollout.NotFoundError
	if errors.As(err, &missing) {
		return protocol.Refuse(protocol.KindThreadNotLoaded, "thread not loaded: %s", id)
	}
	return err
}
