package engine

import (
	"errors"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

// ThreadArchive moves a thread, loaded or not, to the archive.
func (e *Engine) ThreadArchive(to protocol.Caller, p *protocol.ThreadArchiveParams) error {
	if err := checkID("invalid thread id", p.ThreadID); err != nil {
		return err
	}
	_, err := e.post(p.ThreadID, true, request{
		to: to, do: func(a *actor) { a.archive(core.Archive{To: to}) },
		absent: func(a *actor) { a.archiveStored(to) },
	})
	return err
}

// archive ends the active turn, unloads the thread and archives its rollout. Clients are notified
// after that is durable.
func (a *actor) archive(in core.Archive) {
	if !a.options.Ephemeral &&
		a.engine.parts.Threads.Check(a.at, store.OpArchive) == nil { // else the request is rejected
		a.endTurn()
	}
	if a.thread == nil {
		a.engine.parts.Outbox.Refuse(in.To, a.absence())
		return
	}
	out, ok := a.prepareArchive(in)
	if !ok {
		return
	}
	if subscribers, ok := a.commitArchive(in, out); ok {
		a.sendTo(subscribers, out.Messages)
	}
}

// prepareArchive checks whether the thread can be archived. If not, it replies to the caller.
func (a *actor) prepareArchive(in core.Archive) (core.Output, bool) {
	out := a.thread.Step(a.engine.stamp(), in)
	if !out.Archive {
		a.send(out.Messages)
		return out, false
	}
	if err := a.engine.parts.Threads.Check(a.at, store.OpArchive); err != nil {
		a.engine.parts.Outbox.Refuse(in.To, archiveError(err))
		return out, false
	}
	return out, true
}

// commitArchive archives the thread, and returns the subscribers to notify. If that fails, it
// notifies them that the thread is closed, and rejects the request.
func (a *actor) commitArchive(in core.Archive, out core.Output) (subscribers []uint64, ok bool) {
	at, below := a.at, a.engine.below(a.id, false)
	a.subscribe(in.To.Conn)
	subscribers = a.subscribers
	a.endTerminals()
	a.unload()
	if err := a.engine.parts.Threads.Archive(at); err != nil {
		a.engine.parts.Log.Error("archiving the rollout failed", zap.String("thread", a.id), zap.Error(err))
		if !in.Stored {
			a.notifyTo(subscribers, statusNotLoaded(a.id), protocol.ThreadClosedNotification{ThreadID: a.id})
		}
		a.engine.parts.Outbox.Refuse(in.To, archiveError(err))
		return nil, false
	}
	a.engine.archiveAgents(in.To, a.id, below)
	return subscribers, true
}

// archiveStored archives a thread that is not loaded.
func (a *actor) archiveStored(to protocol.Caller) {
	err, below := a.checkUnarchived(), a.engine.below(a.id, false)
	if err == nil {
		a.endResumable()
		err = a.engine.parts.Threads.Archive(store.Ref{ID: a.id})
	}
	if err != nil {
		a.engine.parts.Outbox.Refuse(to, archiveError(err))
		return
	}
	a.engine.archiveAgents(to, a.id, below)
	a.engine.parts.Outbox.Reply(to, protocol.Empty{})
	a.notifyTo([]uint64{to.Conn}, protocol.ThreadArchivedNotification{ThreadID: a.id})
}

// endResumable ends the resumable turn of a stored thread, as the archive ends the turn of a loaded one. A
// thread that cannot be loaded is archived as it is.
func (a *actor) endResumable() {
	t, err := a.engine.loadStored(a.id)
	if err != nil {
		return
	}
	resumable := t.Resumable()
	t.close()
	if resumable {
		a.endStoredTurn(core.CloseInterrupted{Resumable: true})
	}
}

// checkUnarchived returns an error if the thread is archived or does not exist.
func (a *actor) checkUnarchived() error {
	place, err := a.engine.parts.Threads.Where(store.Ref{ID: a.id})
	if err == nil && place.Archived {
		return protocol.Refuse(protocol.KindThreadArchived, "%v: it is archived already", &rollout.NotFoundError{ID: a.id})
	}
	return err
}

// ThreadUnarchive moves a thread out of the archive.
func (e *Engine) ThreadUnarchive(to protocol.Caller, p *protocol.ThreadUnarchiveParams) error {
	if err := checkID("invalid thread id", p.ThreadID); err != nil {
		return err
	}
	_, err := e.post(p.ThreadID, true, request{
		to: to, do: func(a *actor) { e.parts.Outbox.Refuse(to, archiveError(&rollout.NotArchivedError{ID: a.id})) },
		absent: func(a *actor) { a.unarchive(to) },
	})
	return err
}

func (a *actor) unarchive(to protocol.Caller) {
	thread, err := a.readAndUnarchive()
	if err != nil {
		a.engine.parts.Outbox.Refuse(to, archiveError(err))
		return
	}
	a.engine.unarchiveAgents(to, a.id)
	a.engine.parts.Outbox.Reply(to, protocol.ThreadUnarchiveResponse{Thread: thread})
	a.notifyTo([]uint64{to.Conn}, protocol.ThreadUnarchivedNotification{ThreadID: a.id})
}

// readAndUnarchive reads the rollout before it moves it. An unreadable rollout stays archived.
func (a *actor) readAndUnarchive() (thread protocol.Thread, err error) {
	place, err := a.engine.parts.Threads.Where(store.Ref{ID: a.id})
	var missing *rollout.NotFoundError
	if errors.As(err, &missing) || err == nil && !place.Archived {
		err = &rollout.NotArchivedError{ID: a.id}
	}
	if err != nil {
		return thread, err
	}
	t, err := a.engine.loadFrom(place.Ref)
	if err != nil {
		return thread, err
	}
	defer t.close()
	thread = t.StoredView(false)
	place, err = a.engine.parts.Threads.Unarchive(place.Ref)
	thread.Path = protocol.OrNil(place.Path)
	return thread, err
}
