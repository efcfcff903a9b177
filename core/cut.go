package core

import (
	"slices"
	"strings"

	"appserver/core/transcript"
	"appserver/protocol"
)

// trimAt returns the trim point whose first kept item is at a place. With none it keeps no later item.
// Retained items and those in kept stay as well.
func (s *step) trimAt(place int, reason string, kept ...int) protocol.StoredTrimPoint {
	p := protocol.StoredTrimPoint{ID: s.NewID(), Reason: reason, Boundary: s.next}
	for _, i := range slices.Compact(sorted(append(s.context.Retained(place), kept...))) {
		p.Kept = append(p.Kept, s.context.Item(i).ID())
	}
	turn := len(s.transcript.Turns())
	if last := s.transcript.Last(); last != nil && last.ID == s.ActiveTurn() { // it compacts
		turn--
		p.Boundary = max(s.transcript.BeginOf(turn), s.lastBoundary())
	}
	if place != none {
		p.KeepFrom = s.context.Item(place).ID()
		turn, p.Boundary = s.boundaryAt(place)
	}
	pruned := s.context.TrimmedTurns()
	p.PrunedTurnIDs = []string{}
	for _, t := range s.transcript.Turns()[:turn] {
		if !pruned[t.ID] {
			p.PrunedTurnIDs = append(p.PrunedTurnIDs, t.ID)
		}
	}
	p.BeforeEntryID, p.FirstKeptItemID = s.itemsAround(p.Boundary)
	messages := s.transcript.MessagesBefore(p.Boundary) - s.transcript.MessagesBefore(s.lastBoundary())
	p.PrunedMessageCount = max(messages-s.messagesAmong(p.Kept), 0)
	p.Revision = s.context.Revision() + 1
	p.SavedTokens = s.context.SavedBy(s.context.TrimChanges(&p))
	return p
}

// messagesAmong counts the messages of the user and the agent among the items that a trim keeps. It
// skips messages that an earlier trim kept.
func (s *step) messagesAmong(ids []string) (n int) {
	for _, id := range ids {
		place, _ := s.context.Find(id)
		c := s.context.Item(place)
		if c.Ordinal() < s.lastBoundary() || !c.IsMessage() {
			continue
		}
		switch s.context.Category(place) {
		case protocol.CategoryUserMessage, protocol.CategoryAssistantMessage:
			n++
		}
	}
	return n
}

// boundaryAt returns the trim boundary before an item: the turn that it trims to, and the ordinal of the
// first line after it.
func (l *log) boundaryAt(place int) (turn int, boundary int64) {
	c := l.context.Item(place)
	turn = l.turnNumber(c.TurnID())
	if turn < 0 || l.context.TrimmedTurns()[c.TurnID()] { // a summary, or an item that is kept before it
		return 0, l.lastBoundary()
	}
	start := l.transcript.BeginOf(turn)
	if !l.context.BeginsTurn(place) || start == none {
		return turn, c.Ordinal()
	}
	return turn, max(start, l.lastBoundary()) // an earlier trim may be within the turn
}

func (l *log) lastBoundary() int64 {
	if p := l.context.LastTrimPoint(); p != nil {
		return p.Position
	}
	return 0
}

// itemsAround returns the ids of the last thread item before a boundary and the first one after it.
func (l *log) itemsAround(boundary int64) (before, behind *string) {
	at := l.transcript.EventFrom(boundary)
	for i := at - 1; i >= 0 && before == nil; i-- {
		before = l.itemID(l.transcript.Events()[i])
	}
	for i := at; i < len(l.transcript.Events()) && behind == nil; i++ {
		behind = l.itemID(l.transcript.Events()[i])
	}
	return before, behind
}

// itemID returns the id of the thread item of an event, or nil for other events.
func (l *log) itemID(e transcript.Event) *string {
	if e.Item < 0 {
		return nil
	}
	return new(l.transcript.ItemAt(e).ID())
}

// withSummary returns the summary of a client, or nil if it is blank.
func withSummary(text *string) *string {
	if text == nil || strings.TrimSpace(*text) == "" {
		return nil
	}
	return text
}
