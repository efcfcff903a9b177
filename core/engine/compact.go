package engine

import (
	"strings"

	"appserver/core"
	"appserver/protocol"
)

// ThreadCompactStart begins a turn that compacts the context.
func (e *Engine) ThreadCompactStart(to protocol.Caller, p *protocol.ThreadCompactStartParams) error {
	return e.toWorld(to, p.ThreadID, func(w core.TurnEnv) core.Input {
		return core.CompactContext{To: to, World: w, Strategy: strategyOf(p.Strategy)}
	})
}

// ThreadCompactPropose drafts a compaction.
func (e *Engine) ThreadCompactPropose(to protocol.Caller, p *protocol.ThreadCompactProposeParams) error {
	return e.toWorld(to, p.ThreadID, func(w core.TurnEnv) core.Input {
		return core.ProposeCompaction{To: to, World: w, Strategy: strategyOf(p.Strategy), Range: p.Range}
	})
}

// toWorld gives a thread an input that takes the world as it is, and may need no model.
func (e *Engine) toWorld(to protocol.Caller, threadID string, input func(core.TurnEnv) core.Input) error {
	return e.toThread(to, threadID, func(a *actor) {
		world, err := a.worldOf(a.thread.Settings())
		if err != nil && !notReady(err) {
			e.parts.Outbox.Refuse(to, withCode(err))
			return
		}
		a.step(input(world))
	})
}

func strategyOf(asked *string) string {
	if asked == nil {
		return ""
	}
	return *asked
}

// ThreadCompactCommit makes the compaction of a draft. Its id begins with the thread's.
func (e *Engine) ThreadCompactCommit(to protocol.Caller, p *protocol.ThreadCompactCommitParams) error {
	threadID, _, found := strings.Cut(p.DraftID, ":")
	if !found {
		return protocol.InvalidParams("draftId", "%q is no draft: it is the draftId that thread/compact/propose answers", p.DraftID)
	}
	return e.toThread(to, threadID, func(a *actor) {
		a.step(core.CommitCompaction{To: to, Draft: p.DraftID, Text: p.Text})
	})
}
