package history

import (
	"encoding/json"
	"slices"

	"appserver/core/pure/lineref"
	"appserver/protocol"
)

// SummaryHead begins a summary in the prompt.
const SummaryHead = "Summary of the earlier conversation, which is not in the context any more:\n\n"

// TrimPoint is a trim point in force.
type TrimPoint struct {
	protocol.TrimPoint
	// Position is the ordinal of the first line after it.
	Position int64
}

// TrimPoints returns the trim points in force, oldest first. It never returns nil.
func (h *History) TrimPoints() []TrimPoint {
	points, _ := h.foldPoints()
	return points
}

// LastTrimPoint returns the latest trim point in force, or nil.
func (h *History) LastTrimPoint() *TrimPoint {
	points := h.TrimPoints()
	if len(points) == 0 {
		return nil
	}
	return &points[len(points)-1]
}

// RulesOf returns the rules of the user that a summary keeps, by the record of its trim point, or nil.
func (h *History) RulesOf(summary *Item) []string {
	for i := range h.journal {
		if e := &h.journal[i]; e.point != nil && e.ordinal == summary.ordinal {
			return e.point.Rules
		}
	}
	return nil
}

// IndexOfPoint returns the index of the trim point with an id, or -1.
func IndexOfPoint(points []TrimPoint, id string) int {
	return slices.IndexFunc(points, func(p TrimPoint) bool { return p.ID == id })
}

// foldPoints returns the trim points in force, and how many of them a restore does not take back: it
// takes back the trims since the last compaction.
func (h *History) foldPoints() (points []TrimPoint, lasting int) {
	points = []TrimPoint{}
	for i := range h.journal {
		e := &h.journal[i]
		switch {
		case e.Undone:
			continue
		case e.point != nil:
			points = append(points, e.trimPoint())
		case e.Op == protocol.EditRestore:
			points = slices.DeleteFunc(points, func(p TrimPoint) bool { return slices.Contains(e.voided, p.ID) })
		case e.Op == protocol.EditSummarize:
			if at := IndexOfPoint(points, e.of); at >= 0 {
				points[at].Summary = &e.text
			}
		}
		if e.Op == protocol.EditCompact {
			lasting = len(points)
		}
	}
	return points, lasting
}

func (e *Edit) trimPoint() TrimPoint {
	p := e.point
	pruned := p.PrunedTurnIDs
	if pruned == nil {
		pruned = []string{}
	}
	return TrimPoint{protocol.TrimPoint{
		ID: p.ID, CreatedAt: max(e.At/1000, 0), BeforeEntryID: p.BeforeEntryID, FirstKeptItemID: p.FirstKeptItemID,
		PrunedMessageCount: p.PrunedMessageCount, PrunedTurnIDs: pruned, Summary: p.Summary, Reason: p.Reason,
	}, p.Boundary}
}

// ApplyTrimPoint applies a trim_point line.
func (h *History) ApplyTrimPoint(line *Line) {
	var p protocol.StoredTrimPoint
	if protocol.Unmarshal(line.Payload, &p) == nil {
		h.addTrim(Edit{point: &p, ContextEdit: protocol.ContextEdit{Op: protocol.EditTrim}}, line)
	}
}

// addTrim adds an edit that has a trim point.
func (h *History) addTrim(e Edit, line *Line) {
	e.ordinal, e.At, e.SavedTokens = line.Ordinal, line.at(), e.point.SavedTokens
	e.ClientName = e.point.ClientName
	e.point.Boundary = min(max(e.point.Boundary, 0), e.ordinal)
	e.point.PrunedMessageCount = max(e.point.PrunedMessageCount, 0)
	e.changes = h.TrimChanges(e.point)
	e.Count = len(e.changes)
	h.applyChanges(e.changes) // before the summary joins
	if e.point.Summary != nil {
		e.changes = append(e.changes, h.joinSummary(e.ordinal, *e.point.Summary, h.firstAfter(&e)))
	}
	h.countRevision(e.point.Revision)
	h.addEdit(e)
	h.refresh(&e)
}

// TrimChanges returns the changes of a trim point.
func (h *History) TrimChanges(p *protocol.StoredTrimPoint) (changes []Change) {
	kept := map[int]bool{}
	for _, id := range p.Kept {
		if place, found := h.Find(id); found {
			kept[place] = true
		}
	}
	from := h.firstKept(p)
	for _, place := range h.Before(from) {
		if !kept[place] {
			changes = append(changes, h.hide(int32(place)))
		}
	}
	return append(changes, h.encryptedAfter(from, kept)...)
}

