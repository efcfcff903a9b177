package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
)

// requireOne checks that exactly one list has the thread.
func requireOne(t *testing.T, store *rollout.Store, mem *faultfs.Mem, what any) (archived bool) {
	t.Helper()
	var roots []string
	for _, root := range []string{"sessions", "archived_sessions"} {
		for _, path := range mem.Files(filepath.Join(home, root)) {
			if strings.HasSuffix(path, ".jsonl") && strings.Contains(path, threadA) {
				roots = append(roots, root)
			}
		}
	}
	require.NotEmpty(t, roots, what)
	for _, root := range roots {
		require.Equal(t, roots[0], root, "%v: %v", what, mem.Files(home))
	}
	_, err := store.FindArchived(threadA)
	return err == nil
}

// TestInterruptedMovesAreFinished interrupts moves at each operation. Afterwards the thread is
// in one folder with its backup, and the other folder is empty.
func TestInterruptedMovesAreFinished(t *testing.T) {
	for n, hit := 0, true; hit; n++ {
		mem := faultfs.NewMem(home)
		store, _ := rewrittenThread(t, mem, home)
		want := []int64{1, 2, 3, 4, 5}
		faulty := faultfs.Wrap(mem, faultfs.Fault{First: n, Count: -1, Err: syscall.EIO})
		for _, do := range []func(*rollout.Store, string) (string, error){(*rollout.Store).Archive,
			(*rollout.Store).Unarchive} {
			path, err := store.Find(threadA)
			require.NoError(t, err)
			_, _ = do(rollout.NewStore(faulty, home), path)
			require.NoError(t, store.FinishMoves())
			archived := requireOne(t, store, mem, n)
			path, err = store.Find(threadA)
			require.NoError(t, err)
			require.Equal(t, want, readNumbers(t, store, path), n)
			if !archived {
				_, err = store.Archive(path)
				require.NoError(t, err)
			}
		}
		require.Empty(t, mem.Held())
		hit = faulty.Failures() > 0
	}
}

// TestMovesOfARevertedThreadAreFinished has several files of a thread.
func TestMovesOfARevertedThreadAreFinished(t *testing.T) {
	for n, hit := 0, true; hit; n++ {
		store, mem := memStore()
		reverted(t, mem, store)
		faulty := faultfs.Wrap(mem, faultfs.Fault{First: n, Count: -1, Err: syscall.EIO})
		path, err := store.Find(threadA)
		require.NoError(t, err)
		_, _ = rollout.NewStore(faulty, home).Archive(path)
		require.NoError(t, store.FinishMoves())
		requireOne(t, store, mem, n)
		path, err = store.Find(threadA)
		require.NoError(t, err)
		require.Equal(t, remaining, said(t, store, path))
		hit = faulty.Failures() > 0
	}
}

// twoNames returns a thread with a backup whose move to the archive was interrupted: both
// files exist twice.
func twoNames(t *testing.T) (store *rollout.Store, mem *faultfs.Mem, path, archived string) {
	t.Helper()
	mem = faultfs.NewMem(home)
	store, path = rewrittenThread(t, mem, home)
	archived = filepath.Join(home, "archived_sessions", filepath.Base(path))
	require.NoError(t, mem.MkdirAll(filepath.Dir(archived), 0o700))
	require.NoError(t, mem.Link(path, archived))
	require.NoError(t, mem.Link(path+".bak", archived+".bak"))
	return store, mem, path, archived
}

// TestMovesAreFinishedAfterARewrite loads and rewrites the thread before FinishMoves.
func TestMovesAreFinishedAfterARewrite(t *testing.T) {
	store, mem, path, _ := twoNames(t)
	require.NoError(t, appendAndClose(t, store, path, evenOnly, linesFrom(6, 9)...))
	require.NoError(t, store.FinishMoves())
	require.Equal(t, []string{path, path + ".bak"}, rolloutsOf(mem))
	require.Equal(t, []int64{1, 2, 3, 4, 5, 6, 7, 8}, readNumbers(t, store, path))
}

