package state

import (
	"slices"

	"appserver/core/pure/transcript"
	"appserver/protocol"
)

// Trim describes a trim point to plan.
type Trim struct {
	// ID is the id of the new trim point, and Reason one of the Trim constants of package protocol.
	ID, Reason string
	// Place is the place of the first item to keep, or -1 to keep no later item.
	Place int
	// Kept are the places of items to keep beside the retained ones.
	Kept []int
	// ActiveTurn is the id of the turn that compacts, or "".
	ActiveTurn string
}

// PlanTrim returns the line of a trim point.
func (s *State) PlanTrim(t Trim) protocol.StoredTrimPoint {
	p := protocol.StoredTrimPoint{ID: t.ID, Reason: t.Reason, Boundary: s.Next}
	kept := slices.Sorted(slices.Values(append(s.Context.Retained(t.Place), t.Kept...)))
	for _, i := range slices.Compact(kept) {
		p.Kept = append(p.Kept, s.Context.Item(i).ID())
	}
	turn := s.Transcript.TurnCount()
	if last := s.Transcript.Last(); last != nil && last.ID == t.ActiveTurn {
		turn--
		p.Boundary = max(s.Transcript.BeginOf(turn), s.lastBoundary())
	}
	if t.Place >= 0 {
		p.KeepFrom = s.Context.Item(t.Place).ID()
		turn, p.Boundary = s.boundaryAt(t.Place)
	}
	pruned := s.Context.TrimmedTurns()
	p.PrunedTurnIDs = []string{}
	for i := range turn {
		if id := s.Transcript.TurnID(i); !pruned[id] {
			p.PrunedTurnIDs = append(p.PrunedTurnIDs, id)
		}
	}
	p.BeforeEntryID, p.FirstKeptItemID = s.itemsAround(p.Boundary)
	messages := s.Transcript.MessagesBefore(p.Boundary) - s.Transcript.MessagesBefore(s.lastBoundary())
	p.PrunedMessageCount = max(messages-s.messagesAmong(p.Kept), 0)
	p.Revision = s.Context.Revision() + 1
	p.SavedTokens = s.Context.SavedBy(s.Context.TrimChanges(&p))
	return p
}

// messagesAmong counts the messages of the user and the agent among the items that a trim keeps. It
// skips messages that an earlier trim kept, and those of other agents.
func (s *State) messagesAmong(ids []string) (n int) {
	for _, id := range ids {
		place, _ := s.Context.Find(id)
		c := s.Context.Item(place)
		if c.Ordinal() < s.lastBoundary() || !c.IsMessage() || protocol.IsPeerMessage(c.Decode()) {
			continue
		}
		switch s.Context.Category(place) {
		case protocol.CategoryUserMessage, protocol.CategoryAssistantMessage:
			n++
		}
	}
	return n
}

// boundaryAt returns the trim boundary before an item: the turn that it trims to, and the ordinal of the
// first line after it. A summary, and an item that an earlier trim keeps, belong to no turn.
func (s *State) boundaryAt(place int) (turn int, boundary int64) {
	c := s.Context.Item(place)
	turn = s.TurnIndex(c.TurnID())
	if turn < 0 || s.Context.TrimmedTurns()[c.TurnID()] {
		return 0, s.lastBoundary()
	}
	start := s.Transcript.BeginOf(turn)
	if !s.Context.BeginsTurn(place) || start < 0 {
		return turn, c.Ordinal()
	}
	return turn, max(start, s.lastBoundary()) // an earlier trim may be within the turn
}

func (s *State) lastBoundary() int64 {
	if p := s.Context.LastTrimPoint(); p != nil {
		return p.Position
	}
	return 0
}

// itemsAround returns the ids of the last thread item before a boundary and the first one after it.
func (s *State) itemsAround(boundary int64) (before, behind *string) {
	at := s.Transcript.EventFrom(boundary)
	for i := at - 1; i >= 0 && before == nil; i-- {
		before = s.itemID(s.Transcript.Event(i))
	}
	for i := at; i < s.Transcript.EventCount() && behind == nil; i++ {
		behind = s.itemID(s.Transcript.Event(i))
	}
	return before, behind
}

// itemID returns the id of the thread item of an event, or nil for other events.
func (s *State) itemID(e transcript.Event) *string {
	if e.Item < 0 {
		return nil
	}
	return new(s.Transcript.ItemAt(e).ID())
}
