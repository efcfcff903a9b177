package rollout_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
)

func userLine(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"timestamp":"2026-01-02T03:04:06.000Z","ordinal":1,"type":"event_msg","payload":{"type":"user_message","message":` + string(quoted) + "}}\n"
}

func metaWith(members string) string {
	return `{"timestamp":"2026-01-02T03:04:05.678Z","type":"session_meta","payload":{` + members + "}}\n"
}

func idOf(n int) string { return fmt.Sprintf("0190a6f8-1111-7aaa-8bbb-%012d", n) }

// threads fills a store with threads numbered from 0, each a bit more than half a day
// younger than the one before.
func threads(t *testing.T, disk rollout.FS, store *rollout.Store, n int) {
	t.Helper()
	for i := range n {
		put(t, disk, store.PathFor(idOf(i), begin.Add(time.Duration(i)*13*time.Hour)), metaWith(`"id":"x"`)+userLine(strconv.Itoa(i)))
	}
}

// pages is the previews on all pages of a query.
func pages(t *testing.T, store *rollout.Store, q rollout.Query) [][]string {
	t.Helper()
	var all [][]string
	for range 100 {
		page, err := store.List(q)
		require.NoError(t, err)
		previews := []string{}
		for _, h := range page.Heads {
			previews = append(previews, h.Preview)
		}
		all = append(all, previews)
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return all
		}
	}
	require.Fail(t, "the pages never end")
	return nil
}

func TestListIsNewestFirstAndPaged(t *testing.T) {
	store, mem := memStore()
	require.Equal(t, [][]string{{}}, pages(t, store, rollout.Query{Limit: 3}), "no folder, no threads")
	threads(t, mem, store, 7)
	require.Equal(t, [][]string{{"6", "5", "4", "3", "2", "1", "0"}}, pages(t, store, rollout.Query{}))
	require.Equal(t, [][]string{{"6", "5", "4"}, {"3", "2", "1"}, {"0"}}, pages(t, store, rollout.Query{Limit: 3}))
	require.Equal(t, [][]string{{"0", "1", "2"}, {"3", "4", "5"}, {"6"}}, pages(t, store, rollout.Query{Limit: 3, Ascending: true}))
	require.Equal(t, [][]string{{"6", "5", "4", "3", "2", "1", "0"}}, pages(t, store, rollout.Query{Limit: 7}), "a page that ends at the end is the last")
}

func TestListByUpdate(t *testing.T) {
	store := rollout.NewStore(rollout.OS(), t.TempDir())
	threads(t, rollout.OS(), store, 5)
	write := func(n, seconds, length int) {
		path, err := store.Find(idOf(n))
		require.NoError(t, err)
		text := metaLine + userLine(strconv.Itoa(n)) + `{"timestamp":"` + begin.Add(time.Duration(seconds)*time.Second).Format(time.RFC3339) +
			`","type":"event_msg","payload":{"type":"other","text":"` + strings.Repeat("x", length) + `"}}` + "\n" + `{"timestamp":"2030-`
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		modified := begin.AddDate(1, 0, -seconds)
		require.NoError(t, os.Chtimes(path, modified, modified))
	}
	for n, seconds := range []int{30, 10, 50, 10, 40} {
		write(n, seconds, n*n*20_000)
	}
	q := rollout.Query{Limit: 2, SortKey: rollout.SortUpdated}
	require.Equal(t, [][]string{{"2", "4"}, {"0", "3"}, {"1"}}, pages(t, store, q))
	q.Ascending = true
	require.Equal(t, [][]string{{"1", "3"}, {"0", "4"}, {"2"}}, pages(t, store, q))
	write(1, 60, 0)
	require.Equal(t, [][]string{{"3", "0"}, {"4", "2"}, {"1"}}, pages(t, store, q), "the file is read again")
}

func TestListByUpdateWithoutTimestamps(t *testing.T) {
	store := rollout.NewStore(rollout.OS(), t.TempDir())
	for n, seconds := range []int{30, 10, 20} {
		path := put(t, rollout.OS(), store.PathFor(idOf(n), begin), strings.ReplaceAll(metaLine+userLine(strconv.Itoa(n)), "2026-01-02T", "no time "))
		modified := begin.Add(time.Duration(seconds) * time.Second)
		require.NoError(t, os.Chtimes(path, modified, modified))
	}
	require.Equal(t, [][]string{{"0", "2", "1"}}, pages(t, store, rollout.Query{SortKey: rollout.SortUpdated}), "by modification time")
}

func TestAPageStandsWhileThreadsComeAndGo(t *testing.T) {
	store, mem := memStore()
	threads(t, mem, store, 6)
	page, err := store.List(rollout.Query{Limit: 3})
	require.NoError(t, err)
	require.NoError(t, mem.Remove(page.Heads[2].Path))
	put(t, mem, store.PathFor(threadB, begin.AddDate(1, 0, 0)), metaLine+userLine("new"))
	page, err = store.List(rollout.Query{Limit: 3, Cursor: page.NextCursor})
	require.NoError(t, err)
	require.Equal(t, "2", page.Heads[0].Preview, "goes on where it was, though that thread is gone")
}

func TestListOpensNoMoreThanThePageNeeds(t *testing.T) {
	mem := faultfs.NewMem(home)
	threads(t, mem, rollout.NewStore(mem, home), 50)
	disk := faultfs.Wrap(mem, faultfs.Fault{Only: []faultfs.Op{faultfs.OpOpen}, First: 6, Count: -1, Err: syscall.EMFILE})
	page, err := rollout.NewStore(disk, home).List(rollout.Query{Limit: 5})
	require.NoError(t, err)
	require.Len(t, page.Heads, 5)
	require.Zero(t, disk.Failures())
}

func TestListFilters(t *testing.T) {
	store, mem := memStore()
	add := func(n int, preview, meta string) {
		put(t, mem, store.PathFor(idOf(n), begin.Add(time.Duration(n)*time.Hour)), metaWith(meta)+userLine(preview))
	}
	add(0, "Fix the Bug", `"model_provider":"a","cwd":"/x","source":"cli"`)
	add(1, "write docs", `"model_provider":"b","cwd":"/y","source":{"subagent":"review"}`)
	add(2, "nothing", `"model_provider":"b","cwd":"/x"`)
	require.NoError(t, store.AppendName(idOf(2), "Another BUG", begin))
	for name, c := range map[string]struct {
		q    rollout.Query
		want []string
	}{
		"provider":        {rollout.Query{Providers: []string{"b"}}, []string{"nothing", "write docs"}},
		"providers":       {rollout.Query{Providers: []string{"b", "a"}}, []string{"nothing", "write docs", "Fix the Bug"}},
		"no such":         {rollout.Query{Providers: []string{"c"}}, []string{}},
		"cwd":             {rollout.Query{Cwds: []string{"/x"}}, []string{"nothing", "Fix the Bug"}},
		"source":          {rollout.Query{Sources: []string{"cli"}}, []string{"Fix the Bug"}},
		"object source":   {rollout.Query{Sources: []string{"subagent"}}, []string{"write docs"}},
		"without source":  {rollout.Query{Sources: []string{""}}, []string{"nothing"}},
		"search":          {rollout.Query{Search: "DOCS"}, []string{"write docs"}},
		"search in names": {rollout.Query{Search: "bug"}, []string{"nothing", "Fix the Bug"}},
		"all at once":     {rollout.Query{Search: "bug", Cwds: []string{"/x"}, Providers: []string{"a"}}, []string{"Fix the Bug"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, [][]string{c.want}, pages(t, store, c.q))
		})
	}
	require.Equal(t, [][]string{{"nothing"}, {"Fix the Bug"}}, pages(t, store, rollout.Query{Limit: 1, Search: "bug"}))
}

func TestArchivedThreadsAreAListOfTheirOwn(t *testing.T) {
	store, mem := memStore()
	put(t, mem, filepath.Join(home, "archived_sessions", filepath.Base(store.PathFor(threadA, begin))), metaLine+userLine("old"))
	put(t, mem, store.PathFor(threadB, begin), metaLine+userLine("new"))
	require.Equal(t, [][]string{{"new"}}, pages(t, store, rollout.Query{}))
	require.Equal(t, [][]string{{"old"}}, pages(t, store, rollout.Query{Archived: true}))
	require.Equal(t, [][]string{{"old"}}, pages(t, store, rollout.Query{Archived: true, SortKey: rollout.SortUpdated}))
}

func TestListLeavesOutWhatIsNoThread(t *testing.T) {
	store, mem := memStore()
	put(t, mem, store.PathFor(idOf(0), begin), metaLine)
	empty := put(t, mem, store.PathFor(idOf(2), begin), "")
	put(t, mem, store.PathFor(idOf(3), begin), metaLine+userLine("a thread"))
	put(t, mem, store.PathFor(idOf(4), begin)+".bak", metaLine+userLine("backup"))
	put(t, mem, filepath.Join(home, "sessions", "notes.txt"), "x")
	nameless := put(t, mem, filepath.Join(filepath.Dir(empty), "notes.jsonl"), metaLine+userLine("x"))
	require.Equal(t, [][]string{{"a thread"}}, pages(t, store, rollout.Query{Limit: 1}))
	for _, key := range []rollout.SortKey{rollout.SortCreated, rollout.SortUpdated} {
		page, err := store.List(rollout.Query{SortKey: key})
		require.NoError(t, err)
		require.Len(t, page.Skipped, 2, "what may be a thread is told of")
		require.ErrorContains(t, errors.Join(page.Skipped...), empty+": it is empty")
		require.ErrorContains(t, errors.Join(page.Skipped...), nameless)
	}
}

func TestACursorOfAnotherListIsRefused(t *testing.T) {
	store, mem := memStore()
	threads(t, mem, store, 3)
	page, err := store.List(rollout.Query{Limit: 1})
	require.NoError(t, err)
	for _, q := range []rollout.Query{
		{Cursor: "x"},
		{Cursor: "!"},
		{Cursor: "e30"},
		{Cursor: page.NextCursor + "A"},
		{Cursor: page.NextCursor, SortKey: rollout.SortUpdated},
	} {
		_, err := store.List(q)
		var bad *rollout.CursorError
		require.ErrorAs(t, err, &bad)
		require.ErrorContains(t, err, "invalid cursor: "+q.Cursor)
	}
}

func TestListTellsWhenItIsIncomplete(t *testing.T) {
	mem := faultfs.NewMem(home)
	threads(t, mem, rollout.NewStore(mem, home), 3)
	list := func(err error, key rollout.SortKey) (rollout.Page, error) {
		disk := faultfs.Wrap(mem, faultfs.Fault{Only: []faultfs.Op{faultfs.OpReadDir}, First: 3, Count: 1, Err: err})
		return rollout.NewStore(disk, home).List(rollout.Query{SortKey: key})
	}
	for _, key := range []rollout.SortKey{rollout.SortCreated, rollout.SortUpdated} {
		_, err := list(syscall.EIO, key)
		require.ErrorIs(t, err, syscall.EIO)
		page, err := list(syscall.EACCES, key)
		require.NoError(t, err, "a folder of somebody else's hides only itself")
		require.Len(t, page.Heads, 2, "those of the day before")
		require.Len(t, page.Skipped, 1)
		require.ErrorIs(t, page.Skipped[0], syscall.EACCES)
	}
}

func TestFind(t *testing.T) {
	store, mem := memStore()
	threads(t, mem, store, 5)
	archived := put(t, mem, filepath.Join(home, "archived_sessions", filepath.Base(store.PathFor(threadA, begin))), metaLine)
	odd := put(t, mem, filepath.Join(home, "sessions", "moved", "rollout-x-"+threadB+".jsonl"), metaLine)
	path, err := store.Find(idOf(3))
	require.NoError(t, err)
	require.Equal(t, store.PathFor(idOf(3), begin.Add(39*time.Hour)), path)
	path, err = store.Find(threadA)
	require.NoError(t, err)
	require.Equal(t, archived, path)
	path, err = store.Find(threadB)
	require.NoError(t, err)
	require.Equal(t, odd, path)
	for _, id := range []string{idOf(99), "", "x", "*"} {
		_, err = store.Find(id)
		var missing *rollout.NotFoundError
		require.ErrorAs(t, err, &missing)
		require.EqualError(t, err, "no rollout found for thread id "+id)
	}
}

func TestFindDoesNotTakeAFailureForAbsence(t *testing.T) {
	mem := faultfs.NewMem(home)
	threads(t, mem, rollout.NewStore(mem, home), 3)
	disk := faultfs.Wrap(mem, faultfs.Fault{Only: []faultfs.Op{faultfs.OpReadDir}, First: 3, Count: 1, Err: syscall.EMFILE})
	_, err := rollout.NewStore(disk, home).Find(idOf(99))
	require.ErrorIs(t, err, syscall.EMFILE)
}
