package listing_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/platform/disk"
	"appserver/rollout/faultfs"
	"appserver/rollout/listing"
)

func TestListIsNewestFirstAndPaged(t *testing.T) {
	store, mem := memStore()
	require.Equal(t, [][]string{{}}, pages(t, store, listing.Query{Limit: 3}), "no folder, no threads")
	threads(t, mem, store, 7)
	require.Equal(t, [][]string{{"6", "5", "4", "3", "2", "1", "0"}}, pages(t, store, listing.Query{}))
	require.Equal(t, [][]string{{"6", "5", "4"}, {"3", "2", "1"}, {"0"}}, pages(t, store, listing.Query{Limit: 3}))
	require.Equal(
		t,
		[][]string{{"0", "1", "2"}, {"3", "4", "5"}, {"6"}},
		pages(t, store, listing.Query{Limit: 3, Ascending: true}),
	)
	require.Equal(
		t,
		[][]string{{"6", "5", "4", "3", "2", "1", "0"}},
		pages(t, store, listing.Query{Limit: 7}),
		"a full page at the end is the last",
	)
}

func TestListByUpdate(t *testing.T) {
	store := newStore(disk.OS(), t.TempDir())
	threads(t, disk.OS(), store, 5)
	write := func(n, seconds, length int) {
		path, err := store.Find(idOf(n))
		require.NoError(t, err)
		text := metaLine + userLine(
			strconv.Itoa(n),
		) + `{"timestamp":"` + begin.Add(time.Duration(seconds)*time.Second).
			Format(time.RFC3339) +
			`","type":"event_msg","payload":{"type":"other","text":"` + strings.Repeat(
			"x",
			length,
		) + `"}}` + "\n" + `{"timestamp":"2030-`
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		modified := begin.AddDate(1, 0, -seconds)
		require.NoError(t, os.Chtimes(path, modified, modified))
	}
	for n, seconds := range []int{30, 10, 50, 10, 40} {
		write(n, seconds, n*n*20_000)
	}
	q := listing.Query{Limit: 2, SortKey: listing.SortUpdated}
	require.Equal(t, [][]string{{"2", "4"}, {"0", "3"}, {"1"}}, pages(t, store, q))
	q.Ascending = true
	require.Equal(t, [][]string{{"1", "3"}, {"0", "4"}, {"2"}}, pages(t, store, q))
	write(1, 60, 0)
	require.Equal(t, [][]string{{"3", "0"}, {"4", "2"}, {"1"}}, pages(t, store, q), "the file is read again")
}

func TestListByUpdateWithoutTimestamps(t *testing.T) {
	store := newStore(disk.OS(), t.TempDir())
	for n, seconds := range []int{30, 10, 20} {
		path := put(
			t,
			disk.OS(),
			store.PathFor(idOf(n), begin),
			strings.ReplaceAll(metaLine+userLine(strconv.Itoa(n)), "2026-01-02T", "no time "),
		)
		modified := begin.Add(time.Duration(seconds) * time.Second)
		require.NoError(t, os.Chtimes(path, modified, modified))
	}
	require.Equal(
		t,
		[][]string{{"0", "2", "1"}},
		pages(t, store, listing.Query{SortKey: listing.SortUpdated}),
		"by modification time",
	)
}

func TestACursorSurvivesAddedAndRemovedThreads(t *testing.T) {
	store, mem := memStore()
	threads(t, mem, store, 6)
	page, err := store.List(listing.Query{Limit: 3})
	require.NoError(t, err)
	require.NoError(t, mem.Remove(page.Heads[2].Path))
	put(t, mem, store.PathFor(threadB, begin.AddDate(1, 0, 0)), metaLine+userLine("new"))
	page, err = store.List(listing.Query{Limit: 3, Cursor: page.NextCursor})
	require.NoError(t, err)
	require.Equal(t, "2", page.Heads[0].Preview, "the thread of the cursor is removed")
}

