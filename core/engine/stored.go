package engine

import (
	"errors"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
)

// ThreadRead returns a thread, loaded or not.
func (e *Engine) ThreadRead(to protocol.Caller, p *protocol.ThreadReadParams) error {
	if err := checkID("invalid thread id", p.ThreadID); err != nil {
		return err
	}
	found, err := e.post(p.ThreadID, false, request{
		to: to, do: func(a *actor) { a.step(core.Read{To: to, IncludeTurns: p.IncludeTurns}) },
		absent: func(*actor) { e.read(to, p) },
	})
	if err != nil || found {
		return err
	}
	return e.aside(to.Conn, func() { e.read(to, p) })
}

// read also warns, once, of problems in the rollout.
func (e *Engine) read(to protocol.Caller, p *protocol.ThreadReadParams) {
	t, err := e.loadStored(p.ThreadID)
	e.answer(to, func() (any, error) { return e.view(p, t, err) })
	if err == nil {
		e.warnOnce(to.Conn, &p.ThreadID, rolloutProblems(t.contents)) // thread items do not depend on the backup
		t.close()
	}
}

func (e *Engine) view(p *protocol.ThreadReadParams, t *loaded, err error) (any, error) {
	if err != nil {
		return nil, notLoaded(p.ThreadID, err)
	}
	return t.checkRead(protocol.ThreadReadResponse{Thread: t.StoredView(p.IncludeTurns)}, nil)
}

// ThreadTimelineList lists the events of a thread, loaded or not.
func (e *Engine) ThreadTimelineList(to protocol.Caller, p *protocol.ThreadTimelineListParams) error {
	return e.readTurns(to, p.ThreadID, core.ListTimeline{To: to, Cursor: p.Cursor, Limit: p.Limit})
}

// ThreadTurnsList lists the turns of a thread, loaded or not.
func (e *Engine) ThreadTurnsList(to protocol.Caller, p *protocol.ThreadTurnsListParams) error {
	in := core.ListTurnsOf(p.Limit, p.SortDirection, p.ItemsView)
	in.To, in.Cursor = to, p.Cursor
	return e.readTurns(to, p.ThreadID, in)
}

// ThreadItemsList lists the items of a thread or of a turn, loaded or not.
func (e *Engine) ThreadItemsList(to protocol.Caller, p *protocol.ThreadItemsListParams) error {
	return e.readTurns(to, p.ThreadID, core.ListItems{
		To: to, Turn: p.TurnID, Cursor: p.Cursor, Limit: p.Limit, Descending: p.SortDirection != nil &&
			*p.SortDirection == "desc",
	})
}

// readTurns replies with the turns of a thread. It does not read the backup, because a rewritten
// rollout has all turns.
func (e *Engine) readTurns(to protocol.Caller, threadID string, in core.Input) error {
	return e.readThread(to, threadID, in, func(id string) (*loaded, error) {
		t, err := e.loadStored(id)
		return t, notLoaded(id, err)
	})
}

// options returns the options of a stored thread.
func (e *Engine) options(id, path string, c *rollout.Contents) core.Options {
	name, at, err := e.parts.Store.NameOf(id)
	if err != nil {
		e.parts.Log.Warn("the index of names cannot be read", zap.Error(err))
	}
	return core.Options{Path: path, Began: c.Began, Written: c.ModTime, Name: name, NamedAt: at, Next: c.Next,
		CompletedFloor: e.parts.CompletedFloor, Tokens: e.tokenizer(), Capabilities: e.parts.Setup.Offers,
		Memory: e.memoryRules(nil)}
}

// withCode adds the code and the kind to an error.
func withCode(err error) *protocol.Error {
	var ready *protocol.Error
	var missing *rollout.NotFoundError
	var locked *rollout.LockedError
	var cursor *rollout.CursorError
	var disk *rollout.DiskError
	var special *rollout.KindError
	var name *rollout.NameError
	var backup *rollout.BackupError
	var used *rollout.InUseError
	switch {
	case errors.As(err, &ready):
		return ready
	case errors.Is(err, rollout.ErrNoIndex):
		return protocol.Refuse(protocol.KindIndexUnavailable, "%v", err)
	case rollout.IsShortage(err):
		return errStorage(err)
	case errors.As(err, &missing):
		return protocol.Refuse(protocol.KindThreadNotFound, "%v", err)
	case errors.As(err, &locked):
		return protocol.Refuse(protocol.KindThreadLocked, "%v", err)
	case errors.As(err, &used):
		return protocol.Refuse(protocol.KindThreadInUse, "%v", err)
	case errors.As(err, &cursor):
		return protocol.InvalidParams("cursor", "%v", err)
	case errors.As(err, &backup) && backup.Err == nil:
		return protocol.Refuse(protocol.KindBackupMismatch, "%v", err)
	case errors.As(err, &backup):
		return protocol.Refuse(protocol.KindRolloutUnreadable, "%v", err)
	case errors.As(err, &disk), errors.As(err, &special), errors.As(err, &name):
		return protocol.Refuse(protocol.KindRolloutUnreadable, "%v", err)
	}
	return protocol.Internal(protocol.KindInternal, "%v", err)
}
