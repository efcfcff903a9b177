package crash

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/rollout"
	"appserver/test/acked"
	"appserver/test/apptest"
)

// soakThread is the state of a thread that clients know.
type soakThread struct {
	*acked.Thread
	deleting bool // deletion requested, but not acknowledged
	second   bool // the second client, if connected, sends its requests
	// memories are the ids in memory/list. stored counts the memories reported as stored since then.
	memories map[string]bool
	stored   int
}

func newSoakThread(v apptest.ThreadView) *soakThread {
	return &soakThread{Thread: acked.NewThread(v), memories: map[string]bool{}}
}

// handle records a notification of the thread.
func (th *soakThread) handle(s *soak, m apptest.Message) {
	switch m.Method {
	case "item/completed":
		s.count.items++
	case "turn/completed":
		s.count.turns++
	case "memory/updated":
		th.stored += int(gjson.GetBytes(m.Params, "stored").Int())
	}
	th.Handle(s.t, m)
}

// check requires that the server has everything that clients know.
func (s *soak) check() {
	s.t.Helper()
	s.setting.Check(s.t, "configuration", gjson.GetBytes(s.Call("config/read", apptest.Object{}), "config.tui.soak").Str)
	s.checkWritten()
	listed := map[string]bool{}
	for _, archived := range []bool{false, true} {
		for _, id := range s.checkIndex(archived) {
			require.NotContains(s.t, listed, id, "the thread is in both lists")
			listed[id] = archived
		}
	}
	s.checkDeleted(listed)
	for _, th := range s.threads {
		archived, ok := listed[th.ID]
		require.True(s.t, ok || len(th.Marks) == 0, "thread %s with %v is not listed", th.ID, th.Marks)
		if !ok { // lists contain only threads with a user message
			archived = filepath.Base(filepath.Dir(s.ReadThread(th.ID).Path)) == "archived_sessions"
		}
		th.Archived.Check(s.t, "archived", strings.TrimPrefix(fmt.Sprint(archived), "false"))
		s.checkThread(th)
	}
	s.checkMemories()
	s.checkSearch()
}

// checkWritten compares files that clients wrote. A file with a pending write can have any content.
func (s *soak) checkWritten() {
	for path, file := range s.files {
		got, err := os.ReadFile(path)
		require.NoError(s.t, err)
		if len(file.Pending) == 0 {
			require.Equal(s.t, file.Acked, string(got), path)
		}
		file.Acked, file.Pending = string(got), nil
	}
	left, err := filepath.Glob(filepath.Join(s.home, ".config.toml.*"))
	require.NoError(s.t, err)
	require.LessOrEqual(s.t, len(left), 1, "temporary files accumulate")
}

// checkIndex requires that the index and the files give the same list.
func (s *soak) checkIndex(archived bool) (ids []string) {
	s.t.Helper()
	for _, id := range gjson.GetBytes(s.Call("thread/list",
		apptest.Object{"limit": 1000, "archived": archived, "modelProviders": []string{}}), "data.#.id").Array() {
		ids = append(ids, id.Str)
	}
	page, err := rollout.NewStore(rollout.OS(), s.home).List(rollout.Query{Archived: archived})
	require.NoError(s.t, err)
	require.Empty(s.t, page.Skipped)
	var files []string
	for _, head := range page.Heads {
		files = append(files, head.ID)
	}
	require.ElementsMatch(s.t, files, ids, "archived %v", archived)
	return ids
}

// checkThread reads a thread and, if it is not archived, loads it.
func (s *soak) checkThread(th *soakThread) {
	s.t.Helper()
	v := s.ReadThread(th.ID)
	th.ResolveReverts(s.t, v)
	th.CheckView(s.t, v)
	th.Ended, th.Turn = map[string]string{}, ""
	th.AddView(v)
	if th.Archived.IsTrue() {
		return
	}
	resumed := s.CallThread("thread/resume", apptest.Object{"threadId": th.ID})
	th.CheckView(s.t, resumed)
	list := s.ContextList(th.ID)
	th.CheckList(s.t, list.Revision, list.Items)
}

// checkMemories requires the listed and stored memories, except forgotten ones.
func (s *soak) checkMemories() {
	s.t.Helper()
	for _, th := range s.threads {
		now := s.memoriesOf(th.ID)
		forgotten := 0
		for id := range th.memories {
			if s.forgotten[id] && !now[id] {
				forgotten++
				continue
			}
			require.Contains(s.t, now, id, "thread %s lost a memory", th.ID)
		}
		require.GreaterOrEqual(s.t, len(now), len(th.memories)-forgotten+th.stored, "thread %s; %d more were stored", th.ID,
			th.stored)
		s.count.memories += th.stored
		th.memories, th.stored = now, 0
	}
}

// memoriesOf returns the ids of all memories of a thread.
func (s *soak) memoriesOf(thread string) map[string]bool {
	s.t.Helper()
	found := map[string]bool{}
	for params := (apptest.Object{"sessionId": thread}); ; {
		page := gjson.ParseBytes(s.Call("memory/list", params))
		for _, id := range page.Get("data.#.id").Array() {
			found[id.Str] = true
		}
		if page.Get("nextCursor").Str == "" {
			return found
		}
		params["cursor"] = page.Get("nextCursor").Str
	}
}

// checkSearch requires that a search for a word of an input finds its thread.
func (s *soak) checkSearch() {
	s.t.Helper()
	if len(s.threads) == 0 {
		return
	}
	th := s.threads[s.rand.IntN(len(s.threads))]
	if len(th.Marks) == 0 {
		return
	}
	mark := th.Marks[s.rand.IntN(len(th.Marks))].Text
	found := s.Call("thread/search", apptest.Object{"searchTerm": mark, "limit": 100, "archived": th.Archived.IsTrue()})
	require.Contains(s.t, string(found), th.ID, "search for %q", mark)
}

// writeFile writes a file by fs/writeFile.
func (s *soak) writeFile(path, text string) {
	file := s.files[path]
	if file == nil {
		require.NoError(s.t, os.WriteFile(path, nil, 0o600))
		file = &acked.Value{}
		s.files[path] = file
	}
	acked := file.Request(text)
	s.sendAsync(nil, "fs/writeFile",
		apptest.Object{"path": path, "dataBase64": base64.StdEncoding.EncodeToString([]byte(text))},
		func(apptest.Message) { acked() })
}
