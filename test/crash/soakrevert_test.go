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

// mark is a unique word in an input of a turn.
type mark struct{ text, turn string }

// addInput records an acknowledged input.
func (th *soakThread) addInput(text, turn string) {
	th.addTurn(turn)
	if !th.reverted[turn] {
		th.marks = append(th.marks, mark{text, turn})
	}
}

// addTurn records a turn.
func (th *soakThread) addTurn(turn string) {
	if !slices.Contains(th.turns, turn) && !th.reverted[turn] {
		th.turns = append(th.turns, turn)
	}
}

// turnsFrom returns a turn and all later ones, or all turns if it is unknown.
func (th *soakThread) turnsFrom(turn string) []string {
	return th.turns[max(slices.Index(th.turns, turn), 0):]
}

// removeTurns records that turns were reverted.
func (th *soakThread) removeTurns(turns []string) {
	for _, turn := range turns {
		th.reverted[turn] = true
		delete(th.ended, turn)
	}
	th.turns = slices.DeleteFunc(th.turns, func(turn string) bool { return th.reverted[turn] })
	th.marks = slices.DeleteFunc(th.marks, func(m mark) bool { return th.reverted[m.turn] })
	maps.DeleteFunc(th.items, func(id, _ string) bool { return th.reverted[th.turnOf[id]] })
}

// resolveReverts decides from the state after a crash whether each unanswered revert was executed.
// A revert removes its turn and all later ones, or none.
func (th *soakThread) resolveReverts(t *testing.T, v apptest.ThreadView) {
	t.Helper()
	present := map[string]bool{}
	for _, turn := range v.Turns {
		present[turn.ID] = true
	}
	for _, first := range th.pendingReverts {
		turns := th.turnsFrom(first)
		cut := slices.IndexFunc(turns, func(turn string) bool { return !present[turn] })
		if cut < 0 {
			continue
		}
		for _, turn := range turns[cut:] {
			require.False(t, present[turn], "turn %s remains, but %s before it is removed", turn, turns[cut])
		}
		th.removeTurns(slices.Clone(turns[cut:]))
	}
	th.pendingReverts = nil
}

// revert reverts turns, their files, or both, with a random method.
func (s *soak) revert(th *soakThread) {
	if len(th.turns) == 0 || th.second {
		s.sendInput(th) // the order of one client's notifications and another's responses is not defined
		return
	}
	n := 1 + s.rand.IntN(min(3, len(th.turns)))
	turn := th.turns[len(th.turns)-n]
	method, params := "thread/revert", apptest.Object{"threadId": th.id, "beforeTurnId": turn}
	removedBy := func(gjson.Result) []string { return th.turnsFrom(turn) }
	switch mode := []string{"", "rollback", "both", "both", "files", "conversation"}[s.rand.IntN(6)]; mode {
	case "":
	case "rollback":
		method, params, removedBy = "thread/rollback", apptest.Object{"threadId": th.id, "numTurns": n}, th.missingFrom
	default:
		method, params = "thread/checkpoint/revert", apptest.Object{"threadId": th.id, "turnId": turn, "mode": mode}
		removedBy = func(r gjson.Result) []string { return texts(r.Get("removedTurnIds")) }
	}
	if params["mode"] != "files" {
		th.pendingReverts = append(th.pendingReverts, turn)
	}
	resolved := func() {
		th.pendingReverts = slices.DeleteFunc(th.pendingReverts, func(first string) bool { return first == turn })
	}
	id := s.sendAsync(th, method, params, func(m apptest.Message) {
		s.count.reverts++
		th.removeTurns(slices.Clone(removedBy(gjson.ParseBytes(m.Result))))
		resolved()
	})
	s.errorHandlers[id] = resolved
}

// missingFrom returns the known turns that a response with a thread lacks.
func (th *soakThread) missingFrom(answer gjson.Result) []string {
	left := texts(answer.Get("thread.turns.#.id"))
	return slices.DeleteFunc(slices.Clone(th.turns), func(turn string) bool { return slices.Contains(left, turn) })
}

func texts(list gjson.Result) (all []string) {
	for _, one := range list.Array() {
		all = append(all, one.Str)
	}
	return all
}

// deleteThread deletes a thread.
func (s *soak) deleteThread(th *soakThread) {
	if s.rand.IntN(3) > 0 {
		s.sendInput(th)
		return
	}
	th.deleting = true
	id := s.sendAsync(th, "thread/delete", apptest.Object{"threadId": th.id}, func(apptest.Message) {
		s.count.deletes++
		s.removeThread(th)
		s.deleted = append(s.deleted, th.id)
	})
	s.errorHandlers[id] = func() { th.deleting = false }
}

func (s *soak) removeThread(th *soakThread) {
	s.threads = slices.DeleteFunc(s.threads, func(other *soakThread) bool { return other == th })
}

// checkDeleted requires that deleted threads are in no list, cannot be read, and left no file and
// no checkpoint. An unanswered deletion was executed or not.
func (s *soak) checkDeleted(listed map[string]bool) {
	s.t.Helper()
	for _, th := range slices.Clone(s.threads) {
		if !th.deleting {
			continue
		}
		m := s.Request("thread/read", apptest.Object{"threadId": th.id})
		if m.Error != nil {
			require.Equal(s.t, "threadNotLoaded", m.Error.Data.Kind, m.Line)
			require.NotContains(s.t, listed, th.id)
			s.removeThread(th)
		}
		th.deleting = false
	}
	if len(s.deleted) == 0 {
		return
	}
	for _, id := range s.deleted {
		require.NotContains(s.t, listed, id, "a deleted thread")
	}
	last := s.deleted[len(s.deleted)-1]
	require.Equal(s.t, "threadNotLoaded", s.CallRejected("thread/read", apptest.Object{"threadId": last}).Data.Kind)
	require.NotContains(s.t, s.repository.Git("for-each-ref", "refs/appserver"), last)
	for _, root := range []string{"sessions", "archived_sessions", "appserver-checkpoints"} {
		_ = filepath.WalkDir(filepath.Join(s.home, root), func(path string, _ os.DirEntry, _ error) error {
			for _, id := range s.deleted {
				require.NotContains(s.t, path, id, "a deleted thread")
			}
			return nil
		})
	}
}

// checkRepository requires that git's data and all files in the repository are whole.
func (s *soak) checkRepository() {
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

// connectSecond connects a second client, which sends the requests of some threads.
func (s *soak) connectSecond() {
	s.t.Helper()
	s.second = s.daemon.ConnectInitialized().Client
	s.second.LastID = 1 << 20 // distinct request ids
	s.count.pairs++
	for _, th := range s.threads {
		th.second = s.rand.IntN(2) == 0
	}
}

// receive handles the next message. Notifications of the second client are ignored. With two
// clients, there may be no message for a while.
func (s *soak) receive() {
	s.t.Helper()
	if s.second == nil {
		s.handle(s.Next())
		return
	}
	select {
	case m, ok := <-s.Client.Messages:
		require.True(s.t, ok, "the server closed its output")
		s.Client.Record(m)
		s.handle(m)
	case m, ok := <-s.second.Messages:
		require.True(s.t, ok, "the server closed its output")
		s.handleSecond(m)
	case <-time.After(time.Second):
		s.sendRandom()
	}
}

func (s *soak) handleSecond(m apptest.Message) {
	if m.Method == "" {
		s.handle(m)
	}
}

// drainSecond handles the remaining messages of the second client after the server's exit.
func (s *soak) drainSecond() {
	if s.second == nil {
		return
	}
	for m := range s.second.Messages {
		s.handleSecond(m)
	}
}
