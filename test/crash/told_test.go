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

// wanting is a value that is set by requests: answered is that of the last one that was
// answered, and pending are those that were sent since.
type wanting struct {
	answered string
	pending  []string
}

// ask notes a request, and gives what its answer calls.
func (w *wanting) ask(value string) (answered func()) {
	w.pending = append(w.pending, value)
	return func() {
		if i := slices.Index(w.pending, value); i >= 0 {
			w.answered, w.pending = value, w.pending[i+1:]
		}
	}
}

// met checks what is there after a crash, and goes on from that.
func (w *wanting) met(t *testing.T, what, value string) {
	t.Helper()
	if value != w.answered {
		require.Contains(t, w.pending, value, "%s, answered was %q", what, w.answered)
	}
	w.answered, w.pending = value, nil
}

// yes is a wanting of "true" or "".
type yes struct{ wanting }

func (y *yes) value() bool { return y.answered == "true" }

// told is what clients were told of a thread.
type told struct {
	id string
	// items, by their ids, were said to be complete, or were read.
	items map[string]string
	// turns are those that were told, in their order, of is what has the items, and gone are
	// those that were said to have been taken back.
	turns []string
	of    map[string]string
	gone  map[string]bool
	// back are the turns from which on others were asked to be taken back, not answered yet.
	back []string
	// marks are of the inputs that were answered, each with its turn.
	marks    []mark
	name     wanting
	archived yes
	deleting bool // it was asked for, and not answered
	second   bool // requests about it come from the second client, if there is one
	ended    map[string]string
	turn     string
	// list is the context of the greatest revision that was told: what became of each item.
	revision int64
	list     map[string]string
	// memories are ids of memory/list; stored counts what was said to be kept since.
	memories map[string]bool
	stored   int
}

func newTold(v apptest.ThreadView) *told {
	w := &told{id: v.ID, items: map[string]string{}, of: map[string]string{}, gone: map[string]bool{},
		ended: map[string]string{}, list: map[string]string{}, memories: map[string]bool{}}
	w.name.answered = v.Name // a fork has that of its origin
	w.learn(v)
	return w
}

// learn takes all items of a view as told.
func (w *told) learn(v apptest.ThreadView) {
	for _, turn := range v.Turns {
		w.begun(turn.ID)
		for _, item := range turn.Items {
			id := gjson.GetBytes(item, "id").Str
			w.items[id], w.of[id] = string(item), turn.ID
		}
	}
}

// hear takes notice of what a server says of the thread.
func (w *told) hear(s *siege, m apptest.Message) {
	p := gjson.ParseBytes(m.Params)
	switch m.Method {
	case "item/completed":
		s.count.items++
		w.items[p.Get("item.id").Str], w.of[p.Get("item.id").Str] = p.Get("item").Raw, p.Get("turnId").Str
	case "turn/started":
		w.turn = p.Get("turn.id").Str
		w.begun(w.turn)
	case "turn/completed":
		s.count.turns++
		w.turn, w.ended[p.Get("turn.id").Str] = "", p.Get("turn.status").Str
	case "memory/updated":
		w.stored += int(p.Get("stored").Int())
	case "ContextItems":
		var list protocol.ContextItemsNotification
		require.NoError(s.t, json.Unmarshal(m.Params, &list))
		if list.Full {
			w.takeList(list.Revision, list.Items)
		}
	}
}

// takeList keeps a list that was told.
func (w *told) takeList(revision int64, items []protocol.ContextItem) {
	if revision < w.revision {
		return
	}
	w.revision, w.list = revision, statesOf(items)
}

func statesOf(items []protocol.ContextItem) map[string]string {
	list := map[string]string{}
	for _, item := range items {
		list[item.ID] = fmt.Sprintf("%s, included %v, pinned %v, replaced %v", item.Category, item.Included, item.Pinned,
			item.Replaced)
	}
	return list
}

// check compares what a server knows with what was told by those before it.
func (s *siege) check() {
	s.t.Helper()
	s.setting.met(s.t, "configuration", gjson.GetBytes(s.Call("config/read", apptest.Object{}), "config.tui.soak").Str)
	s.checkWritten()
	listed := map[string]bool{}
	for _, archived := range []bool{false, true} {
		for _, id := range s.checkIndex(archived) {
			require.NotContains(s.t, listed, id, "a thread is in one list")
			listed[id] = archived
		}
	}
	s.checkDeleted(listed)
	for _, w := range s.threads {
		archived, ok := listed[w.id]
		require.True(s.t, ok || len(w.marks) == 0, "thread %s with %v is not listed", w.id, w.marks)
		if !ok { // no list has threads without a word of the user
			archived = filepath.Base(filepath.Dir(s.ReadThread(w.id).Path)) == "archived_sessions"
		}
		w.archived.met(s.t, "archived", strings.TrimPrefix(fmt.Sprint(archived), "false"))
		s.checkThread(w)
	}
	s.checkMemories()
	s.checkSearch()
}

