package fleet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/test/apptest"
)

// check requires that all nodes have everything that was acknowledged.
func (s *soak) check() {
	s.t.Helper()
	c := newCaller(s.rand, s.noteRequest, s.nodes...)
	defer c.disconnect()
	archived := s.checkLists(&c)
	s.checkDeleted(&c, archived)
	for _, th := range s.threads {
		require.Contains(s.t, archived, th.ID, "the thread is not listed")
		th.Archived.Check(s.t, "archive of "+th.ID, archived[th.ID])
		s.resolveReverts(&c, th)
		th.inDoubt = false
		if !th.Archived.IsTrue() {
			require.NotEqual(s.t, again, c.until(func() outcome { return s.checkOwner(&c, th) }), "thread %s", th.ID)
		}
		for _, m := range s.nodes {
			s.checkView(m, th)
		}
	}
	s.checkSearch(&c)
	s.checkApproved()
	s.checkCommands()
}

// checkSearch requires that a word of an acknowledged input leads to its thread. An owner adds the messages
// that a killed one has not added to the index.
func (s *soak) checkSearch(c *caller) {
	s.t.Helper()
	known := slices.DeleteFunc(slices.Clone(s.threads), func(th *soakThread) bool { return len(th.Marks) == 0 })
	if len(known) == 0 {
		return
	}
	th := known[s.rand.IntN(len(known))]
	params := apptest.Object{"searchTerm": th.Marks[s.rand.IntN(len(th.Marks))].Text, "archived": th.Archived.IsTrue(),
		"limit": 100}
	require.NotEqual(s.t, again, c.until(func() outcome {
		found, err := c.at.call("thread/search", params)
		if err != nil || !strings.Contains(found.Get("data.#.thread.id").Raw, th.ID) {
			return again
		}
		return done
	}), "a search for %v does not find thread %s", params, th.ID)
}

// checkOwner loads a thread, and compares it when it is idle.
func (s *soak) checkOwner(c *caller, th *soakThread) outcome {
	resumed, err := c.at.call("thread/resume", apptest.Object{"threadId": th.ID})
	if err != nil {
		return again
	}
	defer func() { _, _ = c.at.call("thread/unsubscribe", apptest.Object{"threadId": th.ID}) }()
	var v apptest.ThreadView
	require.NoError(s.t, json.Unmarshal([]byte(resumed.Get("thread").Raw), &v))
	for _, turn := range v.Turns {
		if turn.Status == "inProgress" { // its client has disconnected
			_, _ = c.at.call("turn/interrupt", apptest.Object{"threadId": th.ID, "turnId": turn.ID})
			return again
		}
	}
	items, err := c.at.call("context/getItems", apptest.Object{"threadId": th.ID})
	if err != nil {
		return again
	}
	var list protocol.ContextGetItemsResponse
	require.NoError(s.t, json.Unmarshal([]byte(items.Raw), &list))
	th.CheckView(s.t, v)
	th.CheckList(s.t, list.Revision, list.Items)
	th.AddView(v)
	return done
}

// checkView compares a thread as a node shows it.
func (s *soak) checkView(m *machine, th *soakThread) {
	s.t.Helper()
	c := newCaller(s.rand, func(apptest.Message) {}, m)
	defer c.disconnect()
	th.CheckView(s.t, s.view(&c, th))
}

// view reads a thread.
func (s *soak) view(c *caller, th *soakThread) (v apptest.ThreadView) {
	s.t.Helper()
	require.NotEqual(s.t, again, c.until(func() outcome {
		read, err := c.at.call("thread/read", apptest.Object{"threadId": th.ID, "includeTurns": true})
		if err != nil {
			return again
		}
		require.NoError(s.t, json.Unmarshal([]byte(read.Get("thread").Raw), &v))
		return done
	}))
	return v
}

