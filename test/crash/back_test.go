package crash

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// mark is a word of an input, and the turn that has it.
type mark struct{ text, turn string }

// said notes an input that was answered.
func (w *told) said(text, turn string) {
	w.begun(turn)
	if !w.gone[turn] {
		w.marks = append(w.marks, mark{text, turn})
	}
}

// begun notes a turn.
func (w *told) begun(turn string) {
	if !slices.Contains(w.turns, turn) && !w.gone[turn] {
		w.turns = append(w.turns, turn)
	}
}

// from are the turns from one on, all where that is not there.
func (w *told) from(turn string) []string { return w.turns[max(slices.Index(w.turns, turn), 0):] }

// lose takes turns out of what was told: they are there no more.
func (w *told) lose(turns []string) {
	for _, turn := range turns {
		w.gone[turn] = true
		delete(w.ended, turn)
	}
	w.turns = slices.DeleteFunc(w.turns, func(turn string) bool { return w.gone[turn] })
	w.marks = slices.DeleteFunc(w.marks, func(m mark) bool { return w.gone[m.turn] })
	maps.DeleteFunc(w.items, func(id, _ string) bool { return w.gone[w.of[id]] })
}

// settle decides, by what is there after a crash, whether turns were taken back of which that was
// asked and not answered: one and all behind it, or none.
func (w *told) settle(t *testing.T, v apptest.ThreadView) {
	t.Helper()
	there := map[string]bool{}
	for _, turn := range v.Turns {
		there[turn.ID] = true
	}
	for _, first := range w.back {
		turns := w.from(first)
		cut := slices.IndexFunc(turns, func(turn string) bool { return !there[turn] })
		if cut < 0 {
			continue
		}
		for _, turn := range turns[cut:] {
			require.False(t, there[turn], "turn %s is there, %s before it is not", turn, turns[cut])
		}
		w.lose(slices.Clone(turns[cut:]))
	}
	w.back = nil
}

// goBack takes turns back, their files or both, in one of the ways that there are.
func (s *siege) goBack(w *told) {
	if len(w.turns) == 0 || w.second {
		s.say(w) // what one client hears of turns is not in the order of what another is answered
		return
	}
	n := 1 + s.rand.IntN(min(3, len(w.turns)))
	turn := w.turns[len(w.turns)-n]
	method, params := "thread/revert", apptest.Object{"threadId": w.id, "beforeTurnId": turn}
	removed := func(gjson.Result) []string { return w.from(turn) }
	switch mode := []string{"", "rollback", "both", "both", "files", "conversation"}[s.rand.IntN(6)]; mode {
	case "":
	case "rollback":
		method, params, removed = "thread/rollback", apptest.Object{"threadId": w.id, "numTurns": n}, w.missing
	default:
		method, params = "thread/checkpoint/revert", apptest.Object{"threadId": w.id, "turnId": turn, "mode": mode}
		removed = func(r gjson.Result) []string { return texts(r.Get("removedTurnIds")) }
	}
	if params["mode"] != "files" {
		w.back = append(w.back, turn)
	}
	settled := func() { w.back = slices.DeleteFunc(w.back, func(first string) bool { return first == turn }) }
	id := s.later(w, method, params, func(m apptest.Message) {
		s.count.backs++
		w.lose(slices.Clone(removed(gjson.ParseBytes(m.Result))))
		settled()
	})
	s.refusals[id] = settled
}

// missing are the turns that an answer with a thread lacks.
func (w *told) missing(answer gjson.Result) []string {
	left := texts(answer.Get("thread.turns.#.id"))
	return slices.DeleteFunc(slices.Clone(w.turns), func(turn string) bool { return slices.Contains(left, turn) })
}

func texts(list gjson.Result) (all []string) {
	for _, one := range list.Array() {
		all = append(all, one.Str)
	}
	return all
}

// delete deletes a thread.
func (s *siege) delete(w *told) {
	if s.rand.IntN(3) > 0 {
		s.say(w)
		return
	}
	w.deleting = true
	id := s.later(w, "thread/delete", apptest.Object{"threadId": w.id}, func(apptest.Message) {
		s.count.deletes++
		s.drop(w)
		s.deleted = append(s.deleted, w.id)
	})
	s.refusals[id] = func() { w.deleting = false }
}

func (s *siege) drop(w *told) {
	s.threads = slices.DeleteFunc(s.threads, func(other *told) bool { return other == w })
}

// checkDeleted: what was said to be deleted is in no list, cannot be read, and has left no file
// of its own and no checkpoint; what was asked to be is there or not.
func (s *siege) checkDeleted(listed map[string]bool) {
	s.t.Helper()
	for _, w := range slices.Clone(s.threads) {
		if !w.deleting {
			continue
		}
		m := s.Request("thread/read", apptest.Object{"threadId": w.id})
		if m.Error != nil {
			require.Equal(s.t, "threadNotLoaded", m.Error.Data.Kind, m.Line)
			require.NotContains(s.t, listed, w.id)
			s.drop(w)
		}
		w.deleting = false
	}
	if len(s.deleted) == 0 {
		return
	}
	for _, id := range s.deleted {
		require.NotContains(s.t, listed, id, "it was deleted")
	}
	last := s.deleted[len(s.deleted)-1]
	require.Equal(s.t, "threadNotLoaded", s.CallRejected("thread/read", apptest.Object{"threadId": last}).Data.Kind)
	require.NotContains(s.t, s.repository.Git("for-each-ref", "refs/appserver"), last)
	for _, root := range []string{"sessions", "archived_sessions", "appserver-checkpoints"} {
		_ = filepath.WalkDir(filepath.Join(s.home, root), func(path string, _ os.DirEntry, _ error) error {
			for _, id := range s.deleted {
				require.NotContains(s.t, path, id, "it was deleted")
			}
			return nil
		})
	}
}

// checkRepository: whatever files there are in the repository, they are whole, and so is that.
func (s *siege) checkRepository() {
	s.t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.repository.Dir, "mark*.txt"))
	require.NoError(s.t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(s.t, err)
		word := strings.TrimSuffix(filepath.Base(path), ".txt")
		require.Equal(s.t, "\n", strings.ReplaceAll(string(text), word, ""), path)
	}
	if s.rand.IntN(25) == 0 {
		require.Empty(s.t, s.repository.Git("fsck", "--no-dangling", "--no-progress"))
	}
}

// join lets a second client have a part of the threads.
func (s *siege) join() {
	s.t.Helper()
	s.second = s.host.ConnectInitialized().Client
	s.second.LastID = 1 << 20 // its requests have other ids
	s.count.pairs++
	for _, w := range s.threads {
		w.second = s.rand.IntN(2) == 0
	}
}

// listen takes notice of the next message. What the first client hears of threads is all that
// counts; the second has answers only, and where there are two, nothing may come.
func (s *siege) listen() {
	s.t.Helper()
	if s.second == nil {
		s.notice(s.Next())
		return
	}
	select {
	case m, ok := <-s.Client.Messages:
		require.True(s.t, ok, "the server ended its output")
		s.Client.Record(m)
		s.notice(m)
	case m, ok := <-s.second.Messages:
		require.True(s.t, ok, "the server ended its output")
		s.noticeSecond(m)
	case <-time.After(time.Second):
		s.act()
	}
}

func (s *siege) noticeSecond(m apptest.Message) {
	if m.Method == "" {
		s.notice(m)
	}
}

// finishSecond reads what is left for the second client of a server that has ended.
func (s *siege) finishSecond() {
	if s.second == nil {
		return
	}
	for m := range s.second.Messages {
		s.noticeSecond(m)
	}
}
