package rollout_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
)

func TestDeleteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	store, path := rewrittenThread(t, rollout.OS(), dir)
	put(t, rollout.OS(), filepath.Join(dir, "archived_sessions", filepath.Base(path)), get(t, rollout.OS(), path))
	put(t, rollout.OS(), path+".tmp", "what a rewrite left that was killed")
	require.NoError(t, store.Delete(threadA))
	require.Empty(t, filesBelow(t, dir))
	var missing *rollout.NotFoundError
	require.ErrorAs(t, store.Delete(threadA), &missing)
}

// TestDependenciesAreNotDeleted has forks and reverted threads of the reference
// implementation.
func TestDependenciesAreNotDeleted(t *testing.T) {
	for name, payload := range map[string]string{
		"a fork":    `{"id":"` + threadB + `","forked_from_id":"` + threadA + `","forked_from_ordinal_exclusive":4}`,
		"a segment": `{"id":"` + threadB + `","history_base":{"thread_id":"` + threadA + `","end_ordinal_exclusive":4}}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			store, path := rewrittenThread(t, rollout.OS(), dir)
			other := filepath.Join(dir, "archived_sessions", "rollout-2026-01-02T03-04-05-"+threadB+".jsonl")
			put(t, rollout.OS(), other,
				`{"timestamp":"2026-01-02T03:04:05.000Z","ordinal":4,"type":"session_meta","payload":`+payload+"}\n")
			var used *rollout.InUseError
			require.ErrorAs(t, store.Delete(threadA), &used)
			require.Equal(t, threadB, used.By)
			get(t, rollout.OS(), path)
			require.NoError(t, store.Delete(threadB))
			require.NoError(t, store.Delete(threadA))
		})
	}
}

// TestNothingIsDeletedWithAnUnreadFile fails each operation of the disk in turn: an unreadable
// file may depend on the thread.
func TestNothingIsDeletedWithAnUnreadFile(t *testing.T) {
	for _, kind := range []error{syscall.EMFILE, syscall.EIO} {
		for n, hit := 0, true; hit; n++ {
			mem := faultfs.NewMem(home)
			_, path := rewrittenThread(t, mem, home)
			put(t, mem, filepath.Join(home, "archived_sessions", "rollout-2026-01-02T03-04-05-"+threadB+".jsonl"),
				`{"timestamp":"2026-01-02T03:04:05.000Z","ordinal":4,"type":"session_meta","payload":{"id":"`+threadB+
					`","forked_from_id":"`+threadA+`","forked_from_ordinal_exclusive":4}}`+"\n")
			faulty := faultfs.Wrap(mem, faultfs.Fault{First: n, Count: 1, Err: kind})
			broken := rollout.NewStore(faulty, home)
			require.Error(t, broken.Delete(threadA), "%v of operation %d", kind, n)
			hit = faulty.Failures() > 0
			faulty = faultfs.Wrap(mem, faultfs.Fault{First: n, Count: 1, Err: kind})
			broken = rollout.NewStore(faulty, home)
			broken.Retain(t.Context(), rollout.Retention{MaxAge: day, Delete: true}, time.Now().Add(2*day),
				func(r rollout.Candidate) error {
					require.NotEqual(t, threadA, r.ID, "%v of operation %d", kind, n)
					return errors.New("it stays")
				})
			hit = hit || faulty.Failures() > 0
			get(t, mem, path)
		}
	}
}

// TestACopyDependsOnNothing has a fork of this server.
func TestACopyDependsOnNothing(t *testing.T) {
	dir := t.TempDir()
	store, _ := rewrittenThread(t, rollout.OS(), dir)
	put(t, rollout.OS(), filepath.Join(dir, "sessions", "rollout-2026-01-02T03-04-05-"+threadB+".jsonl"),
		`{"timestamp":"2026-01-02T03:04:05.000Z","ordinal":0,"type":"session_meta","payload":{"id":"`+threadB+
			`","forked_from_id":"`+threadA+`"}}`+"\n")
	require.NoError(t, store.Delete(threadA))
}

func TestADeletionThatFailsIsMadeAgain(t *testing.T) {
	for first := range 12 {
		store, mem := memStore()
		require.NoError(t, appendAndClose(t, store, put(t, mem, store.PathFor(threadA, begin), ""), evenOnly,
			linesFrom(0, 6)...))
		faulty := faultfs.Wrap(mem, faultfs.Fault{First: first, Count: 1, Err: syscall.EIO})
		broken := rollout.NewStore(faulty, home)
		if err := broken.Delete(threadA); err != nil {
			if _, found := store.Find(threadA); found == nil {
				require.NoError(t, store.Delete(threadA))
			}
		}
		_, err := store.Find(threadA)
		require.Error(t, err)
		require.Empty(t, mem.Held())
	}
}

// TestADeletedThreadLeavesNoMoveLeftovers interrupts moves at each operation before the
// deletion.
func TestADeletedThreadLeavesNoMoveLeftovers(t *testing.T) {
	for n, hit := 0, true; hit; n++ {
		for _, there := range []bool{true, false} {
			mem := faultfs.NewMem(home)
			store, path := rewrittenThread(t, mem, home)
			move := (*rollout.Store).Archive
			if !there {
				var err error
				path, err = store.Archive(path)
				require.NoError(t, err)
				move = (*rollout.Store).Unarchive
			}
			faulty := faultfs.Wrap(mem, faultfs.Fault{First: n, Count: -1, Err: syscall.EIO})
			_, _ = move(rollout.NewStore(faulty, home), path)
			require.NoError(t, store.Delete(threadA))
			require.Empty(t, rolloutsOf(mem), n)
			require.Empty(t, worstOf(mem), "nor after a crash: %d", n)
			hit = faulty.Failures() > 0
		}
	}
}

// worstOf returns the rollouts that crashes may restore.
func worstOf(mem *faultfs.Mem) (paths []string) {
	for seed := range uint64(5) {
		paths = append(paths, rolloutsOf(mem.CrashClone(rand.New(rand.NewPCG(seed, 1))))...)
	}
	return paths
}
