package engine_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
)

func TestReadAThreadThatIsNotLoaded(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		thread := r.ask(1, read(id)).Get("thread")
		require.Equal(t, "notLoaded", thread.Get("status.type").Str)
		require.Equal(t, "say hello", thread.Get("preview").Str)
		require.Equal(t, "completed", thread.Get("turns.0.status").Str)
		require.Len(t, thread.Get("turns.0.items").Array(), 2)
		require.Empty(t, r.loaded())
		require.Empty(t, r.mem.Held(), "reading locks nothing")
		r.requireKept(id)
	})
}

// TestFewReadAtOnce checks that many reads of stored threads take turns, and that other requests do
// not wait for them.
func TestFewReadAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		g := r.disk.hold(r.gate(), faultfs.OpReadDir, home)
		var posted []protocol.Caller
		for range 10 {
			posted = append(posted, r.post(1, read(id)), r.post(1, list(protocol.ThreadListParams{})))
		}
		synctest.Wait()
		require.EqualValues(t, 4, g.waiting.Load())
		other := r.begin(2)
		r.turn(2, other, "say hello")
		require.Equal(t, []string{"completed"}, r.ends(2))
		g.open()
		for _, to := range posted {
			require.Nil(t, r.answer(to).err)
		}
	})
}

func TestResumeLoads(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		got := r.ask(1, resumeWith(protocol.ThreadResumeParams{ThreadID: id, Model: new("model-2")}))
		require.Equal(t, "model-2", got.Get("model").Str, "the settings that the client asks for")
		require.Equal(t, "completed", got.Get("thread.turns.0.status").Str)
		require.Equal(t, "idle", got.Get("thread.status.type").Str)
		require.Equal(t, []string{id}, r.loaded())
		joined := r.ask(2, resumeWith(protocol.ThreadResumeParams{ThreadID: id, Model: new("model-3")}))
		require.Equal(t, "model-2", joined.Get("model").Str, "a loaded thread keeps its settings")
		r.turn(2, id, "say more")
		require.Equal(t, []string{"completed"}, r.ends(1))
		require.Equal(t, "model-2", r.agent.asked()[1].Model)
		r.requireKept(id)
	})
}

// TestResumeAfterACrash checks that a turn that a crash cut off ends on the disk.
func TestResumeAfterACrash(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "hang")
		crashed := r.afterCrash()
		require.Equal(t, "interrupted", crashed.ask(1, read(id)).Get("thread.turns.0.status").Str)
		require.Equal(t, "interrupted", crashed.ask(1, resume(id)).Get("thread.turns.0.status").Str)
		crashed.turn(1, id, "say hello")
		require.Equal(t, []string{"completed"}, crashed.ends(1))
		require.NoError(t, crashed.close(time.Minute))
		require.Empty(t, crashed.checker.problems())
	})
}

func TestResumeByPath(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		path := r.ask(1, read(id)).Get("thread.path").Str
		byPath := func(path string) call {
			return resumeWith(protocol.ThreadResumeParams{ThreadID: "is not looked at", Path: &path})
		}
		require.Equal(t, id, r.ask(1, byPath(path)).Get("thread.id").Str)
		require.Equal(t, id, r.ask(2, byPath(path)).Get("thread.id").Str)
		require.Equal(t, []string{id}, r.loaded())
		require.NotEmpty(t, r.rejected(1, byPath("/nowhere/rollout.jsonl")))
		r.turn(1, id, "say more")
		require.Equal(t, []string{"completed"}, r.ends(2))

		elsewhere := "/elsewhere/rollout-2026-01-02T03-04-05-0190a6f8-1111-7aaa-8bbb-00000000000a.jsonl"
		require.NoError(t, r.mem.MkdirAll("/elsewhere", 0o700))
		put(t, r, elsewhere, strings.ReplaceAll(get(t, r, path), id, "0190a6f8-1111-7aaa-8bbb-00000000000a"))
		got := r.ask(1, byPath(elsewhere))
		require.Equal(t, elsewhere, got.Get("thread.path").Str)
		require.Equal(t, "completed", got.Get("thread.turns.1.status").Str)
	})
}

// TestDamageIsReported checks that a client receives the unreadable lines of a file.
func TestDamageIsReported(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		path := r.ask(1, read(id)).Get("thread.path").Str
		put(t, r, path, strings.Repeat("no JSON\n", 12))
		r.ask(1, resume(id))
		warnings := r.clients.notices(1, "warning")
		require.Len(t, warnings, 11)
		require.Contains(t, warnings[0].body.Get("message").Str, path+": line ")
		require.Contains(t, warnings[10].body.Get("message").Str, "2 more lines")
		require.Contains(t, get(t, r, path), "no JSON\n", "it stays in the file")
	})
}

