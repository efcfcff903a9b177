package core_test

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/protocol"
)

// This file is the part of the model that knows trim points.

// modelPoint is a trim point: its edit is at a place of the journal.
type modelPoint struct {
	edit   int
	id     string
	reason string
}

// inOrder returns the places of the items as they are sent.
func (m *contextModel) inOrder() []int { return m.order }

// cut takes out what comes before the first kept item, and puts a summary there.
func (m *contextModel) cut(op, id string, p *protocol.StoredTrimPoint, summary *string) {
	before, from := m.fates(), m.keptFrom(p)
	for _, place := range m.order {
		if place == from {
			break
		}
		if !slices.Contains(p.Kept, m.items[place].id) {
			m.items[place].hidden = true
		}
	}
	for _, place := range m.sealedBehind(from, p.Kept) {
		m.items[place].hidden = true
	}
	if summary != nil {
		before = append(before, m.joinSummary(id+".0", *summary, from))
	}
	m.revision = max(m.revision+1, p.Revision)
	m.enter(op, before, nil)
	m.journal[len(m.journal)-1].point, m.journal[len(m.journal)-1].reason = p.ID, p.Reason
	m.journal[len(m.journal)-1].keepFrom = from
	m.pairAgain()
}

// sealedBehind returns the places of the items of encrypted compactions behind an item.
func (m *contextModel) sealedBehind(from int, kept []string) (places []int) {
	for place, i := range m.items {
		if from >= 0 && i.ordinal > m.items[from].ordinal && m.isAside(i) && !slices.Contains(kept, i.id) {
			places = append(places, place)
		}
	}
	return places
}

// keptFrom returns the place of the first kept item, or of the next one if it is lost.
func (m *contextModel) keptFrom(p *protocol.StoredTrimPoint) int {
	if p.KeepFrom == "" {
		return -1
	}
	return m.place(p.KeepFrom)
}

// behind returns the place of the first item behind a trim point.
func (m *contextModel) behind(e *modelEdit) int {
	if e.keepFrom >= 0 {
		return e.keepFrom
	}
	return slices.IndexFunc(m.items, func(i modelItem) bool { return i.ordinal > e.line })
}

func (m *contextModel) joinSummary(id, text string, from int) modelVisibility {
	m.join(id, json.RawMessage(encode(protocol.ResponseItem{ResponseItemVariant: &protocol.Message{Role: protocol.RoleUser,
		Content: []protocol.ContentItem{{Type: protocol.ContentInputText, Text: summaryHead + text}}}})))
	if from >= 0 {
		last := m.order[len(m.order)-1]
		m.order = slices.Insert(m.order[:len(m.order)-1], slices.Index(m.order, from), last)
	}
	return modelVisibility{hidden: true}
}

const summaryHead = "Summary of the earlier conversation, which is not in the context any more:\n\n"

// points returns the trim points in force, oldest first. A restore leaves the lasting ones.
func (m *contextModel) points() (points []modelPoint, lasting int) {
	for i, e := range m.journal {
		if e.op == protocol.EditCompact && !e.undone {
			lasting = len(points)
			if e.point != "" {
				lasting++
			}
		}
		switch {
		case e.undone:
		case e.point != "" && e.op != protocol.EditSummarize:
			points = append(points, modelPoint{i, e.point, e.reason})
		case e.op == protocol.EditRestore:
			points = slices.DeleteFunc(points, func(p modelPoint) bool { return slices.Contains(e.voided, p.edit) })
		}
	}
	return points, lasting
}

// summarize gives a trim point another summary. The model receives the summary of the last point.
func (m *contextModel) summarize(id string, e *protocol.StoredContextEdit) {
	points, _ := m.points()
	at := slices.IndexFunc(points, func(p modelPoint) bool { return p.id == e.Of })
	if at < 0 || e.Text == nil {
		return
	}
	before := m.fates()
	if m.isLastCut(points[at].edit) {
		for i := range m.items {
			if m.isSummaryOf(i, e.Of) {
				m.items[i].hidden = true
			}
		}
		before = append(before, m.joinSummary(id+".0", *e.Text, m.behind(&m.journal[points[at].edit])))
	}
	m.enter(e.Op, before, nil)
	m.journal[len(m.journal)-1].point = e.Of
	m.pairAgain()
}

// isLastCut reports whether no trim followed the edit.
func (m *contextModel) isLastCut(edit int) bool {
	points, _ := m.points()
	return points[len(points)-1].edit == edit &&
		!slices.ContainsFunc(m.journal[edit+1:], func(e modelEdit) bool { return e.op == protocol.EditCompact && !e.undone })
}

// isSummaryOf reports whether the item is a summary of a trim point.
func (m *contextModel) isSummaryOf(place int, point string) bool {
	line, part, inside := strings.Cut(m.items[place].id, ".")
	return inside && part == "0" && slices.ContainsFunc(m.journal, func(e modelEdit) bool {
		return e.point == point && line == lineID(e.line) && !e.undone
	})
}

