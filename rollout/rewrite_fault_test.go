package rollout_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/test/sample"
)

// rewrites is the scenario: a thread is opened, appended to and closed with a
// projection, again and again. An open or append that fails is tried again; a close is
// not.
type rewrites struct {
	t     *testing.T
	store *rollout.Store
	// sound is the disk without its faults.
	sound *faultfs.Mem
	path  string
	next  int
	// told are the numbers of acknowledged lines, kept those that are durable.
	told, kept []int64
	// backup is the content of the backup at the last look.
	backup string
	failed func(error)
}

// projections are those of the scenario's rounds: the fourth makes the file whole.
var projections = []rollout.Projection{evenOnly, evenOnly, chooser(1), nil, evenOnly, evenOnly}

func newRewrites(t *testing.T, mem *faultfs.Mem, disk rollout.FS) *rewrites {
	s := &rewrites{t: t, sound: mem, store: rollout.NewStore(disk, home), next: 1}
	s.path = put(t, mem, s.store.PathFor(threadA, begin), metaLine)
	f, err := mem.OpenFile(s.path, os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close())
	for dir := s.path; dir != home; {
		dir = filepath.Dir(dir)
		require.NoError(t, mem.SyncDir(dir))
	}
	return s
}

func (s *rewrites) run() {
	for round, p := range projections {
		var log *rollout.Log
		s.try(func() (err error) { log, _, err = s.store.Open(s.path); return err })
		s.append(log, 2, round%2 == 0)
		s.append(log, 1, false)
		if err := log.CloseRewritten(p); err != nil {
			s.failed(err)
		} else {
			s.kept = s.told
		}
		s.check(round)
	}
}

func (s *rewrites) try(step func() error) {
	for range mostTries {
		err := step()
		if err == nil {
			return
		}
		s.failed(err)
	}
	require.Fail(s.t, "the disk has healed, but the step never passes")
}

func (s *rewrites) append(log *rollout.Log, n int, sync bool) {
	lines := linesFrom(s.next, s.next+n)
	s.next += n
	s.try(func() error { return log.Append(lines, sync) })
	told := s.told[:len(s.told):len(s.told)]
	for _, l := range lines {
		told = append(told, *l.Ordinal)
	}
	s.told = told
	if sync {
		s.kept = told
	}
}

// check reads with a sound disk.
func (s *rewrites) check(what any) *rollout.Contents {
	contents, err := rollout.NewStore(s.sound, home).Read(s.path)
	require.NoError(s.t, err, what)
	require.NoError(s.t, contents.Backup.Err, what)
	require.Empty(s.t, s.sound.Held(), what)
	require.Subset(s.t, numbers(contents), s.told, what)
	if _, err := s.sound.Stat(s.path + ".bak"); err == nil {
		backup := get(s.t, s.sound, s.path+".bak")
		whole := strings.HasPrefix(backup, s.backup)
		require.True(s.t, whole || strings.HasPrefix(s.backup, backup) && contents.Backup.Joined,
			"what the backup is needed for stays: %v", what)
		s.backup = backup
	}
	return contents
}

func TestEveryOperationOfARewriteMayFail(t *testing.T) {
	sample.NoRace(t)
	for _, failing := range []struct {
		err   error
		part  bool
		count int
	}{{syscall.EROFS, false, 1}, {syscall.ENOSPC, true, 1}, {syscall.EACCES, false, 1}, {syscall.EMFILE, true, 2},
		{syscall.ENOSPC, true, 3}, {syscall.EIO, true, 6}} {
		t.Run(fmt.Sprintf("%v part=%v count=%d", failing.err, failing.part, failing.count), func(t *testing.T) {
			n, step := 0, sample.Stride(7)
			for rewriteWith(t, faultfs.Fault{First: n, Count: failing.count, Err: failing.err, Partial: failing.part}) {
				n += step
			}
			require.Greater(t, n, 200, "the scenario has that many operations")
		})
	}
}

