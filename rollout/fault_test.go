package rollout_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/test/sample"
)

// life creates a thread, appends, closes, opens and appends again. Each failed step is
// repeated.
type life struct {
	t     *testing.T
	store *rollout.Store
	path  string
	log   *rollout.Log
	// told holds the payloads of acknowledged lines, and kept those of synced lines.
	told, kept []string
	next       int
	// failed is called after each failed step.
	failed func(error)
	// synced is called after each successful sync.
	synced func()
}

const mostTries = 20

func (l *life) run() {
	l.path = l.store.PathFor(threadA, begin)
	l.try(func() (err error) { l.log, err = l.store.Create(threadA, begin); return err })
	l.append(2, true)
	l.append(3, false)
	l.append(1, true)
	l.append(2, false)
	l.close()
	l.try(func() (err error) { l.log, _, err = l.store.Open(l.path); return err })
	l.append(1, false)
	l.append(2, true)
	l.close()
}

func (l *life) try(step func() error) {
	l.t.Helper()
	for range mostTries {
		err := step()
		if err == nil {
			return
		}
		l.failed(err)
	}
	require.Fail(l.t, "the disk has healed, but the step never passes")
}

func (l *life) append(n int, sync bool) {
	lines := linesFrom(l.next, l.next+n)
	l.next += n
	l.try(func() error { return l.log.Append(lines, sync) })
	l.told = append(l.told, payloads(lines)...)
	if sync {
		l.kept = l.told[:len(l.told):len(l.told)]
		l.synced()
	}
}

// close does not retry, because Close always closes the log.
func (l *life) close() {
	if err := l.log.Close(); err != nil {
		l.failed(err)
		return
	}
	l.kept = l.told[:len(l.told):len(l.told)]
	l.synced()
}

// read returns the payloads of all lines on a disk without faults.
func read(t *testing.T, disk rollout.FS, path string) ([]string, *rollout.Contents) {
	t.Helper()
	contents, err := rollout.NewStore(disk, home).Read(path)
	require.NoError(t, err)
	return payloads(contents.Lines), contents
}

// attempted checks that all payloads are of the scenario.
func attempted(t *testing.T, got []string, next int) {
	t.Helper()
	all := payloads(linesFrom(0, next))
	for _, p := range got {
		require.Contains(t, all, p, "no line is half there")
	}
}

// contains reports whether got has all of want, in order.
func contains(got, want []string) bool {
	for _, g := range got {
		if len(want) > 0 && g == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}

func TestEveryOperationMayFail(t *testing.T) {
	sample.NoRace(t)
	for _, failing := range []struct {
		err  error
		part bool
		// number of consecutive failures
		count int
	}{{syscall.EROFS, false, 1}, {syscall.ENOSPC, true, 1}, {syscall.EMFILE, true, 2}, {syscall.ENOSPC, true, 3},
		{syscall.EIO, false, 4}} {
		t.Run(fmt.Sprintf("%v part=%v count=%d", failing.err, failing.part, failing.count), func(t *testing.T) {
			n := 0
			for liveWith(t, faultfs.Fault{First: n, Count: failing.count, Err: failing.err, Partial: failing.part}) {
				n++
			}
			require.Greater(t, n, 30, "the scenario has that many operations")
		})
	}
}

// liveWith runs the scenario with a fault. It returns false if the fault did not occur.
func liveWith(t *testing.T, fault faultfs.Fault) bool {
	mem := faultfs.NewMem(home)
	disk := faultfs.Wrap(mem, fault)
	l := &life{t: t, store: rollout.NewStore(disk, home), synced: func() {}}
	l.failed = func(err error) {
		require.ErrorIs(t, err, fault.Err, "failing operation %d", fault.First)
		require.ErrorContains(t, err, home)
		if len(l.told) == 0 {
			return
		}
		got, _ := read(t, mem, l.path)
		require.True(t, contains(got, l.told), "acknowledged lines stay; failing operation %d", fault.First)
		attempted(t, got, l.next)
	}
	l.run()
	got, contents := read(t, mem, l.path)
	require.True(t, contains(got, l.told), "failing operation %d", fault.First)
	attempted(t, got, l.next)
	if fault.Count == 1 {
		require.Equal(t, l.told, got, "what failed was cut off; failing operation %d", fault.First)
		require.Empty(t, contents.Damage)
	}
	require.False(t, contents.Torn)
	require.Empty(t, mem.Held())
	return disk.Failures() > 0
}

func TestACrashKeepsSyncedLines(t *testing.T) {
	sample.NoRace(t)
	for seed := range uint64(20) {
		crashWith(t, seed, faultfs.Fault{})
	}
}

func TestACrashAfterAFaultKeepsSyncedLines(t *testing.T) {
	sample.NoRace(t)
	for n := range 60 {
		crashWith(t, uint64(n), faultfs.Fault{First: n, Count: 1 + n%3, Err: syscall.EIO, Partial: n%2 == 0})
	}
}

// crashWith simulates a crash after every step.
func crashWith(t *testing.T, seed uint64, fault faultfs.Fault) {
	mem := faultfs.NewMem(home)
	chance := rand.New(rand.NewPCG(seed, 1))
	l := &life{t: t, store: rollout.NewStore(faultfs.Wrap(mem, fault), home)}
	crash := func() {
		for range 5 {
			afterCrash(t, mem.CrashClone(chance), l)
		}
	}
	l.synced, l.failed = crash, func(error) { crash() }
	l.run()
}

// afterCrash continues with the thread after a crash.
func afterCrash(t *testing.T, mem *faultfs.Mem, l *life) {
	store := rollout.NewStore(mem, home)
	path, err := store.Find(threadA)
	var missing *rollout.NotFoundError
	if errors.As(err, &missing) {
		require.Empty(t, l.kept)
		return
	}
	require.NoError(t, err)
	log, contents, err := store.Open(path)
	require.NoError(t, err)
	got := payloads(contents.Lines)
	require.True(t, contains(got, l.kept), "kept %v, got %v", l.kept, got)
	attempted(t, got, l.next)
	require.NoError(t, log.Append([]protocol.RolloutLine{line(1000)}, true))
	require.NoError(t, log.Close())
	after, _ := read(t, mem, path)
	require.Equal(t, append(got, string(line(1000).Payload)), after)
	require.True(t, strings.HasSuffix(get(t, mem, path), "\n"))
}
