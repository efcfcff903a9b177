package rollout_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/rollout/files"
	"appserver/rollout/listing"
	threads "appserver/rollout/store"
)

const (
	secondFile = "0190a6f8-2222-7aaa-8bbb-000000000001"
	thirdFile  = "0190a6f8-3333-7aaa-8bbb-000000000001"
)

// segment returns a file of a thread that the reference implementation has reverted. It
// continues another file of the thread below an ordinal.
func segment(from string, end int, own ...string) string {
	text := fmt.Sprintf(`{"timestamp":"2026-01-02T03:04:05.000Z","ordinal":%d,"type":"session_meta",`+
		`"payload":{"id":%q,"history_base":{"thread_id":%q,"end_ordinal_exclusive":%d}}}`+"\n", end, threadA, from, end)
	for i, said := range own {
		text += saidAt(end+1+i, said)
	}
	return text
}

func saidAt(ordinal int, said string) string {
	return strings.Replace(userLine(said), `"ordinal":1`, fmt.Sprintf(`"ordinal":%d`, ordinal), 1)
}

// reverted creates thread A after two reverts: of "third", then of "fifth".
func reverted(t *testing.T, disk rollout.FS, store *rollout.Store) (paths []string) {
	t.Helper()
	at := strings.TrimSuffix(store.PathFor(threadA, begin), ".jsonl")
	return []string{
		put(t, disk, at+".jsonl", metaLine+saidAt(1, "first")+saidAt(2, "second")+saidAt(3, "third")),
		put(t, disk, at+"_"+secondFile+".jsonl", segment(threadA, 3, "fourth", "fifth")),
		put(t, disk, strings.TrimSuffix(store.PathFor(threadA, begin.Add(40*time.Hour)), ".jsonl")+"_"+thirdFile+".jsonl",
			segment(secondFile, 5, "sixth")),
	}
}

