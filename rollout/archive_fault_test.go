package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/test/sample"
)

// moves archives and unarchives a thread with a backup twice, with a rewrite between. A failed
// move is repeated.
type moves struct {
	t      *testing.T
	store  *rollout.Store
	sound  *faultfs.Mem
	told   []int64
	failed func(error)
}

func (s *moves) run() {
	for round := range 2 {
		s.move((*rollout.Store).Archive)
		s.move((*rollout.Store).Unarchive)
		n := 6 + 2*round
		require.NoError(s.t, appendAndClose(s.t, rollout.NewStore(s.sound, home), s.find(s.sound), evenOnly,
			linesFrom(n, n+2)...))
		s.told = append(s.told, int64(n), int64(n+1))
	}
}

// move moves a rollout. It may return an error after the rollout has reached its target.
func (s *moves) move(do func(*rollout.Store, string) (string, error)) {
	for range mostTries {
		from := s.find(s.sound)
		_, err := do(s.store, from)
		s.check(s.sound, err)
		if err == nil || s.find(s.sound) != from {
			return
		}
		s.failed(err)
	}
	require.Fail(s.t, "the disk has healed, but the move never passes")
}

func (s *moves) find(mem *faultfs.Mem) string {
	path, err := rollout.NewStore(mem, home).Find(threadA)
	require.NoError(s.t, err)
	return path
}

// check reads the thread on a disk without faults: it is complete, wherever it is.
func (s *moves) check(mem *faultfs.Mem, what any) {
	contents, err := rollout.NewStore(mem, home).Read(s.find(mem))
	require.NoError(s.t, err, what)
	require.NoError(s.t, contents.Backup.Err, what)
	require.True(s.t, contents.Backup.Joined, what)
	require.Equal(s.t, s.told, numbers(contents), what)
}

// newMoves creates the thread durably.
func newMoves(t *testing.T, mem *faultfs.Mem, disk rollout.FS) *moves {
	rewrittenThread(t, mem, home)
	return &moves{t: t, store: rollout.NewStore(disk, home), sound: mem, told: []int64{1, 2, 3, 4, 5},
		failed: func(error) {}}
}

func TestEveryOperationOfAMoveMayFail(t *testing.T) {
	sample.NoRace(t)
	for _, f := range []faultfs.Fault{
		{Count: 1, Err: syscall.EROFS}, {Count: 1, Err: syscall.EACCES}, {Count: 2, Err: syscall.EMFILE},
		{Count: 3, Err: syscall.ENOSPC},
		{Count: 2, Err: syscall.EIO, Only: []faultfs.Op{faultfs.OpSyncDir, faultfs.OpRename}},
		{Count: 2, Err: syscall.EPERM, Only: []faultfs.Op{faultfs.OpLink}},
	} {
		t.Run(fmt.Sprintf("%v %v %d", f.Err, f.Only, f.Count), func(t *testing.T) {
			for hit := true; hit; f.First++ {
				hit = moveWith(t, f)
			}
			require.Greater(t, f.First, 8, "the scenario has that many operations")
		})
	}
}

// moveWith runs the scenario with a fault. It returns false if the fault did not occur.
func moveWith(t *testing.T, fault faultfs.Fault) bool {
	mem := faultfs.NewMem(home)
	disk := faultfs.Wrap(mem, fault)
	s := newMoves(t, mem, disk)
	s.failed = func(err error) {
		require.ErrorIs(t, err, fault.Err, "failing operation %d", fault.First)
		require.ErrorContains(t, err, home)
	}
	s.run()
	s.check(mem, fault.First)
	require.Empty(t, mem.Held())
	return disk.Failures() > 0
}

func TestACrashInAMoveKeepsTheThreadWhole(t *testing.T) {
	sample.NoRace(t)
	for seed := range uint64(8) {
		crashMoveWith(t, seed, faultfs.Fault{})
	}
}

func TestACrashInAMoveAfterAFaultKeepsTheThreadWhole(t *testing.T) {
	sample.NoRace(t)
	for n := 0; n < 60; n += sample.Stride(7) {
		crashMoveWith(t, uint64(n), faultfs.Fault{First: n, Count: 1 + n%3, Err: syscall.EIO})
		crashMoveWith(t, uint64(n),
			faultfs.Fault{Only: []faultfs.Op{faultfs.OpSyncDir}, First: n, Count: 1, Err: syscall.EIO})
	}
}

// crashMoveWith simulates a crash after every operation that changes the disk.
func crashMoveWith(t *testing.T, seed uint64, fault faultfs.Fault) {
	mem := faultfs.NewMem(home)
	chance := rand.New(rand.NewPCG(seed, 3))
	disk := &watched{FS: mem, then: func() {}}
	s := newMoves(t, mem, faultfs.Wrap(disk, fault))
	crashes := 0
	disk.then = func() {
		crashes++
		s.afterCrash(mem.CrashClone(chance), fmt.Sprintf("seed %d, fault %d, crash %d", seed, fault.First, crashes))
	}
	s.run()
	require.Greater(t, crashes, 20)
}

// afterCrash continues with the thread after a crash: both moves, and a rewrite.
func (s *moves) afterCrash(mem *faultfs.Mem, what string) {
	s.check(mem, what)
	store := rollout.NewStore(mem, home)
	for range 2 {
		path := s.find(mem)
		do := store.Archive
		if store.IsArchived(path) {
			do = store.Unarchive
		}
		_, err := do(path)
		require.NoError(s.t, err, what)
		s.check(mem, what)
	}
	if path := s.find(mem); !store.IsArchived(path) {
		require.NoError(s.t, appendAndClose(s.t, store, path, evenOnly, line(1000)), what)
	}
}