// firstKept returns the place of the first item that a trim point keeps, or None if it keeps none. If
// the line of that item is missing, it is the next item.
func (h *History) firstKept(p *protocol.StoredTrimPoint) int {
	if p.KeepFrom == "" {
		return None
	}
	place, _ := h.Find(p.KeepFrom)
	if place >= h.items.Len() {
		return None
	}
	return place
}

// firstAfter returns the place of the first item after the trim point of an edit: one that it kept,
// or the first that joined later, or None.
func (h *History) firstAfter(e *Edit) int {
	if kept := h.firstKept(e.point); kept != None {
		return kept
	}
	place := h.FindOrdinal(e.ordinal + 1)
	if place == h.items.Len() {
		return None
	}
	return place
}

// joinSummary adds a summary before a place, or at the end if that is None. A summary belongs to no
// turn.
func (h *History) joinSummary(ordinal int64, text string, before int) Change {
	raw, err := protocol.Marshal(protocol.ResponseItem{ResponseItemVariant: UserMessage(SummaryHead + text)})
	if err != nil {
		raw = json.RawMessage(`{}`)
	}
	h.join(Item{ordinal: ordinal, Ref: lineref.Ref{Raw: raw}, summary: true, ofPoint: true})
	place := int32(h.items.Len() - 1)
	if before != None {
		h.move(place, int32(before))
	}
	return Change{place, visibility{hidden: true}, visibility{}}
}

// summarize replaces the summary of a trim point. The prompt has the summary of the latest point only.
func (h *History) summarize(line *Line, stored *protocol.StoredContextEdit) {
	if IndexOfPoint(h.TrimPoints(), stored.Of) < 0 || stored.Text == nil {
		return
	}
	e := Edit{ordinal: line.Ordinal, of: stored.Of, text: *stored.Text, ContextEdit: protocol.ContextEdit{
		Op: protocol.EditSummarize, At: line.at(), SavedTokens: stored.SavedTokens, ClientName: stored.ClientName}}
	if trim := h.LastTrim(); trim.makesPoint(stored.Of) {
		e.changes = h.summaryChanges(stored.Of)
		h.applyChanges(e.changes)
		e.changes = append(e.changes, h.joinSummary(line.Ordinal, e.text, h.firstAfter(trim)))
	}
	e.Count = len(e.changes)
	h.addEdit(e)
	h.refresh(&e)
}

// SavedBySummarizing returns the number of tokens that the next request loses if the summary of a
// trim point is taken out of it: 0 if it is not in the prompt.
func (h *History) SavedBySummarizing(id string) (tokens int64, inPrompt bool) {
	if !h.LastTrim().makesPoint(id) {
		return 0, false
	}
	return h.SavedBy(h.summaryChanges(id)), true
}

// LastTrim returns the last trim or compaction in force, or nil.
func (h *History) LastTrim() *Edit {
	points := h.TrimPoints()
	for i := len(h.journal) - 1; i >= 0; i-- {
		e := &h.journal[i]
		compacts := e.Op == protocol.EditCompact && !e.Undone
		if compacts || e.point != nil && IndexOfPoint(points, e.point.ID) >= 0 {
			return e
		}
	}
	return nil
}

// summaryChanges returns the changes that take the summary of a trim point out.
func (h *History) summaryChanges(id string) (changes []Change) {
	for i := range h.journal {
		e := &h.journal[i]
		if e.Undone || e.of != id && !e.makesPoint(id) {
			continue
		}
		for _, c := range e.Changes() {
			if c.before.hidden && !c.after.hidden && !h.at(c.place).visibility.hidden {
				changes = append(changes, h.hide(c.place))
			}
		}
	}
	return changes
}

// RestoresPoints reports whether a restore takes back trim points.
func (h *History) RestoresPoints() bool { return len(h.restorable()) > 0 }

// restorable returns the ids of the trim points that a restore takes back.
func (h *History) restorable() (ids []string) {
	points, lasting := h.foldPoints()
	for _, p := range points[lasting:] {
		ids = append(ids, p.ID)
	}
	return ids
}

// restorableTrims returns the edits of the trim points that a restore takes back.
func (h *History) restorableTrims() []*Edit {
	voided := h.restorable()
	var edits []*Edit
	for i := range h.journal {
		e := &h.journal[i]
		made := e.point != nil && slices.Contains(voided, e.point.ID)
		if !e.Undone && (made || e.of != "" && slices.Contains(voided, e.of)) {
			edits = append(edits, e)
		}
	}
	return edits
}
