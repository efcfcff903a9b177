package core

import "appserver/protocol"

// turnNumber returns the index of a turn, or -1 for items before the first turn.
func (l *log) turnNumber(id string) int {
	if i, ok := l.transcript.IndexOf(id); ok {
		return i
	}
	return -1
}

// selectTurns implements history.Turns. Items before the first turn go with it.
func (l *log) selectTurns(r *protocol.PruneRange) (func(turnID string) bool, *protocol.Error) {
	first, end, err := l.turnRange(r)
	return func(turnID string) bool {
		turn := l.turnNumber(turnID)
		return turn >= first && turn < end
	}, err
}

// turnRange returns the first turn of a range and the one after its last.
func (l *log) turnRange(r *protocol.PruneRange) (first, end int, err *protocol.Error) {
	switch {
	case r == nil || r.Word == protocol.RangeAll || r.Word == "" || r.Word == protocol.RangeKeepLastTurns && r.Count == 0:
		return -1, len(l.transcript.Turns()), nil
	case r.Word == protocol.RangeFirstTurns && r.Count > 0:
		return -1, min(int(r.Count), len(l.transcript.Turns())), nil
	case r.Word == protocol.RangeKeepLastTurns && int(r.Count) < len(l.transcript.Turns()):
		return -1, len(l.transcript.Turns()) - int(r.Count), nil
	case r.Word != protocol.RangeBeforeTurn:
		return 0, 0, nil
	}
	turn, known := l.transcript.IndexOf(r.TurnID)
	if !known {
		return 0, 0, protocol.InvalidParams("range.beforeTurnId", "there is no turn %s in this thread", r.TurnID)
	}
	return -1, turn, nil
}
