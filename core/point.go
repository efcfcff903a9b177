package core

import (
	"encoding/json"
	"slices"

	"appserver/core/lineref"
	"appserver/protocol"
)

// summaryHead introduces a summary to the model.
const summaryHead = "Summary of the earlier conversation, which is not in the context any more:\n\n"

// trimPoint is a trim point in force. Position is the ordinal of the first line behind it.
type trimPoint struct {
	protocol.TrimPoint
	position int64
}

// trimPoints are those in force, oldest first.
func (h *history) trimPoints() []trimPoint {
	points, _ := h.foldPoints()
	return points
}

// foldPoints are the trim points in force, and how many of them a restore leaves now: it
// takes back the trims since the last compaction.
func (h *history) foldPoints() (points []trimPoint, lasting int) {
	points = []trimPoint{}
	for i := range h.journal {
		e := &h.journal[i]
		switch {
		case e.Undone:
			continue
		case e.point != nil:
			points = append(points, e.trimPoint())
		case e.Op == protocol.EditRestore:
			points = slices.DeleteFunc(points, func(p trimPoint) bool { return slices.Contains(e.voided, p.ID) })
		case e.Op == protocol.EditSummarize:
			summarized(points, e)
		}
		if e.Op == protocol.EditCompact {
			lasting = len(points)
		}
	}
	return points, lasting
}

func (e *edit) trimPoint() trimPoint {
	p := e.point
	return trimPoint{protocol.TrimPoint{
		ID: p.ID, CreatedAt: max(e.At/1000, 0), BeforeEntryID: p.BeforeEntryID, FirstKeptItemID: p.FirstKeptItemID,
		PrunedMessageCount: p.PrunedMessageCount, PrunedTurnIDs: orEmpty(p.PrunedTurnIDs), Summary: p.Summary, Reason: p.Reason,
	}, p.Boundary}
}

func summarized(points []trimPoint, e *edit) {
	for i := range points {
		if points[i].ID == e.of {
			points[i].Summary = &e.text
		}
	}
}

// lastPoint is the latest trim point in force, nil without one.
func (h *history) lastPoint() *trimPoint {
	points := h.trimPoints()
	if len(points) == 0 {
		return nil
	}
	return &points[len(points)-1]
}

// restorable are the ids of the trim points that a restore takes back.
func (h *history) restorable() (ids []string) {
	points, lasting := h.foldPoints()
	for _, p := range points[lasting:] {
		ids = append(ids, p.ID)
	}
	return ids
}

// trims are the edits that belong to the trims which a restore takes back.
func (h *history) trims() []*edit {
	voided := h.restorable()
	var edits []*edit
	for i := range h.journal {
		e := &h.journal[i]
		if !e.Undone && (e.point != nil && slices.Contains(voided, e.point.ID) || e.of != "" && slices.Contains(voided, e.of)) {
			edits = append(edits, e)
		}
	}
	return edits
}

// applyTrimPoint takes a trim_point line.
func (l *log) applyTrimPoint(ordinal int64, line *protocol.RolloutLine) {
	var p protocol.StoredTrimPoint
	if protocol.Unmarshal(line.Payload, &p) == nil {
		l.cut(edit{ordinal: ordinal, point: &p, ContextEdit: protocol.ContextEdit{Op: protocol.EditTrim}}, line)
	}
}

// cut makes an edit that has a trim point.
func (l *log) cut(e edit, line *protocol.RolloutLine) {
	e.At, e.SavedTokens = parseTime(line.Timestamp).UnixMilli(), e.point.SavedTokens
	e.point.Boundary = min(max(e.point.Boundary, 0), e.ordinal)
	e.point.PrunedMessageCount = max(e.point.PrunedMessageCount, 0)
	e.changes = l.hiding(e.point)
	e.Count = len(e.changes)
	l.put(e.changes) // before the summary joins
	if e.point.Summary != nil {
		e.changes = append(e.changes, l.joinSummary(e.ordinal, *e.point.Summary, l.behind(&e)))
	}
	l.revise(e.point.Revision)
	l.enter(e)
	l.hiddenAnew(&e)
}