// unTrim brings back what was in the context before one of the trims since the last
// compaction, and takes out their summaries.
func (m *contextModel) unTrim() {
	points, kept := m.points()
	if kept == len(points) {
		return
	}
	shown := func(i int) bool {
		return slices.ContainsFunc(points[kept:], func(p modelPoint) bool {
			was := m.journal[p.edit].before
			return i < len(was) && !was[i].hidden
		})
	}
	for i := range m.items {
		gone := slices.ContainsFunc(points[kept:], func(p modelPoint) bool { return m.isSummaryOf(i, p.id) })
		switch {
		case gone && !m.items[i].hidden:
			m.items[i].modelVisibility = modelVisibility{hidden: true}
		case shown(i) && m.items[i].hidden && !gone:
			m.items[i].modelVisibility = m.items[i].restored()
		}
	}
}

// cuts reports whether a line creates a trim point.
func cuts(line protocol.RolloutLine) bool {
	return line.Type == protocol.LineTrimPoint || line.Type == protocol.LineCompacted ||
		gjson.GetBytes(line.Payload, "type").Str == protocol.EventRolledBack
}

// trusted reports whether the model takes over an edit from its line.
func trusted(in core.Input, line protocol.RolloutLine) bool {
	_, moves := in.(core.GotoContext)
	_, undoes := in.(core.UndoRevert)
	moves = moves || undoes
	return masks(line) || economizes(line) || recalls(in, line) || applies(line) ||
		moves && line.Type == protocol.LineContextEdit
}

// applies reports whether a line has several edits. TestAppliedEditsEqualSingleOnes checks them.
func applies(line protocol.RolloutLine) bool {
	return line.Type == protocol.LineContextEdit && gjson.GetBytes(line.Payload, "op").Str == protocol.EditApply
}

// economizes reports whether a line is an edit that saves tokens.
func economizes(line protocol.RolloutLine) bool {
	return line.Type == protocol.LineContextEdit && gjson.GetBytes(line.Payload, "economy").Exists()
}

// masks reports whether a line is a compaction's edit of old outputs.
func masks(line protocol.RolloutLine) bool {
	return line.Type == protocol.LineContextEdit && gjson.GetBytes(line.Payload, "op").Str == protocol.EditMask
}

// recalls reports whether a line is the edit of the recall tool, which includes items again.
func recalls(in core.Input, line protocol.RolloutLine) bool {
	return !isEdit(in) && line.Type == protocol.LineContextEdit &&
		gjson.GetBytes(line.Payload, "op").Str == protocol.EditInclude
}

// expectSummary adds the effect of a summary's line to the expectation.
func (w *contextChecker) expectSummary(out core.Output, e *expectation) {
	for i := range out.Lines {
		if line := &out.Lines[i]; line.Type == protocol.LineContextEdit {
			e.lines = true
			e.make = func() { w.model.readEdit(line.Payload) }
		}
	}
}

// checkCut checks that a trim keeps exactly the last turns, pinned items, and the last description of
// the environment, in order.
func (w *contextChecker) checkCut(in core.Input, out core.Output, was []protocol.ContextItem, pruned map[string]bool,
	now []protocol.ContextItem) {
	trim, ok := in.(core.TrimContext)
	if !ok || len(out.Lines) == 0 || out.Lines[0].Type != protocol.LineTrimPoint {
		return // refused, or the end of a turn that was cut off came first
	}
	turns, told := []string{}, map[protocol.ContextCategory]string{}
	for _, i := range was {
		if w.aside[i.ID] {
			continue
		} else if w.describesEnvironment(i) {
			told[i.Category] = i.ID
		} else if i.TurnID != nil && !pruned[*i.TurnID] && !slices.Contains(turns, *i.TurnID) {
			turns = append(turns, *i.TurnID)
		}
	}
	kept := turns[max(0, len(turns)-int(trim.KeepLast)):]
	whole := trim.KeepLast > 0 && len(kept) == len(turns)
	var want, got []string
	for _, i := range was {
		stays := i.TurnID != nil && slices.Contains(kept, *i.TurnID) && !pruned[*i.TurnID]
		if whole && !w.isOwnSummary(i) || w.staysPinned(i) || !w.aside[i.ID] && (stays || told[i.Category] == i.ID) {
			want = append(want, i.ID)
		}
	}
	for _, i := range now {
		if i.Category != protocol.CategorySummary ||
			slices.ContainsFunc(was, func(w protocol.ContextItem) bool { return w.ID == i.ID }) {
			got = append(got, i.ID)
		}
	}
	want, wantReminders := w.splitReminders(want)
	got, gotReminders := w.splitReminders(got)
	if !slices.Equal(want, got) || !slices.Equal(wantReminders, gotReminders) {
		w.report("a trim to %d of the turns %v leaves %v, not %v: %s", trim.KeepLast, turns, got, want, encode(was))
	}
}

