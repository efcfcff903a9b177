package core

import (
	"slices"

	"appserver/protocol"
)

// Revert takes turns out of the thread: Before and all behind it or, where that is nil, the
// Last ones.
type Revert struct {
	To     protocol.Caller
	Before *string
	Last   uint32
}

func (in Revert) apply(s *step) { s.revert(in) }

func (s *step) revert(in Revert) {
	if s.turnUnderWay(in.To) {
		return
	}
	n, err := s.turnsToRevert(in)
	if err != nil {
		s.refuse(in.To, err)
		return
	}
	c := s.takeOut(n)
	s.replyToRevert(in)
	s.tellTakenOut(c)
}

// takeOut takes the last turns out; tellTakenOut tells of it, after the answer.
func (s *step) takeOut(n uint32) *aCut {
	s.settleLastTurn()
	c := s.beginCut()
	if n > 0 {
		s.event(protocol.ThreadRolledBack{Type: protocol.EventRolledBack, NumTurns: n, Revision: s.revision + 1})
		s.out.Sync = true
	}
	s.endCut(c, nil)
	return c
}

func (s *step) tellTakenOut(c *aCut) {
	if s.failed {
		s.failed = false
		s.notifyStatus()
	}
	s.notify(protocol.ThreadRevertedNotification{ThreadID: s.id})
	s.tellCut(c)
	s.discards = true
	s.tellContext(s.lastRevert())
}

func (s *step) turnsToRevert(in Revert) (uint32, *protocol.Error) {
	if in.Before == nil {
		return uint32(min(int(in.Last), len(s.turns))), nil
	}
	turn, err := s.findTurn(*in.Before)
	return uint32(len(s.turns) - turn), err
}

func (s *step) replyToRevert(in Revert) {
	if in.Before == nil {
		s.reply(in.To, protocol.ThreadRollbackResponse{Thread: s.View(true)})
		return
	}
	answer := protocol.ThreadRevertResponse{Thread: s.View(false)}
	answer.TurnsBackwardsCursor, answer.ItemsBackwardsCursor = s.backwardsCursors()
	s.reply(in.To, answer)
}

// lastRevert is what the last edit changed, where it was a revert.
func (s *step) lastRevert() []change {
	if len(s.journal) == 0 || !s.journal[len(s.journal)-1].reverts() {
		return nil
	}
	return s.lastChanges()
}

// applyRolledBack takes the last turns out: what they brought into the context is hidden,
// and what trims and compactions hid since they began is back. Other edits of what is left
// stay. Nothing before is undone or made again from then on.
func (l *log) applyRolledBack(ordinal int64, line *protocol.RolloutLine) {
	var rolled protocol.ThreadRolledBack
	if protocol.Unmarshal(line.Payload, &rolled) != nil || rolled.NumTurns == 0 || len(l.turns) == 0 {
		return
	}
	first := max(len(l.turns)-int(rolled.NumTurns), 0)
	e := edit{ordinal: ordinal, from: l.startOf(first)}
	e.Op, e.At = protocol.EditRevert, parseTime(line.Timestamp).UnixMilli()
	e.changes = l.reverting(e.from)
	e.Count = len(e.changes)
	l.voidCuts(e.from)
	l.revise(rolled.Revision)
	l.enter(e)
	l.hiddenAnew(&e)
	l.forgetTurns(first, e.from)
}

// reverts tells whether the edit took turns out.
func (e *edit) reverts() bool { return e.Op == protocol.EditRevert }

// cutsSince are the trims and compactions from a line on, and the summaries that these were
// given, the last one first: those in force, which no restore has taken back.
func (h *history) cutsSince(from int64) (cuts []*edit) {
	points := h.trimPoints()
	for i := len(h.journal) - 1; i >= 0 && h.journal[i].ordinal >= from; i-- {
		e := &h.journal[i]
		holds := e.Op == protocol.EditCompact || e.point != nil && indexOfPoint(points, e.point.ID) >= 0 || e.of != "" && indexOfPoint(points, e.of) >= 0
		if holds && !e.Undone {
			cuts = append(cuts, e)
		}
	}
	return cuts
}

// reverting is what goes with the lines from one on.
func (h *history) reverting(from int64) (changes []change) {
	was := map[int32]bool{} // hidden, before those cuts
	for _, e := range h.cutsSince(from) {
		for _, c := range slices.Backward(e.changes) {
			was[c.place] = c.before.hidden
		}
	}
	for i := range h.items {
		before := h.items[i].fate
		after := before
		if hidden, changed := was[int32(i)]; changed {
			after.hidden = hidden
		}
		after.hidden = after.hidden || h.items[i].ordinal >= from
		if after != before {
			changes = append(changes, change{int32(i), before, after})
		}
	}
	return changes
}

func (h *history) voidCuts(from int64) {
	for _, e := range h.cutsSince(from) {
		e.Undone, e.final = true, true
	}
}

// forgetTurns takes turns out of what is shown.
func (l *log) forgetTurns(first int, from int64) {
	for _, t := range l.turns[first:] {
		delete(l.turnAt, t.id)
	}
	l.usage.Total, l.usage.Last = l.turns[first].before.Total, l.turns[first].before.Last
	l.turns = slices.Clip(l.turns[:first])
	l.moments = slices.Clip(l.moments[:l.momentFrom(from)])
	l.messages = slices.Clip(l.messages[:l.messagesBefore(from)])
	if first == 0 {
		l.preview = ""
	}
	l.sealed = slices.DeleteFunc(l.sealed, func(ordinal int64) bool { return ordinal >= from })
	l.numbered = 0
	for i := range l.turns {
		l.numbered += int64(len(l.turns[i].items))
	}
}

// reverted tells whether a line is of turns that were taken out, or takes them out. What
// it says of settings and names holds on.
func (p *projection) reverted(line *protocol.RolloutLine) bool {
	switch line.Type {
	case protocol.LineResponseItem, protocol.LineCompacted, protocol.LineTurnContext:
	case protocol.LineEventMsg:
		if kind := peek(line.Payload, "type"); kind == protocol.EventSettings || kind == protocol.EventNameUpdated {
			return false
		}
	default:
		return false
	}
	return slices.ContainsFunc(p.reverts, func(e *edit) bool { return *line.Ordinal >= e.from && *line.Ordinal <= e.ordinal })
}
