package state

import (
	"slices"

	"appserver/protocol"
)

// CurrentTurn returns the id of the last turn, or "".
func (s *State) CurrentTurn() string {
	if last := s.Transcript.Last(); last != nil {
		return last.ID
	}
	return ""
}

// TurnIndex returns the index of a turn, or -1 for items before the first turn.
func (s *State) TurnIndex(id string) int {
	if i, ok := s.Transcript.IndexOf(id); ok {
		return i
	}
	return -1
}

// StartOf returns the ordinal of a turn's first line. If no line begins turns, the user's message
// precedes the line that identifies the turn.
func (s *State) StartOf(turn int) int64 {
	if turn >= s.Transcript.TurnCount() {
		return s.Next
	}
	begin := s.Transcript.BeginOf(turn)
	place := s.Context.FindOrdinal(begin)
	items := s.Transcript.Turn(turn).Items()
	if place > 0 && len(items) > 0 && items[0].IsNumbered() && s.Context.UserItemID(place-1) == items[0].ID() {
		return s.Context.Item(place - 1).Ordinal()
	}
	return begin
}

// SelectTurns implements history.Turns. Items before the first turn go with it.
func (s *State) SelectTurns(r *protocol.PruneRange) (func(turnID string) bool, *protocol.Error) {
	first, end, err := s.turnRange(r)
	return func(turnID string) bool {
		turn := s.TurnIndex(turnID)
		return turn >= first && turn < end
	}, err
}

// turnRange returns the first turn of a range and the one after its last.
func (s *State) turnRange(r *protocol.PruneRange) (first, end int, err *protocol.Error) {
	turns := s.Transcript.TurnCount()
	switch {
	case r == nil || r.Word == protocol.RangeAll || r.Word == "" || r.Word == protocol.RangeKeepLastTurns && r.Count == 0:
		return -1, turns, nil
	case r.Word == protocol.RangeFirstTurns && r.Count > 0:
		return -1, min(int(r.Count), turns), nil
	case r.Word == protocol.RangeKeepLastTurns && int(r.Count) < turns:
		return -1, turns - int(r.Count), nil
	case r.Word != protocol.RangeBeforeTurn:
		return 0, 0, nil
	}
	turn, known := s.Transcript.IndexOf(r.TurnID)
	if !known {
		return 0, 0, protocol.InvalidParams("range.beforeTurnId", "there is no turn %s in this thread", r.TurnID)
	}
	return -1, turn, nil
}

// OpenCalls returns the positions of calls of the last turn without an output, in order.
func (s *State) OpenCalls() []int {
	var open []int
	last := s.CurrentTurn()
	for i := s.Context.Len() - 1; i >= 0 && s.Context.Item(i).TurnID() == last; i-- {
		if c := s.Context.Item(i); c.IsCall() && c.CallID() != "" && c.Pair() < 0 && !c.Hidden() {
			open = append(open, i)
		}
	}
	slices.Reverse(open)
	return open
}
