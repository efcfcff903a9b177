package crash

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/test/apptest"
)

// ackedValue is a value that requests change. acked is the value of the last acknowledged request,
// and pending are the values of later ones.
type ackedValue struct {
	acked   string
	pending []string
}

// request records a request and returns the function to call on its response.
func (v *ackedValue) request(value string) (acked func()) {
	v.pending = append(v.pending, value)
	return func() {
		if i := slices.Index(v.pending, value); i >= 0 {
			v.acked, v.pending = value, v.pending[i+1:]
		}
	}
}

// check requires that the value after a crash is acked or pending, and continues from it.
func (v *ackedValue) check(t *testing.T, what, value string) {
	t.Helper()
	if value != v.acked {
		require.Contains(t, v.pending, value, "%s; acknowledged: %q", what, v.acked)
	}
	v.acked, v.pending = value, nil
}

// ackedBool is an ackedValue with "true" or "".
type ackedBool struct{ ackedValue }

func (v *ackedBool) value() bool { return v.acked == "true" }

// soakThread is the state of a thread that clients know.
type soakThread struct {
	id string
	// items are the completed items by id, and those that were read.
	items map[string]string
	// turns are the known turns in order, turnOf has the turn of each item, and reverted are the turns
	// whose revert was acknowledged.
	turns    []string
	turnOf   map[string]string
	reverted map[string]bool
	// pendingReverts are the first turns of unanswered reverts.
	pendingReverts []string
	// marks are the words of acknowledged inputs.
	marks    []mark
	name     ackedValue
	archived ackedBool
	deleting bool // deletion requested, but not acknowledged
	second   bool // the second client, if connected, sends its requests
	ended    map[string]string
	turn     string
	// list has the state of each context item at revision, the greatest one received.
	revision int64
	list     map[string]string
	// memories are the ids in memory/list. stored counts the memories reported as stored since then.
	memories map[string]bool
	stored   int
}

func newSoakThread(v apptest.ThreadView) *soakThread {
	th := &soakThread{id: v.ID, items: map[string]string{}, turnOf: map[string]string{}, reverted: map[string]bool{},
		ended: map[string]string{}, list: map[string]string{}, memories: map[string]bool{}}
	th.name.acked = v.Name // a fork keeps the name of its origin
	th.addView(v)
	return th
}

// addView records all items of a view.
func (th *soakThread) addView(v apptest.ThreadView) {
	for _, turn := range v.Turns {
		th.addTurn(turn.ID)
		for _, item := range turn.Items {
			id := gjson.GetBytes(item, "id").Str
			th.items[id], th.turnOf[id] = string(item), turn.ID
		}
	}
}

// handle records a notification of the thread.
func (th *soakThread) handle(s *soak, m apptest.Message) {
	p := gjson.ParseBytes(m.Params)
	switch m.Method {
	case "item/completed":
		s.count.items++
		th.items[p.Get("item.id").Str], th.turnOf[p.Get("item.id").Str] = p.Get("item").Raw, p.Get("turnId").Str
	case "turn/started":
		th.turn = p.Get("turn.id").Str
		th.addTurn(th.turn)
	case "turn/completed":
		s.count.turns++
		th.turn, th.ended[p.Get("turn.id").Str] = "", p.Get("turn.status").Str
	case "memory/updated":
		th.stored += int(p.Get("stored").Int())
	case "ContextItems":
		var list protocol.ContextItemsNotification
		require.NoError(s.t, json.Unmarshal(m.Params, &list))
		if list.Full {
			th.setList(list.Revision, list.Items)
		}
	}
}

// setList records a context list, unless it is older than the known one.
func (th *soakThread) setList(revision int64, items []protocol.ContextItem) {
	if revision < th.revision {
		return
	}
	th.revision, th.list = revision, statesOf(items)
}

func statesOf(items []protocol.ContextItem) map[string]string {
	list := map[string]string{}
	for _, item := range items {
		list[item.ID] = fmt.Sprintf("%s, included %v, pinned %v, replaced %v", item.Category, item.Included, item.Pinned,
			item.Replaced)
	}
	return list
}

