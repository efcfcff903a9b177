package engine

import (
	"errors"
	"slices"
	"time"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

// ThreadArchiveAndNew archives a thread, loaded or not, and starts a successor with its settings.
func (e *Engine) ThreadArchiveAndNew(to protocol.Caller, p *protocol.ThreadArchiveAndNewParams) error {
	if err := checkID("invalid thread id", p.ThreadID); err != nil {
		return err
	}
	in := core.Archive{To: to}
	switch {
	case p.NewThreadID == nil:
		in.Successor = e.parts.NewID()
	case checkID("", *p.NewThreadID) != nil:
		return protocol.InvalidParams("newThreadId", "`newThreadId`: `%s` is not a UUID in lower case", *p.NewThreadID)
	default:
		in.Successor = *p.NewThreadID
	}
	_, err := e.post(p.ThreadID, true, request{
		to: to, do: func(a *actor) { a.replace(in) },
		absent: func(a *actor) { a.replaceStored(in) },
	})
	return err
}

// replaceStored loads the thread, because the successor gets its settings.
func (a *actor) replaceStored(in core.Archive) {
	err := a.checkUnarchived()
	if err == nil {
		_, err = a.openThread("", false)
	}
	if err != nil {
		a.closeOnError(in.To, err)
		return
	}
	in.Stored = true
	a.replace(in)
	if a.thread != nil {
		a.unload()
	}
}

// replace makes the successor durable before it archives this thread. A crash in between leaves
// both. Clients are notified of the successor first.
func (a *actor) replace(in core.Archive) {
	if a.releaseTurn(); a.thread == nil {
		a.engine.parts.Outbox.Refuse(in.To, a.absence())
		return
	}
	out, ok := a.prepareArchive(in)
	if !ok {
		return
	}
	next, begun, err := a.createSuccessor(in)
	if err != nil {
		a.engine.refuse(in.To, err)
		return
	}
	defer a.engine.release(next)
	subscribers, ok := a.commitArchive(in, out)
	if !ok {
		next.discard()
		return
	}
	next.subscribers = slices.Clone(subscribers)
	next.ready.Store(true)
	next.deliver(begun)
	a.sendTo(subscribers, out.Messages)
}

// createSuccessor creates the successor, and sends no messages.
func (a *actor) createSuccessor(in core.Archive) (*actor, core.Output, error) {
	next, err := a.engine.reserve(in.Successor)
	if err != nil {
		return nil, core.Output{}, err
	}
	begun, err := next.initSuccessor(a, in)
	if err != nil {
		next.discard()
		a.engine.release(next)
		return nil, begun, err
	}
	return next, begun, nil
}

func (a *actor) initSuccessor(old *actor, in core.Archive) (core.Output, error) {
	if err := a.checkNew(); err != nil {
		return core.Output{}, err
	}
	now := time.Now()
	a.options = a.engine.newOptions(old.config(), false)
	if err := a.createLog(now, nil); err != nil {
		return core.Output{}, err
	}
	settings, meta := old.thread.Settings(), old.thread.Successor(a.id, now)
	meta.Originator, meta.CliVersion = a.engine.parts.Clients.Originator(in.To.Conn), a.engine.parts.Version
	a.scope = old.scope
	a.thread = core.Load(a.id, a.options, settings, nil)
	out, err := a.commit(core.Start{To: in.To, Meta: meta, Settings: settings, Options: a.options, Replaces: old.id})
	if err != nil {
		return out, errStorage(err)
	}
	return out, nil
}

// checkNew returns an error if a stored thread has the id.
func (a *actor) checkNew() error {
	_, err := a.engine.parts.Threads.Where(store.Ref{ID: a.id})
	var missing *rollout.NotFoundError
	switch {
	case err == nil:
		return errTaken(a.id)
	case errors.As(err, &missing):
		return nil
	}
	return err
}

// discard unloads a new thread that no client knows, and removes its rollout.
func (a *actor) discard() { a.close(a.journal.Discard) }
