package engine

import (
	"context"

	"appserver/core"
	"appserver/protocol"
)

func (e *Engine) makeLocked(id string) *actor {
	a := newActor(e, id)
	e.threads[id] = a
	e.order = append(e.order, id)
	return a
}

func (e *Engine) addLocked(id string) *actor {
	a := e.makeLocked(id)
	e.work.Go(a.run)
	return a
}

// release starts a reserved actor, or removes it if it has no thread and no requests.
func (e *Engine) release(a *actor) {
	if a.thread == nil && e.forget(a) {
		return
	}
	e.work.Go(a.run)
}

// post adds a request to the mailbox of a thread without waiting. Without an actor for the thread
// it makes one if create is set, and returns false otherwise.
func (e *Engine) post(id string, create bool, r request) (found bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing {
		return false, errShuttingDown()
	}
	a := e.threads[id]
	if a == nil && !create {
		return false, nil
	}
	if a == nil {
		a = e.addLocked(id)
	}
	room := mailbox
	if r.urgent {
		room += urgentRoom
	}
	if len(a.requests) >= room { // e.mu excludes other senders
		return true, &protocol.Error{Code: protocol.CodeOverloaded, Message: "thread " + a.id +
			" has too many requests waiting; retry later",
			Data: &protocol.ErrorData{Kind: protocol.KindOverloaded}}
	}
	a.requests <- r
	return true, nil
}

// toThread posts a request for a loaded thread. Its goroutine checks whether the thread is loaded,
// because an earlier request may load it.
func (e *Engine) toThread(to protocol.Caller, id string, do func(a *actor)) error {
	if err := checkID("invalid thread id", id); err != nil {
		return err
	}
	_, err := e.post(id, true, request{to: to, do: do})
	return err
}

// toThreadBy applies an input to a loaded thread. The input is made in the goroutine of the thread.
func (e *Engine) toThreadBy(to protocol.Caller, id string, input func(*actor) (core.Input, error)) error {
	return e.toThread(to, id, func(a *actor) { a.stepBy(to, input) })
}

// toThreadWithEnv does the same as toThreadBy, with an input that needs the environment of a turn, and possibly no
// model.
func (e *Engine) toThreadWithEnv(to protocol.Caller, id string, input func(core.TurnEnv) core.Input) error {
	return e.toThreadBy(to, id, func(a *actor) (core.Input, error) {
		env, err := a.turnEnv(a.thread.Settings())
		if err != nil && !notReady(err) {
			return nil, err
		}
		return input(env), nil
	})
}

// stepBy applies an input, or rejects the request if the input cannot be made.
func (a *actor) stepBy(to protocol.Caller, input func(*actor) (core.Input, error)) {
	in, err := input(a)
	if err != nil {
		a.engine.refuse(to, err)
		return
	}
	a.step(in)
}

// inThread runs do in the goroutine of a loaded thread. It returns false if the thread is not loaded or
// its mailbox is full.
func (e *Engine) inThread(id string, do func(a *actor)) bool {
	found, err := e.post(id, false, request{do: do, absent: func(*actor) {}})
	return found && err == nil
}

// changeThread applies an input to a thread, loaded or not. A stored thread is loaded for it, and unloaded
// afterwards.
func (e *Engine) changeThread(to protocol.Caller, id string, in core.Input) error {
	return e.changeThreadBy(to, id, func(*actor) (core.Input, error) { return in, nil })
}

// changeThreadBy does the same as changeThread, with an input that is made in the goroutine of the thread.
func (e *Engine) changeThreadBy(to protocol.Caller, id string, input func(*actor) (core.Input, error)) error {
	if err := checkID("invalid thread id", id); err != nil {
		return err
	}
	_, err := e.post(id, true, request{
		to:     to,
		do:     func(a *actor) { a.stepBy(to, input) },
		absent: func(a *actor) { a.changeStored(to, input) },
	})
	return err
}

// readThread applies an input that only reads, to the loaded thread, or to the one that load
// returns.
func (e *Engine) readThread(to protocol.Caller, id string, in core.Input, load loader) error {
	return e.toLoadedOr(to, id,
		func(a *actor) { a.step(a.inScope(in)) },
		func() (any, error) { return e.stepStored(id, in, load) })
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

// viewThread replies with the result of look on a loaded or stored thread.
func (e *Engine) viewThread(to protocol.Caller, id string, look func(*core.Thread, *Scope) (any, error)) error {
	return e.toLoadedOr(to, id,
		func(a *actor) { e.answer(to, func() (any, error) { return look(a.thread, a.config()) }) },
		func() (any, error) {
			t, err := e.loadContext(id)
			if err != nil {
				return nil, err
			}
			defer t.close()
			return t.checkRead(look(t.Thread, e.parts.Config.Current()))
		})
}

// toLoadedOr runs loaded in the goroutine of a loaded thread. For another thread it replies with the result of stored,
// which reads the disk.
func (e *Engine) toLoadedOr(
	to protocol.Caller, id string, loaded func(a *actor), stored func() (any, error),
) error {
	if err := checkID("invalid thread id", id); err != nil {
		return err
	}
	found, err := e.post(id, false, request{to: to, do: loaded, absent: func(*actor) { e.answer(to, stored) }})
	if err != nil || found {
		return err
	}
	return e.Background(to, stored)
}

// reserve returns an actor for an unknown thread. It belongs to the caller until release. Posted
// requests wait until then.
func (e *Engine) reserve(id string) (*actor, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closing:
		return nil, errShuttingDown()
	case e.threads[id] != nil:
		return nil, errTaken(id)
	}
	return e.makeLocked(id), nil
}

// answerOf computes a response outside of the goroutine of the thread.
type answerOf func(ctx context.Context) (any, error)

// workOn replies with a result from a loaded or stored thread. It calls find in the goroutine of
// the thread, and the returned function outside of it.
func (e *Engine) workOn(to protocol.Caller, id string, find func(*core.Thread) (answerOf, error)) error {
	work := func(found answerOf, err error) (any, error) {
		if err != nil {
			return nil, err
		}
		ctx, cancel := e.untilClosed()
		defer cancel()
		return found(ctx)
	}
	loaded := func(a *actor) {
		found, err := find(a.thread)
		if err == nil {
			err = e.Background(to, func() (any, error) { return work(found, nil) })
		}
		if err != nil {
			e.refuse(to, err)
		}
	}
	return e.toLoadedOr(to, id, loaded, func() (any, error) { return work(e.findStored(id, find)) })
}

// findStored returns the result of find on a stored thread.
func (e *Engine) findStored(id string, find func(*core.Thread) (answerOf, error)) (answerOf, error) {
	t, err := e.loadStored(id)
	if err != nil {
		return nil, notLoaded(id, err)
	}
	defer t.close()
	found, err := find(t.Thread)
	if unread := t.lineReader.Err(); unread != nil {
		return nil, unread
	}
	return found, err
}
