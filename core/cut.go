package core

import (
	"cmp"
	"slices"
	"strings"

	"appserver/protocol"
)

// cutAt is a trim point whose first kept item is at a place; none keeps nothing. Some
// items before it are kept too.
func (s *step) cutAt(place int, reason string, kept ...int) protocol.StoredTrimPoint {
	p := protocol.StoredTrimPoint{ID: s.NewID(), Reason: reason, Boundary: s.next}
	for _, i := range slices.Compact(sorted(append(s.survivors(place), kept...))) {
		p.Kept = append(p.Kept, s.items[i].id())
	}
	turn := len(s.turns)
	if last := s.lastTurn(); last != nil && last.id == s.ActiveTurn() { // it compacts
		turn--
		p.Boundary = max(s.beginOf(turn), s.lastBoundary())
	}
	if place != none {
		p.KeepFrom = s.items[place].id()
		turn, p.Boundary = s.boundaryAt(place)
	}
	pruned := s.prunedTurns()
	p.PrunedTurnIDs = []string{}
	for _, t := range s.turns[:turn] {
		if !pruned[t.id] {
			p.PrunedTurnIDs = append(p.PrunedTurnIDs, t.id)
		}
	}
	p.BeforeEntryID, p.FirstKeptItemID = s.itemsAround(p.Boundary)
	p.PrunedMessageCount = max(s.messagesBefore(p.Boundary)-s.messagesBefore(s.lastBoundary())-s.messagesAmong(p.Kept), 0)
	p.Revision = s.revision + 1
	p.SavedTokens = s.savedBy(s.hiding(&p))
	return p
}

// messagesAmong counts the messages of the user and the agent among items that a cut keeps,
// but for those that an earlier one kept already.
func (s *step) messagesAmong(ids []string) (n int) {
	for _, id := range ids {
		place, _ := s.find(id)
		switch c := &s.items[place]; {
		case c.ordinal < s.lastBoundary() || !c.message:
		case s.describe(place).category == protocol.CategoryUserMessage, s.describe(place).category == protocol.CategoryAssistantMessage:
			n++
		}
	}
	return n
}

// boundaryAt is the boundary before an item: the turn that it cuts off, and the ordinal of
// the first line behind it.
func (l *log) boundaryAt(place int) (turn int, boundary int64) {
	c := &l.items[place]
	turn = l.turnNumber(c.turnID)
	if turn < 0 || l.prunedTurns()[c.turnID] { // a summary, or what is kept before it
		return 0, l.lastBoundary()
	}
	start := l.beginOf(turn)
	for i := range l.inOrder() {
		if i == place {
			break
		}
		if before := &l.items[i]; before.turnID == c.turnID && !before.fate.hidden && before.aside == 0 && before.tells == nothing {
			return turn, c.ordinal
		}
	}
	if start == none {
		return turn, c.ordinal
	}
	return turn, max(start, l.lastBoundary()) // a cut within the turn may have come before
}

func (l *log) lastBoundary() int64 {
	if p := l.lastPoint(); p != nil {
		return p.position
	}
	return 0
}

// prunedTurns are the turns before the latest trim point.
func (h *history) prunedTurns() map[string]bool {
	turns := map[string]bool{}
	for _, p := range h.trimPoints() {
		for _, id := range p.PrunedTurnIDs {
			turns[id] = true
		}
	}
	return turns
}

// survivors are the items before a place that stay when all before it goes: those that are
// pinned, with the other halves of their pairs, and what the model was told last of its
// surroundings.
func (l *log) survivors(place int) (places []int) {
	told := map[subject]int{}
	for i := range l.inOrder() {
		if c := &l.items[i]; c.listed() && c.aside == 0 && c.tells != nothing {
			told[c.tells] = i
		}
	}
	for _, i := range l.before(place) {
		c := &l.items[i]
		last, tells := told[c.tells]
		switch {
		case c.fate.hidden:
		case c.fate.pinned, c.pair != none && l.items[c.pair].fate.pinned, c.aside == 0 && tells && last == i:
			places = append(places, i)
		}
	}
	return places
}

// activeTurns are the turns behind the latest trim point that the context holds something
// of, oldest first.
func (l *log) activeTurns() (ids []string) {
	seen := l.prunedTurns()
	for i := range l.inOrder() {
		c := &l.items[i]
		if c.turnID == "" || !c.listed() || c.aside != 0 || c.tells != nothing || seen[c.turnID] {
			continue
		}
		seen[c.turnID] = true
		ids = append(ids, c.turnID)
	}
	return ids
}

// firstOf is the place of the first item of a turn that is not hidden, none where there is
// none. A reminder came with the turn, but stands before the conversation.
func (h *history) firstOf(turn string) int {
	for i := range h.inOrder() {
		if c := &h.items[i]; !c.fate.hidden && c.aside == 0 && c.turnID == turn && c.tells != theReminder {
			return i
		}
	}
	return none
}

// behindSummaries is the place of the first thing said behind the summaries that trim points
// put into the context, none where there is none; and all before it but these.
func (l *log) behindSummaries() (place int, before []int) {
	place = none
	var since []int
	for i := range l.inOrder() {
		switch c := &l.items[i]; {
		case c.fate.hidden:
		case c.ofPoint:
			before, since, place = append(before, since...), nil, none
		default:
			since = append(since, i)
			if place == none && c.aside == 0 && c.tells == nothing {
				place = i
			}
		}
	}
	if at := slices.Index(since, place); at >= 0 {
		since = since[:at]
	}
	return place, append(before, since...)
}

// lastTurns is the place from which the last n of the active turns begin, of which there
// are more; none where n is 0.
func (l *log) lastTurns(n int) int {
	if n == 0 {
		return none
	}
	turns := l.activeTurns()
	return l.firstOf(turns[len(turns)-n])
}

// itemsAround are the ids of the last thread item before a boundary and of the first one
// behind it.
func (l *log) itemsAround(boundary int64) (before, behind *string) {
	at := l.momentFrom(boundary)
	for i := at - 1; i >= 0 && before == nil; i-- {
		before = l.itemID(l.moments[i])
	}
	for i := at; i < len(l.moments) && behind == nil; i++ {
		behind = l.itemID(l.moments[i])
	}
	return before, behind
}

// itemID is the id of the item of a moment, nil for other moments.
func (l *log) itemID(m moment) *string {
	if m.item < 0 {
		return nil
	}
	return new(l.turns[m.turn].items[m.item].id())
}

// id is the item's; that of one which stays undecoded is as its line has it.
func (r *itemRecord) id() string {
	switch {
	case r.number != none:
		return itemName(r.number)
	case r.item.ThreadItemVariant != nil:
		return r.item.ItemID()
	}
	raw, _ := r.Payload()
	return cmp.Or(legacyID(raw), peek(raw, "item.id"))
}

// withSummary is the summary that a client gives, nil for a blank one.
func withSummary(text *string) *string {
	if text == nil || strings.TrimSpace(*text) == "" {
		return nil
	}
	return text
}