func said(t *testing.T, store *rollout.Store, path string) (texts []string) {
	t.Helper()
	contents, err := store.Read(path)
	require.NoError(t, err)
	require.Empty(t, contents.Damage)
	for _, l := range contents.Lines {
		if m, ok := listing.MessageOf(l); ok {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

var remaining = []string{"first", "second", "fourth", "sixth"}

func TestARevertedThreadIsOne(t *testing.T) {
	store, mem := memStore()
	paths := reverted(t, mem, store)
	for i, n := range []int{1, 20, 60} {
		put(t, mem, store.PathFor(idOf(n), begin.Add(time.Duration(n)*time.Hour)),
			metaWith(`"id":"x"`)+userLine([]string{"old", "middle", "new"}[i]))
	}
	for _, key := range []rollout.SortKey{rollout.SortCreated, rollout.SortUpdated} {
		for _, limit := range []int{0, 1, 2, 3} {
			q := rollout.Query{Limit: limit, SortKey: key}
			down := flat(pages(t, store, q))
			q.Ascending = true
			up := flat(pages(t, store, q))
			if key == rollout.SortCreated {
				require.Equal(t, []string{"new", "first", "middle", "old"}, down)
				require.Equal(t, []string{"old", "middle", "first", "new"}, up)
			}
			require.ElementsMatch(t, []string{"new", "first", "middle", "old"}, down)
			require.ElementsMatch(t, down, up)
		}
	}
	found, err := store.Find(threadA)
	require.NoError(t, err)
	require.Equal(t, paths[2], found)
	require.Equal(t, remaining, said(t, store, found))
	require.Equal(t, []string{"first", "second", "fourth", "fifth"}, said(t, store, paths[1]))

	require.NoError(t, appendAndClose(t, store, found, nil, rolloutLine(7, "seventh")))
	require.Equal(t, append(remaining, "seventh"), said(t, store, found))
	require.NotContains(t, get(t, mem, paths[0])+get(t, mem, paths[1]), "seventh")
}

func flat(pages [][]string) (all []string) {
	for _, p := range pages {
		all = append(all, p...)
	}
	return all
}

func rolloutLine(ordinal int64, said string) protocol.RolloutLine {
	return protocol.RolloutLine{Timestamp: "2026-01-02T03:04:07.000Z", Ordinal: &ordinal, Type: protocol.LineEventMsg,
		Payload: fmt.Appendf(nil, `{"type":"user_message","message":%q}`, said)}
}

// TestARevertIsListedBeforeTheNextTurn has a file without a message of its own.
func TestARevertIsListedBeforeTheNextTurn(t *testing.T) {
	store, mem := memStore()
	at := strings.TrimSuffix(store.PathFor(threadA, begin), ".jsonl")
	put(t, mem, at+".jsonl", metaLine+saidAt(1, "first")+saidAt(2, "second"))
	put(t, mem, at+"_"+secondFile+".jsonl", segment(threadA, 2))
	require.Equal(t, []string{"first"}, flat(pages(t, store, rollout.Query{})))
	put(t, mem, at+"_"+thirdFile+".jsonl", segment(threadA, 1))
	require.Empty(t, flat(pages(t, store, rollout.Query{})), "all of it was taken back")
}

func TestARevertedThreadGoesToTheArchiveAndBack(t *testing.T) {
	dir := t.TempDir()
	store := rollout.NewStore(rollout.OS(), dir)
	paths := reverted(t, rollout.OS(), store)
	require.NoError(t, store.CheckArchive(paths[2]))
	archived, err := store.Archive(paths[2])
	require.NoError(t, err)
	require.Equal(t, filepath.Base(paths[2]), filepath.Base(archived))
	for _, path := range filesBelow(t, dir) {
		require.True(t, store.IsArchived(path), path)
	}
	require.Empty(t, flat(pages(t, store, rollout.Query{})))
	require.Equal(t, []string{"first"}, flat(pages(t, store, rollout.Query{Archived: true})))
	require.Equal(t, remaining, said(t, store, archived))
	back, err := store.Unarchive(archived)
	require.NoError(t, err)
	require.Equal(t, paths[2], back)
	require.ElementsMatch(t, paths, filesBelow(t, dir))
}

// TestRetentionOfARevertedThread checks that reverted turns stay hidden.
func TestRetentionOfARevertedThread(t *testing.T) {
	for _, remove := range []bool{false, true} {
		dir := t.TempDir()
		store := rollout.NewStore(rollout.OS(), dir)
		paths := reverted(t, rollout.OS(), store)
		var size int64
		for _, path := range paths {
			size += int64(len(get(t, rollout.OS(), path)))
		}
		bounds, later := rollout.Retention{MaxAge: day, Delete: remove}, time.Now().Add(2*day)
		done := store.Retain(t.Context(), bounds, later, store.Retire)
		require.Len(t, done.Gone, 1)
		require.Empty(t, done.Kept)
		require.Empty(t, flat(pages(t, store, rollout.Query{})))
		if remove {
			require.Empty(t, filesBelow(t, dir))
			continue
		}
		require.Equal(t, size, done.ArchivedBytes)
		require.Equal(t, []string{"first"}, flat(pages(t, store, rollout.Query{Archived: true})))
		archived, err := store.Find(threadA)
		require.NoError(t, err)
		require.True(t, store.IsArchived(archived))
		require.Equal(t, remaining, said(t, store, archived))
	}
}

// TestMovesDoNotShowRevertedTurns interrupts moves at each operation of the disk, or fails one
// operation.
func TestMovesDoNotShowRevertedTurns(t *testing.T) {
	for _, count := range []int{1, 1 << 20} {
		for first, hit := 0, true; hit; first++ {
			store, mem := memStore()
			reverted(t, mem, store)
			faulty := faultfs.Wrap(mem, faultfs.Fault{First: first, Count: count, Err: syscall.EIO})
			for _, do := range []func(*rollout.Store, string) (string, error){(*rollout.Store).Archive,
				(*rollout.Store).Unarchive} {
				path, err := store.Find(threadA)
				require.NoError(t, err)
				_, moved := do(rollout.NewStore(faulty, home), path)
				path, err = store.Find(threadA)
				require.NoError(t, err)
				require.Equal(t, remaining, said(t, store, path))
				if moved == nil && store.IsArchived(path) {
					require.Empty(t, flat(pages(t, store, rollout.Query{})), "operation %d", first)
				}
				if !store.IsArchived(path) {
					_, err = store.Archive(path)
					require.NoError(t, err, "the next one goes on")
				}
			}
			hit = faulty.Failures() > 0
		}
	}
}

func TestARevertedThreadIsDeletedWhole(t *testing.T) {
	dir := t.TempDir()
	store := rollout.NewStore(rollout.OS(), dir)
	reverted(t, rollout.OS(), store)
	fork := store.PathFor(threadB, begin)
	put(t, rollout.OS(), fork, strings.ReplaceAll(segment(secondFile, 5), `"id":"`+threadA, `"id":"`+threadB))
	require.Equal(t, []string{"first", "second", "fourth"}, said(t, store, fork))
	require.ErrorContains(t, store.Delete(threadA), "forked history still references it: that of thread "+threadB)
	require.NoError(t, store.Delete(threadB))
	require.NoError(t, store.Delete(threadA))
	require.Empty(t, filesBelow(t, dir))
}

func TestVerifyReportsAMissingHistory(t *testing.T) {
	store, mem := memStore()
	paths := reverted(t, mem, store)
	for _, path := range paths {
		require.Empty(t, store.Verify(path).Findings, path)
	}
	require.NoError(t, mem.Remove(paths[1]))
	require.Equal(t, []rollout.FindingKind{rollout.FoundOrigin}, kinds(store.Verify(paths[2])))
}

// TestAThreadIsNotReadWithoutItsHistory fails each operation of the disk in turn.
func TestAThreadIsNotReadWithoutItsHistory(t *testing.T) {
	for first, hit := 0, true; hit; first++ {
		store, mem := memStore()
		paths := reverted(t, mem, store)
		faulty := faultfs.Wrap(mem, faultfs.Fault{First: first, Count: 1, Err: syscall.EMFILE})
		log, contents, err := rollout.NewStore(faulty, home).Open(paths[2])
		if err == nil {
			require.Len(t, contents.Lines, 5, "operation %d: %v", first, contents.Damage)
			_ = log.Close() // Close may be the failing operation
		}
		hit = faulty.Failures() > 0
		require.Empty(t, mem.Held())
	}
}

// TestAnImportHasItsWholeHistory imports a thread that was exported with its inherited lines.
func TestAnImportHasItsWholeHistory(t *testing.T) {
	store, mem := memStore()
	paths := reverted(t, mem, store)
	contents, err := store.Read(paths[2])
	require.NoError(t, err)
	other, _ := memStore()
	id, err := threads.Import(files.New(other, nil, func(err error) { t.Error(err) }), contents.Lines)
	require.NoError(t, err)
	path, err := other.Find(id)
	require.NoError(t, err)
	require.Equal(t, remaining, said(t, other, path))
}
