package engine_test

import (
	"testing"

	"appserver/protocol"
	"appserver/test/sample"
)

// TestEveryDiskOperationMayFailAroundMoves runs a thread with trims, a fork and the archive on a disk
// whose n-th operation fails. A repeated request succeeds, and no announced data is lost, wherever the
// file is.
func TestEveryDiskOperationMayFailAroundMoves(t *testing.T) {
	sample.NoRace(t)
	all := faults()
	for _, name := range []string{"one, in part", "three, in part"} {
		t.Run(name, func(t *testing.T) { sweep(t, all[name], (*life).move) })
	}
}

// move runs the life of a thread that is trimmed, forked, archived, unarchived and loaded by
// another engine.
func (l *life) move() {
	l.thread = l.insist(start).Get("thread.id").Str
	l.complete("say one")
	l.complete("say two")
	l.insist(func() call { return trim(l.thread) })
	own := l.thread
	l.thread = l.insist(func() call { return fork(own) }).Get("thread.id").Str
	l.complete("say three")
	l.checkDurable()
	l.thread = own
	l.shift(archive, "archived")
	l.shift(unarchive, "not archived")
	l.again()
	l.complete("say four")
	if d := l.difference(own); d != "" {
		l.report("%s", d)
	}
	l.checkDurable()
	l.leaveWhole()
}

// shift moves a thread. After a reported failure the thread is at its old or at its new place. At the
// new place, another move is rejected with that reason.
func (l *life) shift(way func(string) call, to string) {
	for range 10 {
		got := l.clients.answersTo(l.post(1, way(l.thread)))
		if len(got) != 1 {
			l.report("to be %s has %d answers", to, len(got))
			return
		}
		if got[0].err == nil {
			l.checkDurable()
			return
		}
		switch got[0].err.Data.Kind {
		case protocol.KindStorage, protocol.KindRolloutUnreadable:
			l.costs++
		case protocol.KindThreadArchived, protocol.KindThreadNotFound:
			l.checkDurable()
			return
		default:
			l.report("%v %s, to be %s", got[0], got[0].err.Message, to)
			return
		}
		l.checkDurable()
	}
	l.report("it is never %s, though the disk has healed", to)
}