// check requires that the server has everything that clients know.
func (s *soak) check() {
	s.t.Helper()
	s.setting.check(s.t, "configuration", gjson.GetBytes(s.Call("config/read", apptest.Object{}), "config.tui.soak").Str)
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
		archived, ok := listed[th.id]
		require.True(s.t, ok || len(th.marks) == 0, "thread %s with %v is not listed", th.id, th.marks)
		if !ok { // lists contain only threads with a user message
			archived = filepath.Base(filepath.Dir(s.ReadThread(th.id).Path)) == "archived_sessions"
		}
		th.archived.check(s.t, "archived", strings.TrimPrefix(fmt.Sprint(archived), "false"))
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
		if len(file.pending) == 0 {
			require.Equal(s.t, file.acked, string(got), path)
		}
		file.acked, file.pending = string(got), nil
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
	v := s.ReadThread(th.id)
	th.resolveReverts(s.t, v)
	th.checkView(s.t, v)
	th.ended, th.turn = map[string]string{}, ""
	th.addView(v)
	if th.archived.value() {
		return
	}
	resumed := s.CallThread("thread/resume", apptest.Object{"threadId": th.id})
	th.checkView(s.t, resumed)
	list := s.ContextList(th.id)
	require.GreaterOrEqual(s.t, list.Revision, th.revision, "thread %s lost edits", th.id)
	if got := statesOf(list.Items); list.Revision == th.revision {
		for id, state := range th.list {
			if got[id] == "" && strings.HasPrefix(state, "summary") {
				continue // a new reminder replaces an older one
			}
			require.Equal(s.t, state, got[id], "item %s of thread %s at revision %d", id, th.id, th.revision)
		}
	}
	th.setList(list.Revision, list.Items)
}

func (th *soakThread) checkView(t *testing.T, v apptest.ThreadView) {
	t.Helper()
	got := map[string]string{}
	for _, item := range apptest.ItemsOf(v) {
		got[gjson.Get(item, "id").Str] = item
	}
	for id, item := range th.items {
		require.Equal(t, item, got[id], "item %s of thread %s", id, th.id)
	}
	th.name.check(t, "name of "+th.id, v.Name)
	all := strings.Join(slices.Collect(maps.Values(got)), "\n")
	for _, m := range th.marks {
		require.Contains(t, all, m.text)
	}
	statuses := map[string]string{}
	for _, turn := range v.Turns {
		statuses[turn.ID] = turn.Status
		require.NotEqual(t, "inProgress", turn.Status)
		require.False(t, th.reverted[turn.ID], "turn %s was reverted", turn.ID)
	}
	for id, status := range th.ended {
		require.Equal(t, status, cmp.Or(statuses[id], "missing"), "turn %s", id)
	}
}

// checkMemories requires the listed and stored memories, except forgotten ones.
func (s *soak) checkMemories() {
	s.t.Helper()
	for _, th := range s.threads {
		now := s.memoriesOf(th.id)
		forgotten := 0
		for id := range th.memories {
			if s.forgotten[id] && !now[id] {
				forgotten++
				continue
			}
			require.Contains(s.t, now, id, "thread %s lost a memory", th.id)
		}
		require.GreaterOrEqual(s.t, len(now), len(th.memories)-forgotten+th.stored, "thread %s; %d more were stored", th.id,
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
	if len(th.marks) == 0 {
		return
	}
	mark := th.marks[s.rand.IntN(len(th.marks))].text
	found := s.Call("thread/search", apptest.Object{"searchTerm": mark, "limit": 100, "archived": th.archived.value()})
	require.Contains(s.t, string(found), th.id, "search for %q", mark)
}

// writeFile writes a file by fs/writeFile.
func (s *soak) writeFile(path, text string) {
	file := s.files[path]
	if file == nil {
		require.NoError(s.t, os.WriteFile(path, nil, 0o600))
		file = &ackedValue{}
		s.files[path] = file
	}
	acked := file.request(text)
	s.sendAsync(nil, "fs/writeFile",
		apptest.Object{"path": path, "dataBase64": base64.StdEncoding.EncodeToString([]byte(text))},
		func(apptest.Message) { acked() })
}
