package storetest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

// OpenFaulty opens a store in which operation n fails once, counted from 0. The function failed reports
// whether it has. With n below 0, no operation fails.
type OpenFaulty func(t *testing.T, place string, n int) (s store.Threads, failed func() bool)

// RunFaults repeats one life of a thread. Each time another operation fails. After each, the thread must
// have all lines of successful appends, and all or none of a failed one.
func RunFaults(t *testing.T, open OpenFaulty) {
	for n := 0; ; n++ {
		place := t.TempDir()
		faulty, failed := open(t, place, n)
		l := &life{Threads: faulty}
		l.live()
		sound, _ := open(t, place, -1)
		s := &suite{t: t, place: place, Threads: sound}
		require.NoError(t, sound.Tidy(), "fault %d", n)
		l.check(s, n)
		if !failed() {
			require.Greater(t, n, 10, "the faults were not injected")
			return
		}
	}
}

// life is the life of thread 1 until the first error.
type life struct {
	store.Threads
	// kept are lines of successful appends. doubtful are the lines of a failed append.
	kept, doubtful []protocol.RolloutLine
}

func (l *life) live() {
	journal, err := l.Begin(idOf(1), timeOf(1), nil)
	if err != nil {
		return
	}
	ok := l.append(journal, linesOf(1, "hello")) && l.append(journal, more(3, "again"))
	if errors.Join(journal.Close()) != nil || !ok {
		return
	}
	var lines rollout.LineList
	if journal, _, err = l.Threads.Open(refOf(1), &lines); err != nil {
		return
	}
	ok = l.append(journal, more(5, "and again"))
	if journal.CloseRewritten(nil) != nil || !ok {
		return
	}
	if l.Archive(refOf(1)) == nil {
		_, _ = l.Unarchive(refOf(1))
	}
}

func (l *life) append(journal store.Journal, lines []protocol.RolloutLine) bool {
	if journal.Append(lines, true) != nil {
		l.doubtful = lines
		return false
	}
	l.kept = append(l.kept, lines...)
	return true
}

// check reads the thread by another program.
func (l *life) check(s *suite, n int) {
	if len(l.kept) == 0 {
		if _, err := s.Where(refOf(1)); err != nil {
			var missing *rollout.NotFoundError
			require.ErrorAs(s.t, err, &missing, "fault %d", n)
			return
		}
	}
	got := s.read(1)
	if len(got) > len(l.kept) {
		s.same(append(l.kept, l.doubtful...), got)
		return
	}
	s.same(l.kept, got)
}