// describesEnvironment reports whether the item describes the environment. A similar text of the user has an id, and
// a skill belongs to the words that named it.
func (w *contextChecker) describesEnvironment(i protocol.ContextItem) bool {
	body := w.model.items[w.model.place(i.ID)].body
	typed := gjson.Get(body, "id").Exists() || strings.HasPrefix(gjson.Get(body, "content.0.text").Str, core.SkillTag)
	text := gjson.Get(body, "content.0.text").Str
	informs := strings.HasPrefix(text, reminderHead) || i.Category == protocol.CategoryDeveloperMessage &&
		(strings.Contains(text, protocol.ModeTag) || strings.Contains(text, protocol.SkillsTag))
	return informs || !typed && (i.Category == protocol.CategoryEnvironmentContext ||
		i.Category == protocol.CategoryUserInstructions)
}

// splitReminders separates reminders from other items. The place of a reminder depends on the items that are
// kept, so a trim can move it.
func (w *contextChecker) splitReminders(ids []string) (others, reminders []string) {
	for _, id := range ids {
		body := w.model.items[w.model.place(id)].body
		if strings.HasPrefix(gjson.Get(body, "content.0.text").Str, reminderHead) {
			reminders = append(reminders, id)
		} else {
			others = append(others, id)
		}
	}
	return others, reminders
}

// isOwnSummary reports whether the item is the summary of a trim point.
func (w *contextChecker) isOwnSummary(i protocol.ContextItem) bool {
	text := gjson.Get(w.model.items[w.model.place(i.ID)].body, "content.0.text").Str
	return i.Category == protocol.CategorySummary && i.TurnID == nil && strings.HasPrefix(text, summaryHead)
}

// staysPinned reports whether the item, or the other half of its pair, is pinned.
func (w *contextChecker) staysPinned(i protocol.ContextItem) bool {
	item := w.model.items[w.model.place(i.ID)]
	for _, pair := range []int{item.call, item.output} {
		if pair >= 0 && w.model.items[pair].pinned {
			return true
		}
	}
	return item.pinned
}

// prunedTurns returns the turns that trim points took out.
func prunedTurns(t *core.Thread) map[string]bool {
	turns := map[string]bool{}
	for _, p := range t.View(false).ContextTrimPoints {
		for _, id := range p.PrunedTurnIDs {
			turns[id] = true
		}
	}
	return turns
}

// checkWindow checks that no request is longer than the window of its turn.
func (w *contextChecker) checkWindow(m *machine) {
	if window := m.thread.Window(); window != nil && m.thread.PromptTokens() > *window {
		w.report("a request of %d tokens is made, the window holds %d", m.thread.PromptTokens(), *window)
	}
}

// checkCompaction checks that a compaction keeps the last items and, of those before, the user's own,
// pinned items, and the description of the environment.
func (w *contextChecker) checkCompaction(out core.Output, was, now []protocol.ContextItem) {
	if len(out.Lines) == 0 ||
		!slices.ContainsFunc(out.Lines, func(l protocol.RolloutLine) bool { return l.Type == protocol.LineCompacted }) {
		return
	}
	summary := slices.IndexFunc(now, func(i protocol.ContextItem) bool {
		return i.Category == protocol.CategorySummary &&
			!slices.ContainsFunc(was, func(w protocol.ContextItem) bool { return w.ID == i.ID })
	})
	if summary < 0 {
		w.report("a compaction leaves no summary")
		return
	}
	for _, i := range now[:summary] {
		if i.Category != protocol.CategoryUserMessage && !w.staysPinned(i) && !w.describesEnvironment(i) &&
			!editedIn(out, i.ID) {
			w.report("a compaction leaves %s %q before its summary", i.Category, i.Preview)
		}
	}
	for _, i := range was {
		stays := slices.ContainsFunc(now, func(n protocol.ContextItem) bool { return n.ID == i.ID })
		if w.staysPinned(i) && !stays && !editedIn(out, i.ID) {
			w.report("a compaction takes out %s, which is pinned", i.ID)
		}
	}
}

// checkDraft stores a draft, and checks its commit against it.
func (w *contextChecker) checkDraft(in core.Input, out core.Output) {
	commit, _ := in.(core.CommitCompaction)
	for _, message := range out.Messages {
		reply, _ := message.(core.Reply)
		switch result := reply.Result.(type) {
		case protocol.ThreadCompactProposeResponse:
			w.draft = result
		case protocol.ThreadCompactCommitResponse:
			if w.draft.DraftID != commit.Draft {
				w.report("draft %s is made, but %s was the last one", commit.Draft, w.draft.DraftID)
			}
			if commit.Text == nil && result.Usage.PromptTokens != w.draft.TokensAfter {
				w.report("a draft of %d tokens comes to %d", w.draft.TokensAfter, result.Usage.PromptTokens)
			}
			for _, i := range w.list {
				if i.Included && slices.Contains(w.draft.Replaces.ItemIDs, i.ID) {
					w.report("%s, which the draft replaces, is in the context", i.ID)
				}
			}
		}
	}
}
