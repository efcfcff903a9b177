package engine

import (
	"appserver/core"
	"appserver/protocol"
)

// ThreadRead returns a thread, loaded or not.
func (e *Engine) ThreadRead(to protocol.Caller, p *protocol.ThreadReadParams) error {
	if err := checkID("invalid thread id", p.ThreadID); err != nil {
		return err
	}
	found, err := e.post(p.ThreadID, false, request{
		to: to, do: func(a *actor) { a.step(core.Read{To: to, IncludeTurns: p.IncludeTurns}) },
		absent: func(*actor) { e.readStored(to, p) },
	})
	if err != nil || found {
		return err
	}
	return e.goReader(to.Conn, func() { e.readStored(to, p) })
}

// readStored replies with a stored thread. It also warns, once, of problems in the rollout.
func (e *Engine) readStored(to protocol.Caller, p *protocol.ThreadReadParams) {
	var t *storedThread
	e.answer(to, func() (any, error) {
		var err error
		t, err = e.loadStored(p.ThreadID)
		return e.view(p, t, err)
	})
	if t != nil {
		e.warnOnce(to.Conn, &p.ThreadID, rolloutProblems(t.contents)) // thread items do not depend on the backup
		t.close()
	}
}

func (e *Engine) view(p *protocol.ThreadReadParams, t *storedThread, err error) (any, error) {
	if err != nil {
		return nil, notLoaded(p.ThreadID, err)
	}
	return t.checkRead(protocol.ThreadReadResponse{Thread: t.StoredView(p.IncludeTurns)}, nil)
}

// readTurns replies with the turns of a thread. It does not read the backup, because a rewritten
// rollout has all turns.
func (e *Engine) readTurns(to protocol.Caller, threadID string, in core.Input) error {
	return e.readThread(to, threadID, in, func(id string) (*storedThread, error) {
		t, err := e.loadStored(id)
		return t, notLoaded(id, err)
	})
}

// ThreadItemsList lists the items of a thread or of a turn, loaded or not.
func (e *Engine) ThreadItemsList(to protocol.Caller, p *protocol.ThreadItemsListParams) error {
	return e.readTurns(to, p.ThreadID, core.ListItems{
		To: to, Turn: p.TurnID, Cursor: p.Cursor, Limit: p.Limit, Descending: p.SortDirection != nil &&
			*p.SortDirection == "desc",
	})
}

// ThreadTimelineList lists the events of a thread, loaded or not.
func (e *Engine) ThreadTimelineList(to protocol.Caller, p *protocol.ThreadTimelineListParams) error {
	in := core.ListTimelineOf(p)
	in.To = to
	return e.readTurns(to, p.ThreadID, in)
}

// ThreadItemRead returns one item of a thread, loaded or not.
func (e *Engine) ThreadItemRead(to protocol.Caller, p *protocol.ThreadItemReadParams) error {
	return e.readTurns(to, p.ThreadID, core.ReadItem{To: to, Turn: p.TurnID, ID: p.ItemID})
}

// ThreadUsageList lists the model requests of a thread, loaded or not.
func (e *Engine) ThreadUsageList(to protocol.Caller, p *protocol.ThreadUsageListParams) error {
	return e.readTurns(to, p.ThreadID, core.ListUsage{
		To: to, Cursor: p.Cursor, Limit: p.Limit, Prices: e.parts.Config.Current().Prices,
	})
}

// ThreadTurnsList lists the turns of a thread, loaded or not.
func (e *Engine) ThreadTurnsList(to protocol.Caller, p *protocol.ThreadTurnsListParams) error {
	in := core.ListTurnsOf(p.Limit, p.SortDirection, p.ItemsView)
	in.To, in.Cursor = to, p.Cursor
	return e.readTurns(to, p.ThreadID, in)
}
