package core

import (
	"appserver/core/pure/compaction"
	"appserver/core/pure/history"
	"appserver/core/pure/state"
	"appserver/protocol"
)

// contextChanged makes the step end with a notification of the context. An edit that changes nothing
// is notified as well, because clients wait for it. A step sends one notification, with the list as
// the step leaves it.
func (s *step) contextChanged(changes []history.Change) {
	s.contextChanges, s.changes = true, append(s.changes, changes...)
}

// commitEdit appends an edit and returns its changes.
func (s *step) commitEdit(e protocol.StoredContextEdit) []history.Change {
	e.SavedTokens = s.context.SavedBy(s.context.ChangesOf(&e))
	e.Revision = s.context.Revision() + 1
	s.record(protocol.LineContextEdit, e)
	s.out.Sync = true
	return s.lastChanges()
}

// lastChanges returns the changes of the edit that was applied last.
func (s *step) lastChanges() []history.Change { return s.context.LastEdit().Changes() }

// trimChange has the state before trim points change.
type trimChange struct {
	before  []history.TrimPoint
	session string // the one before
	ended   bool   // another one begins
	tookMs  *int64
}

// beginTrim precedes the lines of a change that can change trim points. endTrim follows them.
func (s *step) beginTrim() *trimChange {
	return &trimChange{before: s.context.TrimPoints(), session: s.sessionID()}
}

// endTrim records a new provider session if the prefix of the next request changes.
func (s *step) endTrim(c *trimChange, tookMs *int64) {
	c.tookMs = tookMs
	c.ended = sessionStartOf(c.before) != sessionStartOf(s.context.TrimPoints())
	if c.ended {
		s.record(protocol.LineProviderSession, protocol.ProviderSession{ID: s.NewID(), Bootstrap: s.bootstrap().Kind})
	}
}

// sessionStart is the prefix of a provider session, except for turns.
type sessionStart struct{ point, summary string }

func sessionStartOf(points []history.TrimPoint) (start sessionStart) {
	if n := len(points); n > 0 {
		start.point = points[n-1].ID
		protocol.Override(&start.summary, points[n-1].Summary)
	}
	return start
}

// notifyTrim notifies clients of the changes of trim points. It follows endTrim and the response.
func (s *step) notifyTrim(c *trimChange) {
	after := s.context.TrimPoints()
	for _, p := range c.before {
		if history.IndexOfPoint(after, p.ID) < 0 {
			s.notify(protocol.ThreadTrimPointRemovedNotification{ThreadID: s.state.ID, TrimPointID: p.ID})
		}
	}
	for _, p := range after {
		if history.IndexOfPoint(c.before, p.ID) < 0 {
			s.notify(protocol.ThreadTrimPointCreatedNotification{ThreadID: s.state.ID, TrimPoint: p.TrimPoint})
		}
	}
	if c.ended {
		s.notify(protocol.ThreadSessionStopRequestedNotification{ThreadID: s.state.ID, SessionID: c.session,
			CreatedAt: s.Now.Unix()})
		s.notify(protocol.ThreadSessionStartedNotification{ThreadID: s.state.ID, SessionID: s.sessionID(),
			Bootstrap: s.bootstrap()})
	}
	s.notifySummaries(c, after)
}

// notifySummaries notifies clients of new summaries.
func (s *step) notifySummaries(c *trimChange, after []history.TrimPoint) {
	for _, p := range after {
		var was string
		if i := history.IndexOfPoint(c.before, p.ID); i >= 0 {
			protocol.Override(&was, c.before[i].Summary)
		}
		var is string
		if protocol.Override(&is, p.Summary); is != was {
			s.notify(protocol.ThreadContextSummarizedNotification{ThreadID: s.state.ID, TrimPointID: p.ID, Summary: p.Summary,
				CompactDurationMs: c.tookMs})
		}
	}
}

