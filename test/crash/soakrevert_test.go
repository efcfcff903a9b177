package crash

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// revert reverts turns, their files, or both, with a random method.
func (s *soak) revert(th *soakThread) {
	if len(th.Turns) == 0 || th.second {
		s.sendInput(th) // the order of one client's notifications and another's responses is not defined
		return
	}
	n := 1 + s.rand.IntN(min(3, len(th.Turns)))
	turn := th.Turns[len(th.Turns)-n]
	method, params := "thread/revert", apptest.Object{"threadId": th.ID, "beforeTurnId": turn}
	removedBy := func(gjson.Result) []string { return th.TurnsFrom(turn) }
	switch mode := []string{"", "rollback", "both", "both", "files", "conversation"}[s.rand.IntN(6)]; mode {
	case "":
	case "rollback":
		method, params, removedBy = "thread/rollback", apptest.Object{"threadId": th.ID, "numTurns": n}, th.missingFrom
	default:
		method, params = "thread/checkpoint/revert", apptest.Object{"threadId": th.ID, "turnId": turn, "mode": mode}
		removedBy = func(r gjson.Result) []string { return texts(r.Get("removedTurnIds")) }
	}
	if params["mode"] != "files" {
		th.PendingReverts = append(th.PendingReverts, turn)
	}
	resolved := func() {
		th.PendingReverts = slices.DeleteFunc(th.PendingReverts, func(first string) bool { return first == turn })
	}
	id := s.sendAsync(th, method, params, func(m apptest.Message) {
		s.count.reverts++
		th.RemoveTurns(slices.Clone(removedBy(gjson.ParseBytes(m.Result))))
		resolved()
	})
	s.errorHandlers[id] = resolved
}

// missingFrom returns the known turns that a response with a thread lacks.
func (th *soakThread) missingFrom(answer gjson.Result) []string {
	left := texts(answer.Get("thread.turns.#.id"))
	return slices.DeleteFunc(slices.Clone(th.Turns), func(turn string) bool { return slices.Contains(left, turn) })
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
	id := s.sendAsync(th, "thread/delete", apptest.Object{"threadId": th.ID}, func(apptest.Message) {
		s.count.deletes++
		s.removeThread(th)
		s.deleted = append(s.deleted, th.ID)
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
		m := s.Request("thread/read", apptest.Object{"threadId": th.ID})
		if m.Error != nil {
			require.Equal(s.t, "threadNotLoaded", m.Error.Data.Kind, m.Line)
			require.NotContains(s.t, listed, th.ID)
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
		s.Client.Record(*m)
		s.handle(*m)
	case m, ok := <-s.second.Messages:
		require.True(s.t, ok, "the server closed its output")
		s.handleSecond(*m)
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
		s.handleSecond(*m)
	}
}
