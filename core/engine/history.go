package engine

import (
	"path/filepath"

	"appserver/core"
	"appserver/protocol"
)

// startFromHistory starts a thread with the items of a thread/resume. The thread in the params is
// not read, but must not be loaded.
func (e *Engine) startFromHistory(to protocol.Caller, p *protocol.ThreadResumeParams) error {
	items, refusal := protocol.DecodeItems("history", *p.History)
	if refusal != nil {
		return refusal
	}
	if e.find(p.ThreadID) != nil {
		return protocol.Refuse(protocol.KindInvalidRequest,
			"cannot resume thread %s with history while it is already running: leave `history` out, or unload the thread",
			p.ThreadID)
	}
	start := &protocol.ThreadStartParams{
		Model: p.Model, ModelProvider: p.ModelProvider, ServiceTier: p.ServiceTier, Cwd: p.Cwd,
		ApprovalPolicy:    p.ApprovalPolicy,
		ApprovalsReviewer: p.ApprovalsReviewer, Sandbox: p.Sandbox, Config: p.Config,
		BaseInstructions: p.BaseInstructions, DeveloperInstructions: p.DeveloperInstructions,
	}
	_, err := e.post(e.parts.NewID(), true, request{to: to, absent: func(a *actor) {
		a.open(to, a.beginWith(to, start, core.Start{History: items, Resumes: p}))
	}})
	return err
}

// samePath reports whether two paths lead to the same file.
func samePath(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	realA, errA := filepath.EvalSymlinks(a)
	realB, errB := filepath.EvalSymlinks(b)
	return errA == nil && errB == nil && realA == realB
}

func errStalePath(a *actor, path string) *protocol.Error {
	return protocol.Refuse(protocol.KindInvalidRequest,
		"cannot resume running thread %s with stale path: requested `%s`, active `%s`", a.id, path, a.path)
}
