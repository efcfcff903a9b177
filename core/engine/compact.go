package engine

import (
	"strings"

	"appserver/core"
	"appserver/protocol"
)

// ThreadCompactStart starts a turn that compacts the context.
func (e *Engine) ThreadCompactStart(to protocol.Caller, p *protocol.ThreadCompactStartParams) error {
	return e.toThreadWithEnv(to, p.ThreadID, func(env core.TurnEnv) core.Input {
		return core.CompactContext{To: to, Client: e.parts.Clients.Originator(to.Conn), Env: env,
			Strategy: textOrEmpty(p.Strategy)}
	})
}

// ThreadCompactPropose drafts a compaction.
func (e *Engine) ThreadCompactPropose(to protocol.Caller, p *protocol.ThreadCompactProposeParams) error {
	return e.toThreadWithEnv(to, p.ThreadID, func(env core.TurnEnv) core.Input {
		return core.ProposeCompaction{To: to, Env: env, Strategy: textOrEmpty(p.Strategy), Range: p.Range}
	})
}

// ThreadCompactCancel drops the draft of a compaction.
func (e *Engine) ThreadCompactCancel(to protocol.Caller, p *protocol.ThreadCompactCancelParams) error {
	return e.toThread(to, p.ThreadID, func(a *actor) { a.step(core.CancelCompaction{To: to}) })
}

// ThreadCompactCommit applies a draft. The id of a draft begins with that of its thread.
func (e *Engine) ThreadCompactCommit(to protocol.Caller, p *protocol.ThreadCompactCommitParams) error {
	threadID, _, found := strings.Cut(p.DraftID, ":")
	if !found {
		return protocol.InvalidParams("draftId", "%q is not a draft id; use the draftId of thread/compact/propose", p.DraftID)
	}
	return e.toThread(to, threadID, func(a *actor) {
		a.step(core.CommitCompaction{To: to, Client: e.parts.Clients.Originator(to.Conn), Draft: p.DraftID, Text: p.Text})
	})
}
