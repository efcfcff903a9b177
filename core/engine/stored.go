package engine

import (
	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
)

// read also warns, once, of problems in the rollout.
func (e *Engine) read(to protocol.Caller, p *protocol.ThreadReadParams) {
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

// options returns the options of a stored thread.
func (e *Engine) options(id string, c *rollout.Contents) core.Options {
	name, at, err := e.parts.Threads.Name(id)
	if err != nil {
		e.parts.Log.Warn("the name of a thread cannot be read", zap.Error(err))
	}
	return core.Options{Path: c.Path, Began: c.Began, Written: c.ModTime, Name: name, NamedAt: at, Next: c.Next,
		CompletedFloor: e.parts.CompletedFloor, Tokens: e.tokenizer(), Capabilities: e.parts.Defaults.Capabilities,
		Memory: e.memoryRules(e.parts.Config.Current()), Economy: e.parts.Config.Current().Economy}
}