// rewriteWith runs the scenario with a fault and is false when it was not hit.
func rewriteWith(t *testing.T, fault faultfs.Fault) bool {
	mem := faultfs.NewMem(home)
	disk := faultfs.Wrap(mem, fault)
	s := newRewrites(t, mem, disk)
	s.failed = func(err error) {
		require.ErrorIs(t, err, fault.Err, "failing operation %d", fault.First)
		require.ErrorContains(t, err, home)
		if fault.Count == 1 {
			require.NotContains(t, mem.Files(home), s.path+".tmp")
		}
	}
	s.run()
	hits := disk.Failures()
	disk.Heal()
	require.NoError(t, appendAndClose(t, s.store, s.path, evenOnly, line(s.next)), "failing operation %d", fault.First)
	contents := s.check(fault.First)
	want := append(s.told, int64(s.next))
	if fault.Count == 1 {
		require.Equal(t, want, numbers(contents), "failing operation %d", fault.First)
	}
	require.True(t, contents.Backup.Joined)
	requireEven(t, numbers(alone(t, mem, s.path)))
	return hits > 0
}

func requireEven(t *testing.T, all []int64) {
	t.Helper()
	require.NotEmpty(t, all)
	for _, n := range all {
		require.Zero(t, n%2)
	}
}

func TestEachStepOfARewriteReportsItsError(t *testing.T) {
	for op, says := range map[faultfs.Op]string{
		faultfs.OpRename: "cannot back up", faultfs.OpRemove: "cannot back up", faultfs.OpSyncDir: "cannot rewrite",
		faultfs.OpRead: "cannot read", faultfs.OpSync: "cannot rewrite",
	} {
		mem := faultfs.NewMem(home)
		path := put(t, mem, rollout.NewStore(mem, home).PathFor(threadA, begin), metaLine)
		fault := faultfs.Fault{Only: []faultfs.Op{op}, Count: 1, Err: syscall.EIO}
		if op == faultfs.OpRead {
			fault.First = 1 // not when it is opened
		}
		disk := faultfs.Wrap(mem, fault)
		err := appendAndClose(t, rollout.NewStore(disk, home), path, evenOnly, linesFrom(1, 3)...)
		require.ErrorIs(t, err, syscall.EIO, op)
		require.ErrorContains(t, err, says+" "+path, op)
		require.Equal(t, []int64{1, 2}, numbers(alone(t, mem, path)), op)
		require.Equal(t, 1, disk.Failures())
	}
}

func TestTheRestOfAFailedAppendIsNotBackedUp(t *testing.T) {
	for cuts, says := range map[int]string{1: "", 3: "cannot rewrite"} {
		mem := faultfs.NewMem(home)
		path := put(t, mem, rollout.NewStore(mem, home).PathFor(threadA, begin), metaLine)
		uncut := faultfs.Wrap(mem, faultfs.Fault{Only: []faultfs.Op{faultfs.OpTruncate}, Count: cuts, Err: syscall.EPERM})
		disk := faultfs.Wrap(uncut,
			faultfs.Fault{Only: []faultfs.Op{faultfs.OpWrite}, First: 1, Count: 1, Err: syscall.EIO, Partial: true})
		log, _, err := rollout.NewStore(disk, home).Open(path)
		require.NoError(t, err)
		require.NoError(t, log.Append(linesFrom(1, 3), false))
		require.ErrorIs(t, log.Append(linesFrom(3, 4), false), syscall.EIO)
		err = log.CloseRewritten(evenOnly)
		contents, readErr := rollout.NewStore(mem, home).Read(path)
		require.NoError(t, readErr)
		require.Equal(t, []int64{1, 2}, numbers(contents))
		require.Equal(t, says == "", contents.Backup.Joined)
		if says == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, says)
		require.Empty(t, mem.Held())
	}
}

func TestLinesWrittenDuringARewriteAreKept(t *testing.T) {
	for text, before := range map[string]bool{`{"type":"torn","payload":`: true, string(encoded(9)): false} {
		mem := faultfs.NewMem(home)
		path := put(t, mem, rollout.NewStore(mem, home).PathFor(threadA, begin), metaLine)
		disk := &watched{FS: mem, then: func() {}}
		log, _, err := rollout.NewStore(disk, home).Open(path)
		require.NoError(t, err)
		require.NoError(t, log.Append(linesFrom(1, 3), true))
		if before {
			write(t, mem, path, text)
		} else {
			disk.then = func() {
				disk.then = func() {}
				write(t, mem, path, text)
			}
		}
		require.ErrorContains(t, log.CloseRewritten(evenOnly), "another program has written to it meanwhile")
		require.Subset(t, numbers(alone(t, mem, path)), []int64{1, 2})
		require.True(t, strings.HasSuffix(get(t, mem, path), text))
	}
}
