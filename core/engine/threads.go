package engine

import (
	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

// ThreadStart starts a thread.
func (e *Engine) ThreadStart(to protocol.Caller, p *protocol.ThreadStartParams) error {
	_, err := e.post(e.parts.NewID(), true, request{to: to, absent: func(a *actor) {
		a.closeOnError(to, a.startThread(to, p, core.Start{}))
	}})
	return err
}

// ThreadResume loads a thread, or subscribes the caller to a loaded one.
func (e *Engine) ThreadResume(to protocol.Caller, p *protocol.ThreadResumeParams) error {
	if p.History != nil {
		return e.startFromHistory(to, p)
	}
	at, err := named(p.ThreadID, p.Path)
	if err != nil {
		return err
	}
	_, err = e.post(at.ID, true, request{
		to: to, do: func(a *actor) {
			if at.Path != "" && !a.journal.IsAt(at.Path) {
				e.parts.Outbox.Refuse(to, errStalePath(a, at.Path))
				return
			}
			a.join(to, p)
		},
		absent: func(a *actor) { a.closeOnError(to, a.load(to, p, at.Path)) },
	})
	return err
}

// named returns the log that the params of a request name: that of a thread, or a file, which has precedence.
func named(thread string, path *string) (at store.Ref, err error) {
	at.ID = thread
	if path != nil {
		at.ID, at.Path = rollout.Named(*path)
	}
	return at, checkID("invalid session id", at.ID)
}

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
		Permissions: p.Permissions, RuntimeWorkspaceRoots: p.RuntimeWorkspaceRoots,
		BaseInstructions: p.BaseInstructions, DeveloperInstructions: p.DeveloperInstructions,
	}
	_, err := e.post(e.parts.NewID(), true, request{to: to, absent: func(a *actor) {
		a.closeOnError(to, a.startThread(to, start, core.Start{History: items, Resumes: p}))
	}})
	return err
}

// ThreadUnsubscribe removes the caller from the subscribers of a thread.
func (e *Engine) ThreadUnsubscribe(to protocol.Caller, p *protocol.ThreadUnsubscribeParams) error {
	if err := checkID("invalid thread id", p.ThreadID); err != nil {
		return err
	}
	absent := func(*actor) { e.parts.Outbox.Reply(to, protocol.ThreadUnsubscribeResponse{Status: "notLoaded"}) }
	found, err := e.post(p.ThreadID, false, request{
		to: to, absent: absent,
		do: func(a *actor) {
			status := "notSubscribed"
			if a.unsubscribe(to.Conn) {
				status = "unsubscribed"
			}
			e.parts.Outbox.Reply(to, protocol.ThreadUnsubscribeResponse{Status: status})
		},
	})
	if err == nil && !found {
		absent(nil)
	}
	return err
}
