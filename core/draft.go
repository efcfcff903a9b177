package core

import (
	"cmp"
	"strings"

	"appserver/core/pure/compaction"
	"appserver/core/pure/history"
	"appserver/protocol"
)

// ProposeCompaction requests the draft of a compaction.
type ProposeCompaction struct {
	To  protocol.Caller
	Env TurnEnv
	// Strategy is one of protocol's Compact constants, or "" for the configured one.
	Strategy string
	// Range is the range to replace, or nil for the range that CompactContext would replace.
	Range *protocol.PruneRange
}

// CommitCompaction commits a draft. A Text that is not nil replaces the summary. Client is the name of
// the client, or "".
type CommitCompaction struct {
	To     protocol.Caller
	Client string
	Draft  string
	Text   *string
}

// CancelCompaction drops the draft.
type CancelCompaction struct{ To protocol.Caller }

func (in CancelCompaction) apply(s *step) {
	found := s.draft != nil
	s.discardDraft(protocol.Refuse(protocol.KindDraftCancelled, "the draft was cancelled"))
	s.reply(in.To, protocol.ThreadCompactCancelResponse{Cancelled: found})
}

func (in ProposeCompaction) apply(s *step) { s.proposeCompaction(in) }
func (in CommitCompaction) apply(s *step)  { s.commitDraft(in) }

func (s *step) proposeCompaction(in ProposeCompaction) {
	if s.rejectInTurn(in.To) {
		return
	}
	s.closeDanglingTurn()
	p, found, err := s.compactable().OfRange(&in.Env.Compaction, in.Range)
	switch {
	case err != nil:
		s.reject(in.To, err)
		return
	case !found:
		s.reject(in.To, protocol.Refuse(protocol.KindNothingToCompact, nothingToCompact))
		return
	}
	s.discardDraft(protocol.Refuse(protocol.KindDraftExpired, "another draft was asked for before this one was written"))
	rules := &in.Env.Compaction
	d := &draft{runningCompaction: s.newCompaction(rules, cmp.Or(in.Strategy, rules.Strategy), p),
		id: s.state.ID + ":" + s.NewID(), to: in.To, window: in.Env.Provider.ContextWindow}
	s.draft = d
	s.writeDraft(d)
}

// writeDraft makes the summary of the draft, or requests it from the model.
func (s *step) writeDraft(d *draft) {
	switch d.strategy {
	case protocol.CompactSummary:
		d.request = s.newEffect()
		s.sendSummaryRequest(d.runningCompaction, d.window, ModelRequest{ID: d.request})
	case protocol.CompactMask:
		s.showDraft("")
	default:
		d.text, d.strategy = d.summarize()
		s.showDraft("")
	}
}

// draftDone uses the model's summary for the draft, or makes one without the model.
func (s *step) draftDone(sent *protocol.StoredRequest, in ModelDone) {
	d := s.draft
	s.addUsage(in.Answer.Usage, history.Tokens{}, sent)
	s.out.Sync = true
	if in.Answer.Usage != nil {
		s.recordSize()
	}
	text, flaw := d.rules.Accept(&d.span, d.answer.String(), in.Answer.Cut)
	if flaw != "" {
		s.draftWithoutModel(flaw)
		return
	}
	d.text = text
	s.showDraft("")
}

func (s *step) draftWithoutModel(why string) {
	d := s.draft
	d.text, d.strategy = d.rules.Extract(&d.span), protocol.CompactLocal
	s.showDraft(summaryFailed(why))
}

// showDraft replies with the draft, unless the context has changed.
func (s *step) showDraft(warning string) {
	d := s.draft
	d.request, d.took = 0, s.Now.Sub(d.began)
	if s.expired(d) {
		s.draft = nil
		s.reject(d.to, errDraftExpired())
		return
	}
	s.auditDraft(d)
	s.reply(d.to, protocol.ThreadCompactProposeResponse{
		DraftID: d.id, Revision: d.revision, Strategy: d.strategy, Summary: d.text, Replaces: s.scope(d),
		TokensBefore: d.tokensBefore, TokensAfter: d.tokensBefore - s.draftSavings(d),
		Losses: d.audit.Lists(), LossDetails: d.audit.Losses, LossesOmitted: d.audit.Omitted,
		RulesAdded: d.audit.RulesAdded, Warning: protocol.OrNil(warning),
	})
}

