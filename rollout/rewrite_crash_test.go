package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/test/sample"
)

// watched is a disk on which something happens after each change.
type watched struct {
	rollout.FS
	then func()
}

func (w *watched) OpenFile(path string, flag int, perm os.FileMode) (rollout.File, error) {
	defer w.then()
	f, err := w.FS.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return &watchedFile{f, w}, nil
}

func (w *watched) Link(path, second string) error { defer w.then(); return w.FS.Link(path, second) }
func (w *watched) Rename(path, to string) error   { defer w.then(); return w.FS.Rename(path, to) }
func (w *watched) Remove(path string) error       { defer w.then(); return w.FS.Remove(path) }
func (w *watched) SyncDir(path string) error      { defer w.then(); return w.FS.SyncDir(path) }

type watchedFile struct {
	rollout.File
	disk *watched
}

func (f *watchedFile) Write(p []byte) (int, error) { defer f.disk.then(); return f.File.Write(p) }
func (f *watchedFile) Sync() error                 { defer f.disk.then(); return f.File.Sync() }
func (f *watchedFile) Truncate(size int64) error   { defer f.disk.then(); return f.File.Truncate(size) }

func TestACrashInARewriteKeepsSyncedLines(t *testing.T) {
	sample.NoRace(t)
	for seed := range uint64(3) {
		crashRewriteWith(t, seed, faultfs.Fault{})
	}
}

func TestACrashInARewriteAfterAFaultKeepsSyncedLines(t *testing.T) {
	sample.NoRace(t)
	for n := 0; n < 300; n += 7 * sample.Stride(6) {
		crashRewriteWith(t, uint64(n), faultfs.Fault{First: n, Count: 1 + n%4, Err: syscall.EIO, Partial: n%2 == 0})
	}
}

func TestACrashAfterAFailedFolderSyncKeepsSyncedLines(t *testing.T) {
	sample.NoRace(t)
	for n := 0; n < 20; n += sample.Stride(5) {
		crashRewriteWith(t, uint64(n),
			faultfs.Fault{Only: []faultfs.Op{faultfs.OpSyncDir}, First: n, Count: 1, Err: syscall.EIO})
	}
}

func TestAForeignBackupIsMadeDurable(t *testing.T) {
	for name, rounds := range map[string]int{"extended": 1, "the rollout's second name": 0} {
		mem := faultfs.NewMem(home)
		disk := &watched{FS: mem, then: func() {}}
		s := newRewrites(t, mem, disk)
		for range rounds {
			require.NoError(t, appendAndClose(t, s.store, s.path, evenOnly, linesFrom(1, 6)...))
		}
		log, _, err := s.store.Open(s.path)
		require.NoError(t, err)
		require.NoError(t, log.Append(linesFrom(7, 10), true))
		s.putBack(rounds > 0)
		before := get(t, mem, s.path)
		chance := rand.New(rand.NewPCG(1, 2))
		disk.then = func() {
			for range 5 {
				clone := mem.CrashClone(chance)
				contents, err := rollout.NewStore(clone, home).Read(s.path)
				require.NoError(t, err)
				require.True(t, contents.Backup.Joined || get(t, clone, s.path) == before, name)
			}
		}
		require.NoError(t, log.CloseRewritten(evenOnly), name)
	}
}

// putBack makes the backup anew, and does not sync its name.
func (s *rewrites) putBack(copied bool) {
	if !copied {
		require.NoError(s.t, s.sound.Link(s.path, s.path+".bak"))
		return
	}
	content := get(s.t, s.sound, s.path+".bak")
	require.NoError(s.t, s.sound.Remove(s.path+".bak"))
	require.NoError(s.t, s.sound.SyncDir(filepath.Dir(s.path)))
	put(s.t, s.sound, s.path+".bak", content)
}

// crashRewriteWith lets the machine crash after every operation that changes the disk.
func crashRewriteWith(t *testing.T, seed uint64, fault faultfs.Fault) {
	mem := faultfs.NewMem(home)
	chance := rand.New(rand.NewPCG(seed, 2))
	disk := &watched{FS: mem}
	s := newRewrites(t, mem, faultfs.Wrap(disk, fault))
	crashes := 0
	disk.then = func() {
		crashes++
		rewriteAfterCrash(t, mem.CrashClone(chance), s, fmt.Sprintf("seed %d, crash %d", seed, crashes))
	}
	s.failed = func(error) {}
	s.run()
	require.Greater(t, crashes, 60)
}

// rewriteAfterCrash continues the thread on another machine.
func rewriteAfterCrash(t *testing.T, mem *faultfs.Mem, s *rewrites, what string) {
	store := rollout.NewStore(mem, home)
	contents, err := store.Read(s.path)
	require.NoError(t, err, what)
	require.NoError(t, contents.Backup.Err, what)
	got := numbers(contents)
	require.Subset(t, got, s.kept, what)
	if contents.Backup.Joined {
		require.NoError(t, store.CheckBackup(s.path), what)
	}
	require.NoError(t, appendAndClose(t, store, s.path, evenOnly, line(1000)), what)
	contents, err = store.Read(s.path)
	require.NoError(t, err, what)
	require.True(t, contents.Backup.Joined, what)
	require.Equal(t, append(got, 1000), numbers(contents), what)
	requireEven(t, numbers(alone(t, mem, s.path)))
}