// checkWritten compares files that clients wrote. One that was being written is whatever it is.
func (s *siege) checkWritten() {
	for path, want := range s.files {
		got, err := os.ReadFile(path)
		require.NoError(s.t, err)
		if len(want.pending) == 0 {
			require.Equal(s.t, want.answered, string(got), path)
		}
		want.answered, want.pending = string(got), nil
	}
	left, err := filepath.Glob(filepath.Join(s.home, ".config.toml.*"))
	require.NoError(s.t, err)
	require.LessOrEqual(s.t, len(left), 1, "what kills leave does not add up")
}

// checkIndex compares the list that the index gives with that of the files.
func (s *siege) checkIndex(archived bool) (ids []string) {
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

// checkThread reads a thread and, where it is not archived, loads it.
func (s *siege) checkThread(w *told) {
	s.t.Helper()
	v := s.ReadThread(w.id)
	w.settle(s.t, v)
	w.checkView(s.t, v)
	w.ended, w.turn = map[string]string{}, ""
	w.learn(v)
	if w.archived.value() {
		return
	}
	resumed := s.CallThread("thread/resume", apptest.Object{"threadId": w.id})
	w.checkView(s.t, resumed)
	list := s.ContextList(w.id)
	require.GreaterOrEqual(s.t, list.Revision, w.revision, "edits are lost of %s", w.id)
	if got := statesOf(list.Items); list.Revision == w.revision {
		for id, state := range w.list {
			if got[id] == "" && strings.HasPrefix(state, "summary") {
				continue // what the model was reminded of goes when it is reminded of something else
			}
			require.Equal(s.t, state, got[id], "item %s of thread %s at revision %d", id, w.id, w.revision)
		}
	}
	w.takeList(list.Revision, list.Items)
}

func (w *told) checkView(t *testing.T, v apptest.ThreadView) {
	t.Helper()
	got := map[string]string{}
	for _, item := range apptest.ItemsOf(v) {
		got[gjson.Get(item, "id").Str] = item
	}
	for id, item := range w.items {
		require.Equal(t, item, got[id], "item %s of thread %s", id, w.id)
	}
	w.name.met(t, "name of "+w.id, v.Name)
	all := strings.Join(slices.Collect(maps.Values(got)), "\n")
	for _, m := range w.marks {
		require.Contains(t, all, m.text)
	}
	statuses := map[string]string{}
	for _, turn := range v.Turns {
		statuses[turn.ID] = turn.Status
		require.NotEqual(t, "inProgress", turn.Status)
		require.False(t, w.gone[turn.ID], "turn %s was said to be taken back", turn.ID)
	}
	for id, status := range w.ended {
		require.Equal(t, status, cmp.Or(statuses[id], "lost"), "turn %s", id)
	}
}

// checkMemories: what was listed or said to be kept is there, what is forgotten is not.
func (s *siege) checkMemories() {
	s.t.Helper()
	for _, w := range s.threads {
		now := s.memoriesOf(w.id)
		gone := 0
		for id := range w.memories {
			if s.forgotten[id] && !now[id] {
				gone++
				continue
			}
			require.Contains(s.t, now, id, "a memory of %s is lost", w.id)
		}
		require.GreaterOrEqual(s.t, len(now), len(w.memories)-gone+w.stored, "of %s %d more were said to be kept", w.id,
			w.stored)
		s.count.memories += w.stored
		w.memories, w.stored = now, 0
	}
}

// memoriesOf are the ids of all memories of a thread.
func (s *siege) memoriesOf(thread string) map[string]bool {
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

// checkSearch finds a thread by what was said in it.
func (s *siege) checkSearch() {
	s.t.Helper()
	if len(s.threads) == 0 {
		return
	}
	w := s.threads[s.rand.IntN(len(s.threads))]
	if len(w.marks) == 0 {
		return
	}
	mark := w.marks[s.rand.IntN(len(w.marks))].text
	found := s.Call("thread/search", apptest.Object{"searchTerm": mark, "limit": 100, "archived": w.archived.value()})
	require.Contains(s.t, string(found), w.id, "a search for %q", mark)
}

// writes has a client write a file.
func (s *siege) writes(path, text string) {
	want := s.files[path]
	if want == nil {
		require.NoError(s.t, os.WriteFile(path, nil, 0o600))
		want = &wanting{}
		s.files[path] = want
	}
	answered := want.ask(text)
	s.later(nil, "fs/writeFile",
		apptest.Object{"path": path, "dataBase64": base64.StdEncoding.EncodeToString([]byte(text))},
		func(apptest.Message) { answered() })
}