// scope returns the items that the draft replaces.
func (s *step) scope(d *draft) protocol.CompactionScope {
	v := protocol.CompactionScope{ItemIDs: []string{}, TurnIDs: []string{}}
	places := d.span.Places
	if d.strategy == protocol.CompactMask {
		places = s.compactable().Maskable(d.plan)
	}
	seen := map[string]bool{"": true}
	for _, i := range places {
		c := s.context.Item(i)
		v.ItemIDs = append(v.ItemIDs, c.ID())
		if !seen[c.TurnID()] {
			seen[c.TurnID()] = true
			v.TurnIDs = append(v.TurnIDs, c.TurnID())
		}
		if c.IsMessage() && !c.IsSummary() {
			v.MessageCount++
		}
	}
	return v
}

// draftSavings returns by how many tokens the draft makes the next request smaller. The first trim point
// can add a tool.
func (s *step) draftSavings(d *draft) int64 {
	if d.strategy == protocol.CompactMask {
		line := s.maskLine(d.runningCompaction)
		return s.context.SavedBy(s.context.ChangesOf(&line))
	}
	return s.pointOf(d.runningCompaction, &d.audit).SavedTokens - s.addedByTrim()
}

// auditDraft holds the draft's summary against what it replaces, and adds the rules of the user that it lacks.
func (s *step) auditDraft(d *draft) {
	if d.strategy == protocol.CompactMask {
		context := s.compactable()
		d.audit = context.AuditMask(d.plan, context.Maskable(d.plan))
		return
	}
	d.audit = d.rules.Audit(&d.span, d.text)
	d.text = d.audit.Text
}

// expired reports whether the context has changed since the draft was made.
func (s *step) expired(d *draft) bool {
	return d.revision != s.context.Revision() || d.items != s.context.Len() || !s.isIdle()
}

func (s *step) commitDraft(in CommitCompaction) {
	if s.rejectInTurn(in.To) {
		return
	}
	d := s.draft
	if err := s.checkDraft(in); err != nil {
		s.reject(in.To, err)
		return
	}
	s.draft = nil
	d.client = in.Client
	if in.Text != nil {
		d.span.Removed = compaction.RemovedFrom(d.text, *in.Text)
		d.text = *in.Text
		s.auditDraft(d)
	}
	if d.strategy == protocol.CompactMask {
		changes := s.commitEdit(s.maskLine(d.runningCompaction))
		s.reply(in.To, s.committed(nil))
		s.recordSize()
		s.notifyCompacted(d.tokensBefore, d.strategy, &d.audit)
		s.contextChanged(changes)
		return
	}
	cut := s.writeCompaction(s.pointOf(d.runningCompaction, &d.audit), d.text, d.strategy, d.took)
	s.reply(in.To, s.committed(&s.context.LastTrimPoint().TrimPoint))
	s.recordSize()
	s.notifyCompacted(d.tokensBefore, d.strategy, &d.audit)
	s.notifyTrim(cut)
	s.contextChanged(s.lastChanges())
}

// checkDraft returns an error if the draft cannot be committed.
func (s *step) checkDraft(in CommitCompaction) *protocol.Error {
	switch d := s.draft; {
	case d == nil || d.id != in.Draft || d.waits() || s.expired(d):
		return errDraftExpired()
	case in.Text != nil && d.strategy == protocol.CompactMask:
		return protocol.InvalidParams("text", "this draft puts placeholders in the place of outputs: it has no text")
	case in.Text != nil && strings.TrimSpace(*in.Text) == "":
		return protocol.InvalidParams("text", "`text` must not be empty")
	}
	return nil
}

func (s *step) committed(point *protocol.TrimPoint) protocol.ThreadCompactCommitResponse {
	return protocol.ThreadCompactCommitResponse{Revision: s.context.Revision(), TrimPoint: point, SessionID: s.sessionID(),
		Usage: s.contextUsage()}
}
