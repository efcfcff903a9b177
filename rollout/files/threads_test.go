package files_test

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/rollout/files"
	"appserver/rollout/index"
	"appserver/rollout/store"
	"appserver/rollout/store/storetest"
	"appserver/test/sample"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestFilesKeepThePromisesOfAStore runs the suite with an index.
func TestFilesKeepThePromisesOfAStore(t *testing.T) {
	sample.NoRace(t)
	storetest.Run(t, func(t *testing.T, place string) store.Threads {
		rollouts := rollout.NewStore(rollout.OS(), place)
		report := func(err error) { t.Error(err) }
		ix := index.New(index.Options{Store: rollouts, Path: filepath.Join(place, "index.sqlite"), Report: report})
		t.Cleanup(func() { require.NoError(t, ix.Close(context.Background())) })
		return files.New(rollouts, ix, report)
	})
}

// TestFilesKeepAppendedLinesOnFaultyDisks lets each operation of the disk fail, with half of a write.
func TestFilesKeepAppendedLinesOnFaultyDisks(t *testing.T) {
	sample.NoRace(t)
	homes := map[string]*faultfs.Mem{}
	storetest.RunFaults(t, func(t *testing.T, place string, n int) (store.Threads, func() bool) {
		if homes[place] == nil {
			homes[place] = faultfs.NewMem(place)
		}
		fault := faultfs.Fault{First: n, Count: 1, Err: syscall.EIO, Partial: true}
		if n < 0 {
			fault = faultfs.Fault{}
		}
		disk := faultfs.Wrap(homes[place], fault)
		return files.New(rollout.NewStore(disk, place), nil, func(error) {}), func() bool { return disk.Failures() > 0 }
	})
}

// TestAnAnsweredListStartsTheIndex lists from the files until the index is ready.
func TestAnAnsweredListStartsTheIndex(t *testing.T) {
	place := t.TempDir()
	rollouts := rollout.NewStore(rollout.OS(), place)
	ix := index.New(index.Options{Store: rollouts, Path: filepath.Join(place, "index.sqlite"),
		Report: func(err error) { t.Error(err) }})
	t.Cleanup(func() { require.NoError(t, ix.Close(context.Background())) })
	threads := files.New(rollouts, ix, func(err error) { t.Error(err) })
	require.Equal(t, protocol.IndexClosed, threads.Diagnose().State)
	_, err := threads.List(rollout.Query{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, protocol.IndexClosed, threads.Diagnose().State, "the index does not delay the answer")
	threads.Listed()
	require.Eventually(t, ix.Ready, 20*time.Second, time.Millisecond)
}

// TestACopyReadsTheListedFile copies a thread between homes. To find its file by its id, the store would walk
// the whole home for each thread.
func TestACopyReadsTheListedFile(t *testing.T) {
	open := func() store.Threads {
		return files.New(rollout.NewStore(rollout.OS(), t.TempDir()), nil, func(err error) { t.Error(err) })
	}
	from, to := &loads{Threads: open()}, open()
	const id = "0190a6f8-1111-7aaa-8bbb-000000000001"
	at, ordinal := time.Unix(1_700_000_000, 0), int64(0)
	journal, err := from.Begin(id, at, nil)
	require.NoError(t, err)
	require.NoError(t, journal.Append([]protocol.RolloutLine{{Ordinal: &ordinal, Timestamp: protocol.Timestamp(at),
		Type: "session_meta", Payload: []byte(`{"id":"` + id + `","cwd":"/x"}`)}}, true))
	require.NoError(t, journal.Close())
	path := journal.Ref().Path
	done, err := store.Copy(from, to, rollout.Head{ID: id, Path: path, CreatedAt: at}, false)
	require.NoError(t, err)
	require.Equal(t, store.Copied{Lines: 1, New: 1}, done)
	require.Equal(t, []store.Ref{{ID: id, Path: path}}, from.refs)
}

// loads are threads that note what is loaded.
type loads struct {
	store.Threads
	refs []store.Ref
}

// Load notes the reference.
func (l *loads) Load(at store.Ref, to rollout.Loader) (*rollout.Contents, *rollout.LineReader, error) {
	l.refs = append(l.refs, at)
	return l.Threads.Load(at, to)
}

// TestAFailedImportLeavesNothingBehind fails each operation of the disk in turn.
func TestAFailedImportLeavesNothingBehind(t *testing.T) {
	const home, id = "/home", "0190a6f8-1111-7aaa-8bbb-000000000001"
	ordinals := []int64{0, 1}
	lines := []protocol.RolloutLine{
		{Timestamp: "2026-01-02T03:04:05.000Z", Ordinal: &ordinals[0], Type: protocol.LineSessionMeta,
			Payload: []byte(`{"id":"` + id + `"}`)},
		{Timestamp: "2026-01-02T03:04:05.000Z", Ordinal: &ordinals[1], Type: "other", Payload: []byte(`{}`)},
	}
	for n := 0; ; n++ {
		mem := faultfs.NewMem(home)
		disk := faultfs.Wrap(mem, faultfs.Fault{First: n, Count: 1, Err: syscall.ENOSPC})
		_, err := store.Import(files.New(rollout.NewStore(disk, home), nil, func(error) {}), lines)
		sound := rollout.NewStore(mem, home)
		found, lost := sound.Find(id)
		require.Empty(t, mem.Held())
		if err != nil {
			require.Error(t, lost, "operation %d fails: %v", n, err)
			continue
		}
		contents, err := sound.Read(found)
		require.NoError(t, err)
		require.Equal(t, lines, contents.Lines)
		if disk.Failures() == 0 {
			return
		}
	}
}