func TestList(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		var ids []string // newest first
		for i := range 3 {
			ids = append([]string{r.stored(fmt.Sprintf("say %d", i))}, ids...)
			time.Sleep(time.Minute)
		}
		r.ask(1, resume(ids[0]))
		r.turn(1, ids[0], "hang")
		r.ask(1, resume(ids[1]))
		all := r.ask(1, list(protocol.ThreadListParams{})).Get("data").Array()
		require.Equal(t, ids, texts(all, "id"))
		require.Equal(t, []string{"active", "idle", "notLoaded"}, texts(all, "status.type"))
		require.Equal(t, []string{"say 2", "say 1", "say 0"}, texts(all, "preview"))

		var paged []string
		p := protocol.ThreadListParams{Limit: new(uint32(1))}
		for range 3 {
			page := r.ask(1, list(p))
			paged = append(paged, texts(page.Get("data").Array(), "id")...)
			p.Cursor = new(page.Get("nextCursor").Str)
		}
		require.Equal(t, ids, paged)
		require.Empty(t, *p.Cursor)

		require.Len(t, r.ask(1, list(protocol.ThreadListParams{Limit: new(uint32(0))})).Get("data").Array(), 1)
		select1 := func(p protocol.ThreadListParams) []string { return texts(r.ask(1, list(p)).Get("data").Array(), "id") }
		require.Equal(t, []string{ids[2], ids[1], ids[0]}, select1(protocol.ThreadListParams{SortDirection: new("asc")}))
		require.Equal(t, ids, select1(protocol.ThreadListParams{SortKey: new("updated_at"), Limit: new(uint32(1000))}))
		require.Equal(t, ids[1:2], select1(protocol.ThreadListParams{SearchTerm: new("Y 1")}))
		require.Equal(t, ids,
			select1(protocol.ThreadListParams{Cwd: protocol.OneOrMany{"/nowhere/"}, ModelProviders: &[]string{}}))
		require.Empty(t, select1(protocol.ThreadListParams{ModelProviders: &[]string{"other"}}))
		require.Empty(t, select1(protocol.ThreadListParams{Archived: new(true)}))
		for field, p := range map[string]protocol.ThreadListParams{
			"cursor": {Cursor: new("x")},
		} {
			m := r.answer(r.post(1, list(p)))
			require.NotNil(t, m.err, field)
			require.Equal(t, field, m.err.Data.Field)
			require.Equal(t, protocol.CodeInvalidParams, m.err.Code)
		}
	})
}

func texts(values []gjson.Result, path string) []string {
	found := []string{}
	for _, v := range values {
		found = append(found, v.Get(path).String())
	}
	return found
}

func TestNamesAreSetWithoutLoadingTheThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		r.ask(1, setName(id, " first \n"))
		require.Empty(t, r.loaded(), "a thread is not loaded for its name")
		require.Empty(t, r.mem.Held(), "nor kept locked")
		require.Equal(t, "first", r.ask(1, read(id)).Get("thread.name").Str)
		require.Equal(t, "first", r.clients.notices(1, "thread/name/updated")[0].body.Get("threadName").Str)
		require.Equal(t, "first", r.ask(1, list(protocol.ThreadListParams{})).Get("data.0.name").Str)
		r.ask(1, resume(id))
		r.ask(1, setName(id, "second"))
		require.Equal(t, "second", r.ask(1, list(protocol.ThreadListParams{})).Get("data.0.name").Str)
		r.requireKept(id)
	})
}

func TestLoadedList(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		stored := r.stored("say hello")
		require.Equal(t, []string{}, r.loaded())
		ids := []string{r.begin(1)}
		r.ask(1, resume(stored))
		ids = append(ids, stored, r.begin(1), r.begin(2), r.begin(1))
		require.Equal(t, ids, r.loaded(), "in the order of loading")
		r.ask(1, resume(ids[0]))
		require.Equal(t, ids, r.loaded())
		page := func(cursor string, limit uint32) ([]string, string) {
			p := protocol.ThreadLoadedListParams{Limit: &limit}
			if cursor != "" {
				p.Cursor = &cursor
			}
			got := r.ask(1, loadedList(p))
			return texts(got.Get("data").Array(), "@this"), got.Get("nextCursor").Str
		}
		first, cursor := page("", 2)
		require.Equal(t, ids[:2], first)
		second, cursor := page(cursor, 2)
		require.Equal(t, ids[2:4], second)
		third, cursor := page(cursor, 2)
		require.Equal(t, ids[4:], third)
		require.Empty(t, cursor)
		whole, cursor := page("", 5)
		require.Equal(t, ids, whole)
		require.Empty(t, cursor)
	})
}

// TestThreadsAreLoadedWhenReported checks that a client finds an announced thread in the list at once.
func TestThreadsAreLoadedWhenReported(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		stored := r.stored("say hello")
		for _, c := range []call{start(), resume(stored)} {
			var found []string
			r.clients.onMessage(func(m message) {
				if m.kind == response && m.method == c.method {
					to := r.post(5, loadedList(protocol.ThreadLoadedListParams{}))
					found = texts(r.clients.all(5, func(m message) bool { return m.to == to })[0].body.Get("data").Array(), "@this")
				}
			})
			id := r.ask(1, c).Get("thread.id").Str
			require.Contains(t, found, id, c.method)
		}
	})
}

func put(t *testing.T, r *rig, path, text string) {
	t.Helper()
	f, err := r.mem.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	require.NoError(t, err)
	_, err = f.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func get(t *testing.T, r *rig, path string) string {
	t.Helper()
	var f rollout.File
	f, err := r.mem.OpenFile(path, os.O_RDONLY, 0)
	require.NoError(t, err)
	info, err := f.Stat()
	require.NoError(t, err)
	data := make([]byte, info.Size())
	_, err = f.ReadAt(data, 0)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return string(data)
}