// checkLists requires that all nodes list the same threads, and returns "true" for archived ones.
func (s *soak) checkLists(c *caller) map[string]string {
	s.t.Helper()
	archived, first := map[string]string{}, ""
	for i, m := range s.nodes {
		c.nodes = []*machine{m}
		all := ""
		for _, list := range []bool{false, true} {
			require.NotEqual(s.t, again, c.until(func() outcome {
				page, err := c.at.call("thread/list", apptest.Object{"limit": 1000, "archived": list})
				if err != nil {
					return again
				}
				for _, id := range page.Get("data.#.id").Array() {
					archived[id.Str] = map[bool]string{true: "true"}[list]
				}
				all += page.Get("data.#.id").Raw + page.Get("data.#.name").Raw
				return done
			}))
		}
		first = cmp.Or(first, all)
		require.Equal(s.t, first, all, "the lists of node %d differ from those of another node", i)
	}
	c.nodes = s.nodes
	return archived
}

// checkDeleted requires that no node has a deleted thread. A deletion without a response was executed at
// all nodes or at none.
func (s *soak) checkDeleted(c *caller, listed map[string]string) {
	s.t.Helper()
	for _, th := range slices.Clone(s.threads) {
		if th.isDeleting && s.isMissing(c, th.ID) {
			s.remove(th)
		}
		th.isDeleting = false
	}
	for _, id := range s.deleted {
		require.NotContains(s.t, listed, id, "a deleted thread is listed")
	}
	if len(s.deleted) == 0 {
		return
	}
	for _, m := range s.nodes {
		c.nodes = []*machine{m}
		require.True(s.t, s.isMissing(c, s.deleted[len(s.deleted)-1]), "a node shows a deleted thread")
	}
	c.nodes = s.nodes
}

// isMissing reports whether a node has no such thread.
func (s *soak) isMissing(c *caller, id string) (missing bool) {
	s.t.Helper()
	require.NotEqual(s.t, again, c.until(func() outcome {
		_, err := c.at.call("thread/read", apptest.Object{"threadId": id})
		missing = kindOf(err) == "threadNotLoaded"
		if err == nil || missing {
			return done
		}
		return again
	}))
	return missing
}

// resolveReverts decides whether unanswered reverts were executed.
func (s *soak) resolveReverts(c *caller, th *soakThread) {
	s.t.Helper()
	if len(th.SharedReverts) > 0 {
		th.ResolveSharedReverts(s.t, s.view(c, th))
	}
}

// checkApproved requires that each approved command ran at most once, and did if it is shown as completed. A
// declined one never ran. A command without an end may be missing in the thread: its server has ended.
func (s *soak) checkApproved() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.NoFileExists(s.t, filepath.Join(s.files, forbidden))
	text, err := os.ReadFile(s.approved())
	if !os.IsNotExist(err) {
		require.NoError(s.t, err)
	}
	ran := map[string]int{}
	for mark := range strings.FieldsSeq(string(text)) {
		ran[mark]++
	}
	for mark, n := range ran { // the model repeats a command whose output a client has excluded
		require.LessOrEqual(s.t, n, len(s.asked[mark]), "a command ran twice: %s, %v", mark, s.asked[mark])
	}
	for _, th := range s.threads {
		completed := map[string]int{}
		for _, item := range th.Items {
			command := gjson.Get(item, "command").Str
			if strings.Contains(command, s.approved()) && gjson.Get(item, "status").Str == "completed" {
				completed[markIn.FindString(command)]++
			}
		}
		for _, m := range th.Marks { // a fork has commands of its origin, without the marks
			require.LessOrEqual(s.t, completed[m.Text], ran[m.Text], "a command that completed did not run: %s", m.Text)
		}
	}
}

// approved returns the file to which approved commands add their mark.
func (s *soak) approved() string { return filepath.Join(s.files, "approved") }

// checkCommands requires that no command runs, because no turn does. So the commands of servers that have
// lost their lease have ended.
func (s *soak) checkCommands() {
	s.t.Helper()
	for i, m := range s.nodes {
		commands := apptest.ProcessTree{Token: m.home}
		server := fmt.Sprintf("/proc/%d:", m.process().Cmd.Process.Pid)
		alive := func() []string {
			return slices.DeleteFunc(commands.Alive(s.t), func(line string) bool { return strings.HasPrefix(line, server) })
		}
		require.Eventually(s.t, func() bool { return len(alive()) == 0 }, leftoverLimit, 10*time.Millisecond,
			"commands of node %d run without a turn: %v", i, alive())
	}
}

// leftoverLimit is the time within which the commands of ended turns end. It is less than interruptedSleep.
const leftoverLimit = 10 * time.Second