func TestListOpensNoMoreThanThePageNeeds(t *testing.T) {
	mem := faultfs.NewMem(dir)
	threads(t, mem, newStore(mem, dir), 50)
	files := faultfs.Wrap(
		mem,
		faultfs.Fault{Only: []faultfs.Op{faultfs.OpOpen}, First: 6, Count: -1, Err: syscall.EMFILE},
	)
	page, err := newStore(files, dir).List(listing.Query{Limit: 5})
	require.NoError(t, err)
	require.Len(t, page.Heads, 5)
	require.Zero(t, files.Failures())
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
		q    listing.Query
		want []string
	}{
		"provider":        {listing.Query{Providers: []string{"b"}}, []string{"nothing", "write docs"}},
		"providers":       {listing.Query{Providers: []string{"b", "a"}}, []string{"nothing", "write docs", "Fix the Bug"}},
		"no such":         {listing.Query{Providers: []string{"c"}}, []string{}},
		"cwd":             {listing.Query{Cwds: []string{"/x"}}, []string{"nothing", "Fix the Bug"}},
		"source":          {listing.Query{Sources: []string{"cli"}}, []string{"Fix the Bug"}},
		"object source":   {listing.Query{Sources: []string{"subagent"}}, []string{"write docs"}},
		"without source":  {listing.Query{Sources: []string{""}}, []string{"nothing"}},
		"search":          {listing.Query{Search: "DOCS"}, []string{"write docs"}},
		"search in names": {listing.Query{Search: "bug"}, []string{"nothing", "Fix the Bug"}},
		"all at once": {
			listing.Query{Search: "bug", Cwds: []string{"/x"}, Providers: []string{"a"}}, []string{"Fix the Bug"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, [][]string{c.want}, pages(t, store, c.q))
		})
	}
	require.Equal(t, [][]string{{"nothing"}, {"Fix the Bug"}}, pages(t, store, listing.Query{Limit: 1, Search: "bug"}))
}

func TestArchivedThreadsAreListedSeparately(t *testing.T) {
	store, mem := memStore()
	put(
		t,
		mem,
		filepath.Join(dir, "archived_sessions", filepath.Base(store.PathFor(threadA, begin))),
		metaLine+userLine("old"),
	)
	put(t, mem, store.PathFor(threadB, begin), metaLine+userLine("new"))
	require.Equal(t, [][]string{{"new"}}, pages(t, store, listing.Query{}))
	require.Equal(t, [][]string{{"old"}}, pages(t, store, listing.Query{Archived: true}))
	require.Equal(t, [][]string{{"old"}}, pages(t, store, listing.Query{Archived: true, SortKey: listing.SortUpdated}))
}

func TestListOmitsFilesThatAreNotThreads(t *testing.T) {
	store, mem := memStore()
	put(t, mem, store.PathFor(idOf(0), begin), metaLine)
	empty := put(t, mem, store.PathFor(idOf(2), begin), "")
	put(t, mem, store.PathFor(idOf(3), begin), metaLine+userLine("a thread"))
	put(t, mem, store.PathFor(idOf(4), begin)+".bak", metaLine+userLine("backup"))
	put(t, mem, filepath.Join(dir, "sessions", "notes.txt"), "x")
	nameless := put(t, mem, filepath.Join(filepath.Dir(empty), "notes.jsonl"), metaLine+userLine("x"))
	require.Equal(t, [][]string{{"a thread"}}, pages(t, store, listing.Query{Limit: 1}))
	for _, key := range []listing.SortKey{listing.SortCreated, listing.SortUpdated} {
		page, err := store.List(listing.Query{SortKey: key})
		require.NoError(t, err)
		require.Len(t, page.Skipped, 2, "files that may be threads are reported")
		require.ErrorContains(t, errors.Join(page.Skipped...), empty+": it is empty")
		require.ErrorContains(t, errors.Join(page.Skipped...), nameless)
	}
}

func TestACursorOfAnotherListIsRejected(t *testing.T) {
	store, mem := memStore()
	threads(t, mem, store, 3)
	page, err := store.List(listing.Query{Limit: 1})
	require.NoError(t, err)
	for _, q := range []listing.Query{
		{Cursor: "x"},
		{Cursor: "!"},
		{Cursor: "e30"},
		{Cursor: page.NextCursor + "A"},
		{Cursor: page.NextCursor, SortKey: listing.SortUpdated},
	} {
		_, err := store.List(q)
		var bad *listing.CursorError
		require.ErrorAs(t, err, &bad)
		require.ErrorContains(t, err, "invalid cursor: "+q.Cursor)
	}
}

func TestListReportsThatItIsIncomplete(t *testing.T) {
	mem := faultfs.NewMem(dir)
	threads(t, mem, newStore(mem, dir), 3)
	list := func(err error, key listing.SortKey) (listing.Page, error) {
		files := faultfs.Wrap(mem, faultfs.Fault{Only: []faultfs.Op{faultfs.OpReadDir}, First: 3, Count: 1, Err: err})
		return newStore(files, dir).List(listing.Query{SortKey: key})
	}
	for _, key := range []listing.SortKey{listing.SortCreated, listing.SortUpdated} {
		_, err := list(syscall.EIO, key)
		require.ErrorIs(t, err, syscall.EIO)
		page, err := list(syscall.EACCES, key)
		require.NoError(t, err, "an unreadable folder hides its own files only")
		require.Len(t, page.Heads, 2, "the threads of the day before")
		require.Len(t, page.Skipped, 1)
		require.ErrorIs(t, page.Skipped[0], syscall.EACCES)
	}
}