// TestOtherArchivedFilesStay has archived files with lines that the files below sessions lack.
func TestOtherArchivedFilesStay(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine+saidAt(1, "one"))
	archived := put(t, mem, filepath.Join(home, "archived_sessions", filepath.Base(path)), metaLine+saidAt(1, "another"))
	other := put(t, mem, filepath.Join(home, "archived_sessions", filepath.Base(store.PathFor(threadB, begin))), metaLine)
	newer := strings.TrimSuffix(store.PathFor(threadB, begin), ".jsonl") + "_" + secondFile + ".jsonl"
	put(t, mem, filepath.Join(home, "archived_sessions", filepath.Base(newer)), segment(threadB, 1))
	put(t, mem, store.PathFor(threadB, begin), metaLine)
	before := rolloutsOf(mem)
	require.NoError(t, store.FinishMoves())
	require.ElementsMatch(t, before, rolloutsOf(mem))
	require.Contains(t, get(t, mem, archived), "another")
	require.Equal(t, metaLine, get(t, mem, other), "its newest file is archived")
}

// TestARunningMoveIsLeftAlone has another process hold the writer lock.
func TestARunningMoveIsLeftAlone(t *testing.T) {
	store, mem, path, archived := twoNames(t)
	log, _, err := store.Open(path)
	require.NoError(t, err)
	require.NoError(t, rollout.NewStore(mem, home).FinishMoves())
	require.Contains(t, mem.Files(home), archived)
	require.NoError(t, log.Close())
	require.NoError(t, store.FinishMoves())
	require.Equal(t, []string{path, path + ".bak"}, rolloutsOf(mem))
}

// TestFinishMovesRecoversFromFaults fails each operation. The next call finishes the moves.
func TestFinishMovesRecoversFromFaults(t *testing.T) {
	for n, hit := 0, true; hit; n++ {
		store, mem, path, _ := twoNames(t)
		if n%2 == 0 {
			require.NoError(t, appendAndClose(t, store, path, evenOnly, line(6)))
		}
		want := readNumbers(t, store, path)
		faulty := faultfs.Wrap(mem,
			faultfs.Fault{First: n / 2, Count: 1, Err: []error{syscall.EIO, syscall.EROFS, syscall.EMFILE}[n%3]})
		_ = rollout.NewStore(faulty, home).FinishMoves()
		require.Equal(t, want, readNumbers(t, store, path), n)
		require.NoError(t, store.FinishMoves(), n)
		require.Equal(t, want, readNumbers(t, store, path), n)
		require.False(t, requireOne(t, store, mem, n))
		require.Empty(t, mem.Held())
		hit = n < 2 || faulty.Failures() > 0
	}
}

// TestNoRolloutIsEmpty interrupts the creation of threads at each operation, with and without
// a crash: every rollout has a line, and temporary files are removed.
func TestNoRolloutIsEmpty(t *testing.T) {
	for n, hit := 0, true; hit; n++ {
		for _, sync := range []bool{true, false} {
			store, mem := memStore()
			faulty := faultfs.Wrap(mem, faultfs.Fault{First: n, Count: -1, Err: syscall.EIO, Partial: true})
			log, err := rollout.NewStore(faulty, home).Create(threadA, begin)
			require.NoError(t, err)
			told := log.Append(linesFrom(0, 1), sync) == nil
			for seed := range uint64(5) {
				requireBegun(t, mem.CrashClone(rand.New(rand.NewPCG(seed, 1))), sync, told && sync, fmt.Sprint(n, seed))
			}
			_ = log.Close() // it cannot remove the file
			requireBegun(t, mem, true, told, n)
			require.NoError(t, store.RemoveLeftovers())
			hit = faulty.Failures() > 0
		}
	}
}

// requireBegun checks that the rollout has a first line or does not exist.
func requireBegun(t *testing.T, mem *faultfs.Mem, synced, told bool, what any) {
	t.Helper()
	store := rollout.NewStore(mem, home)
	require.NoError(t, store.RemoveLeftovers())
	path, err := store.Find(threadA)
	require.False(t, told && err != nil, what)
	if err == nil && synced {
		contents, err := store.Read(path)
		require.NoError(t, err)
		require.Len(t, contents.Lines, 1, what)
	}
	if err != nil {
		require.Empty(t, rolloutsOf(mem), what)
	}
}