// answerEdit answers a request that changed the context. The notifications of its trim points follow the response, and
// that of its items comes at the end of the step.
func (s *step) answerEdit(to protocol.Caller, response any, trims *trimChange, changes []history.Change) {
	s.reply(to, response)
	s.notifyTrim(trims)
	s.contextChanged(changes)
}

// sessionID returns the id of the provider session of the next request.
func (t *Thread) sessionID() string {
	switch {
	case t.state.Session != "":
		return t.state.Session
	case t.Spawned().ParentThreadID != nil:
		return t.SessionID()
	}
	return t.state.ID
}

// bootstrap returns the prefix of a provider session that begins now.
func (t *Thread) bootstrap() protocol.SessionBootstrap {
	b := protocol.SessionBootstrap{Kind: protocol.BootstrapNone, TurnIDs: orEmpty(t.context.ActiveTurns())}
	if len(b.TurnIDs) > 0 {
		b.Kind = protocol.BootstrapTurns
	}
	if p := t.context.LastTrimPoint(); p != nil && p.Summary != nil {
		b.Kind, b.Summary = protocol.BootstrapSummary, p.Summary
	}
	return b
}

// planTrim returns the trim point whose first kept item is at a place. With none it keeps no later item.
// Retained items and those in kept stay as well.
func (s *step) planTrim(place int, reason string, kept ...int) protocol.StoredTrimPoint {
	return s.state.PlanTrim(state.Trim{ID: s.NewID(), Reason: reason, Place: place, Kept: kept,
		ActiveTurn: s.ActiveTurn()})
}

// trimTo appends a trim that keeps the last n turns, or all turns if there are no more. client is the name of the
// client, or "".
func (s *step) trimTo(n int, reason, client string, summary *string) {
	p := s.trimPlan(n, reason, summary)
	p.ClientName = client
	s.record(protocol.LineTrimPoint, p)
	s.out.Sync = true
}

// trimPlan returns the trim that keeps the last n turns, or all turns if there are no more. A summary that
// is in the context is trimmed as well. It becomes the summary of the new trim point if nothing else
// is trimmed, or if no client asked for the trim.
func (s *step) trimPlan(n int, reason string, summary *string) protocol.StoredTrimPoint {
	var rules []string
	whole := n > 0 && n >= len(s.context.ActiveTurns())
	if summary == nil && (whole || reason == protocol.TrimHistoryLimit) {
		summary, rules = s.currentSummary()
	}
	var p protocol.StoredTrimPoint
	if whole {
		place, before := s.context.AfterSummaries()
		p = s.planTrim(place, reason, append(before, s.context.UnsentForms()...)...)
	} else {
		p = s.planTrim(s.context.LastTurns(n), reason)
	}
	p.Rules = rules
	if summary != nil {
		p.Summary = summary
		p.SavedTokens -= s.priceOf(*summary)
	}
	return p
}

// limitHistory trims the oldest turns if there are most turns already. A most of 0 is no limit. It
// trims a tenth more than necessary, so that not every turn trims.
func (s *step) limitHistory(most int) *trimChange {
	if most == 0 || len(s.context.ActiveTurns()) < most {
		return nil
	}
	c := s.beginTrim()
	s.trimTo(most-1-most/10, protocol.TrimHistoryLimit, "", nil)
	s.endTrim(c, nil)
	return c
}

// currentSummary returns the text of the last summary of a trim or a compaction in the context, or nil, and
// the rules that it keeps. It skips a pinned one, which stays anyway. Earlier ones are in the context if an
// edit brought them back.
func (t *Thread) currentSummary() (text *string, rules []string) {
	for i := range t.context.Shown() {
		if c := t.context.Item(i); c.IsTrimSummary() && c.Kept() && !c.Pinned() {
			text, rules = new(compaction.SummaryText(c.Sent())), t.context.RulesOf(c)
		}
	}
	return text, rules
}

// priceOf returns the cost of a summary.
func (t *Thread) priceOf(summary string) int64 {
	return t.context.Scaled(t.context.Count(history.SummaryHead + summary))
}
