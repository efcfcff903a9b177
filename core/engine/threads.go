package engine

import (
	"slices"

	"appserver/core"
	"appserver/core/pure/page"
	"appserver/protocol"
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
	at, err := refNamed(p.ThreadID, p.Path)
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
			a.followedBy(to)
		},
		absent: func(a *actor) {
			a.closeOnError(to, a.load(to, p, at.Path))
			a.followedBy(to)
		},
	})
	return err
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
				a.leaveAgents(to.Conn)
			}
			e.parts.Outbox.Reply(to, protocol.ThreadUnsubscribeResponse{Status: status})
		},
	})
	if err == nil && !found {
		absent(nil)
	}
	return err
}

// ThreadLoadedList lists loaded threads, oldest first.
func (e *Engine) ThreadLoadedList(to protocol.Caller, p *protocol.ThreadLoadedListParams) error {
	ids := []string{}
	for _, a := range e.actors() {
		if a.ready.Load() {
			ids = append(ids, a.id)
		}
	}
	listed, next, err := idsPage(ids, p.Cursor, p.Limit)
	if err != nil {
		return err
	}
	e.parts.Outbox.Reply(to, protocol.ThreadLoadedListResponse{Data: listed, NextCursor: next})
	return nil
}

// idsPage returns the ids after the cursor, which is the last id of the previous page. A nil limit, or
// 0, is no limit.
func idsPage(ids []string, cursor *string, limit *uint32) (listed []string, next *string, err error) {
	if cursor != nil {
		i := slices.Index(ids, *cursor)
		if i < 0 {
			return nil, nil, protocol.InvalidParams("cursor", "invalid cursor: %s", *cursor)
		}
		ids = ids[i+1:]
	}
	if limit != nil && *limit == 0 {
		limit = nil
	}
	listed, more := page.First(ids, page.Size(limit, page.Unlimited, page.Unlimited))
	if more {
		next = &listed[len(listed)-1]
	}
	return listed, next, nil
}