// keptFrom is the place of the first item that a trim point keeps, none where it keeps
// none. Where that item's line is lost, it is the next.
func (h *history) keptFrom(p *protocol.StoredTrimPoint) int {
	if p.KeepFrom == "" {
		return none
	}
	place, _ := h.find(p.KeepFrom)
	if place >= len(h.items) {
		return none
	}
	return place
}

// behind is the place of the first item behind the trim point of an edit: one that it
// kept, or the first that joined after it. None where there is none yet.
func (h *history) behind(e *edit) int {
	if kept := h.keptFrom(e.point); kept != none {
		return kept
	}
	place, _ := h.search(e.ordinal+1, none)
	if place == len(h.items) {
		return none
	}
	return place
}

// hiding is what a trim point changes.
func (h *history) hiding(p *protocol.StoredTrimPoint) (changes []change) {
	kept := map[int]bool{}
	for _, id := range p.Kept {
		if place, found := h.find(id); found {
			kept[place] = true
		}
	}
	from := h.keptFrom(p)
	for place := range h.inOrder() {
		if place == from {
			break
		}
		if before := h.items[place].fate; !before.hidden && !kept[place] {
			after := before
			after.hidden = true
			changes = append(changes, change{int32(place), before, after})
		}
	}
	return append(changes, h.hidingSealed(from, kept)...)
}

// joinSummary puts a summary before a place, or at the end where that is none. It belongs
// to no turn.
func (l *log) joinSummary(ordinal int64, text string, before int) change {
	item := protocol.ResponseItem{ResponseItemVariant: userText(summaryHead + text)}
	raw, err := protocol.Marshal(item)
	if err != nil {
		raw = json.RawMessage(`{}`)
	}
	l.join(contextItem{ordinal: ordinal, Ref: lineref.Ref{Raw: raw}, summary: true, ofPoint: true})
	place := len(l.items) - 1
	if before != none {
		l.moveBefore(before)
	}
	return change{int32(place), fate{hidden: true}, fate{}}
}

// summarize gives a trim point another summary. The model is told that of the latest
// point only.
func (l *log) summarize(ordinal int64, line *protocol.RolloutLine, stored *protocol.StoredContextEdit) {
	points := l.trimPoints()
	if indexOfPoint(points, stored.Of) < 0 || stored.Text == nil {
		return
	}
	e := edit{ordinal: ordinal, of: stored.Of, text: *stored.Text, ContextEdit: protocol.ContextEdit{
		Op: protocol.EditSummarize, At: parseTime(line.Timestamp).UnixMilli(), SavedTokens: stored.SavedTokens}}
	if cut := l.lastCut(); cut.isOf(stored.Of) {
		e.changes = l.summaryOf(stored.Of)
		l.put(e.changes)
		e.changes = append(e.changes, l.joinSummary(ordinal, e.text, l.behind(cut)))
	}
	e.Count = len(e.changes)
	l.enter(e)
	l.hiddenAnew(&e)
}

// lastCut is the last trim or compaction in force, nil without one.
func (h *history) lastCut() *edit {
	points := h.trimPoints()
	for i := len(h.journal) - 1; i >= 0; i-- {
		e := &h.journal[i]
		compacts := e.Op == protocol.EditCompact && !e.Undone
		if compacts || e.point != nil && indexOfPoint(points, e.point.ID) >= 0 {
			return e
		}
	}
	return nil
}

// isOf tells whether the edit made the trim point.
func (e *edit) isOf(id string) bool { return e != nil && e.point != nil && e.point.ID == id }

// summaryOf is what takes the summary of a trim point out, as far as it is in.
func (h *history) summaryOf(id string) (changes []change) {
	for i := range h.journal {
		e := &h.journal[i]
		if e.Undone || e.of != id && (e.point == nil || e.point.ID != id) {
			continue
		}
		for _, c := range e.changes {
			before := h.items[c.place].fate
			if c.before.hidden && !c.after.hidden && !before.hidden {
				after := before
				after.hidden = true
				changes = append(changes, change{c.place, before, after})
			}
		}
	}
	return changes
}
