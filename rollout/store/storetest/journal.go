package storetest

import (
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

func (s *suite) begin() {
	var missing *rollout.NotFoundError
	journal, err := s.Begin(idOf(1), timeOf(1), nil)
	require.NoError(s.t, err)
	_, err = s.Where(refOf(1))
	require.ErrorAs(s.t, err, &missing)
	require.NoError(s.t, journal.Append(linesOf(1, "hello"), true))
	place, err := s.another().Where(refOf(1))
	require.NoError(s.t, err)
	require.False(s.t, place.Archived)
	at := journal.Ref()
	require.Equal(s.t, idOf(1), at.ID)
	require.Equal(s.t, at.Path != "", journal.IsAt(at.Path))
	require.False(s.t, journal.IsAt(s.place))
	require.NoError(s.t, journal.Close())
	s.same(linesOf(1, "hello"), s.another().read(1))
}

func (s *suite) seed() {
	s.put(2, "one", "two", "left out")
	var origin rollout.LineList
	_, text, err := s.Load(refOf(2), &origin)
	require.NoError(s.t, err)
	want := append(linesOf(1)[:1:1], origin[1:len(origin)-1]...)
	choose := func(line protocol.RolloutLine) (protocol.RolloutLine, bool) {
		return line, line.Type != protocol.LineSessionMeta
	}
	seed := &rollout.Seed{First: want[0], From: text, Choose: choose}
	for _, line := range origin[:len(origin)-1] {
		seed.Ordinals = append(seed.Ordinals, *line.Ordinal)
	}
	journal, err := s.Begin(idOf(1), timeOf(1), seed)
	require.NoError(s.t, err)
	own := more(len(want), "three")
	require.NoError(s.t, journal.Append(own, true))
	for n := 1; n < len(want); n++ {
		require.JSONEq(s.t, string(want[n].Payload), string(text.Payload(n)), "the reader has the lines of the fork")
	}
	require.Equal(s.t, text, journal.LineReader())
	require.Equal(s.t, len(want)+len(own), text.Lines())
	require.JSONEq(s.t, string(own[0].Payload), string(text.Payload(len(want))))
	require.NoError(s.t, journal.Close())
	s.same(want, s.read(1)[:len(want)])
	s.same(append(want, own...), s.read(1))
	require.NoError(s.t, text.Close())
}

func (s *suite) roundTrip() {
	journal := s.beginThread(1, "a \"quoted\" text", "Größe: 日本語 \u2028 \\n", "")
	want := linesOf(1, "a \"quoted\" text", "Größe: 日本語 \u2028 \\n", "")
	for range 20 {
		lines := more(len(want), strings.Repeat("x", len(want)))
		require.NoError(s.t, journal.Append(lines, false))
		want = append(want, lines...)
	}
	require.NoError(s.t, journal.Append(nil, true))
	s.same(want, s.another().read(1))
	text := journal.LineReader()
	if text != nil {
		require.JSONEq(s.t, string(want[5].Payload), string(text.Payload(5)))
	}
	require.NoError(s.t, journal.Close())
	s.same(want, s.read(1))
}

func (s *suite) readWhileWritten() {
	journal, want := s.beginThread(1, "hello"), linesOf(1, "hello")
	for _, reader := range []*suite{s, s.another()} {
		lines := more(len(want), "again")
		require.NoError(s.t, journal.Append(lines, true))
		want = append(want, lines...)
		reader.same(want, reader.read(1))
	}
	require.NoError(s.t, journal.Close())
}

func (s *suite) discard() {
	var missing *rollout.NotFoundError
	require.NoError(s.t, s.beginThread(1, "hello").Discard())
	_, err := s.Where(refOf(1))
	require.ErrorAs(s.t, err, &missing)
	s.put(2, "hello")
	journal, _ := s.openThread(2)
	require.NoError(s.t, journal.Discard())
	s.same(linesOf(2, "hello"), s.read(2))
}

func (s *suite) oneWriter() {
	var locked *rollout.LockedError
	var lines rollout.LineList
	require.NoError(s.t, s.beginThread(1, "hello").Close())
	require.NoError(s.t, s.Check(refOf(1), store.OpWrite))
	journal, _ := s.openThread(1)
	for _, op := range []store.Op{store.OpArchive, store.OpDelete} {
		require.NoError(s.t, s.Check(refOf(1), op), "a caller checks before it closes the thread")
	}
	for _, other := range []*suite{s, s.another()} {
		_, _, err := other.Threads.Open(refOf(1), &lines)
		require.ErrorAs(s.t, err, &locked)
		require.Equal(s.t, idOf(1), locked.ID)
		require.ErrorAs(s.t, other.Check(refOf(1), store.OpWrite), &locked)
		require.ErrorAs(s.t, other.Archive(refOf(1)), &locked)
		require.ErrorAs(s.t, other.Delete(idOf(1)), &locked)
	}
	require.NoError(s.t, journal.Close())
	s.same(linesOf(1, "hello"), s.read(1))
}

func (s *suite) handover() {
	s.put(1, "hello")
	want := linesOf(1, "hello")
	programs := []*suite{s, s.another(), s.another()}
	for i := range 9 {
		journal, lines := programs[i%len(programs)].openThread(1)
		s.same(want, lines)
		lines = more(len(want), "again")
		require.NoError(s.t, journal.Append(lines, true))
		require.NoError(s.t, journal.Close())
		want = append(want, lines...)
	}
	s.same(want, s.read(1))
}

func (s *suite) rewritten() {
	journal := s.beginThread(1, "one", "two")
	want := linesOf(1, "one", "two")
	half := func(line protocol.RolloutLine) (protocol.RolloutLine, bool) { return line, *line.Ordinal < 3 }
	require.NoError(s.t, journal.CloseRewritten(half))
	require.NoError(s.t, s.Check(refOf(1), store.OpRestore))
	s.same(want, s.whole(s.read(1)))
	journal, lines := s.another().openThread(1)
	s.same(want, s.whole(lines))
	require.NoError(s.t, journal.Close())
}

// whole returns the lines without those that refer to the backup of a file.
func (s *suite) whole(lines []protocol.RolloutLine) (kept []protocol.RolloutLine) {
	for _, l := range lines {
		if l.Type != "context_backup" {
			kept = append(kept, l)
		}
	}
	return kept
}

func (s *suite) longLine() {
	long := strings.Repeat("a long text ", 1<<20)
	journal := s.beginThread(1, "hello", long)
	want := linesOf(1, "hello", long)
	lines := more(len(want), "after it")
	require.NoError(s.t, journal.Append(lines, true))
	require.NoError(s.t, journal.Close())
	s.same(append(want, lines...), s.another().read(1))
}

func (s *suite) idle() {
	journal, want := s.beginThread(1, "hello"), linesOf(1, "hello")
	journal.SetIdle(true)
	journal.SetIdle(false)
	require.NoError(s.t, journal.Resume())
	lines := more(len(want), "again")
	require.NoError(s.t, journal.Append(lines, true))
	require.NoError(s.t, journal.Close())
	s.same(append(want, lines...), s.read(1))
}

func (s *suite) sideBySide() {
	const threads, appends = 8, 5
	var all sync.WaitGroup
	failed := make(chan error, threads*(appends+2))
	for n := range threads {
		all.Go(func() {
			journal, err := s.Begin(idOf(n), timeOf(n), nil)
			if err != nil {
				failed <- err
				return
			}
			failed <- journal.Append(linesOf(n, "hello"), true)
			for i := range appends {
				failed <- journal.Append(more(3+2*i, "again"), true)
			}
			failed <- journal.Close()
		})
	}
	all.Wait()
	close(failed)
	for err := range failed {
		require.NoError(s.t, err)
	}
	for n := range threads {
		want := linesOf(n, "hello")
		for i := range appends {
			want = append(want, more(3+2*i, "again")...)
		}
		s.same(want, s.read(n))
	}
}
