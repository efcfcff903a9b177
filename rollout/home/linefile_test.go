package home_test

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/platform/disk"
	"appserver/rollout/faultfs"
	"appserver/rollout/home"
)

func TestATornLineIsTerminatedFirst(t *testing.T) {
	h, mem := memHome()
	lines := h.LineFile("notes.jsonl")
	require.Equal(t, filepath.Join(dir, "notes.jsonl"), lines.Path())
	_, err := lines.Stat()
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Empty(t, mem.Files(dir))

	put(t, mem, lines.Path(), "one\ntor")
	lock, err := lines.Lock(disk.Exclusive)
	require.NoError(t, err)
	require.NoError(t, lines.Append([]byte("two\nthree\n")))
	require.Equal(t, "one\ntor\ntwo\nthree\n", get(t, mem, lines.Path()))
	require.NoError(t, lines.Replace([]byte("four\n")))
	require.Equal(t, "four\n", get(t, mem, lines.Path()))
	require.NoError(t, lock.Close())

	shared, err := lines.Lock(disk.Shared)
	require.NoError(t, err)
	other, err := lines.Lock(disk.Shared)
	require.NoError(t, err)
	require.NoError(t, shared.Close())
	require.NoError(t, other.Close())
}

// TestAppendIsAllOrNothing fails each operation in turn.
func TestAppendIsAllOrNothing(t *testing.T) {
	for n := 0; ; n++ {
		mem := faultfs.NewMem(dir)
		put(t, mem, dir+"/notes.jsonl", "one\n")
		files := faultfs.Wrap(mem, faultfs.Fault{First: n, Count: 1, Err: syscall.ENOSPC, Partial: true})
		lines := home.New(files, dir, nil).LineFile("notes.jsonl")
		want := "one\n"
		if lock, err := lines.Lock(disk.Exclusive); err == nil {
			if lines.Append([]byte("two\n")) == nil {
				want += "two\n"
			}
			require.Equal(t, want, get(t, mem, lines.Path()), "operation %d", n)
			if err := lines.Replace([]byte("three\n")); err == nil {
				want = "three\n"
			} else {
				require.ErrorContains(t, err, lines.Path())
				require.Contains(t, []string{want, "three\n"}, get(t, mem, lines.Path()), "operation %d", n)
				want = get(t, mem, lines.Path())
			}
			require.NoError(t, lock.Close())
		}
		require.Equal(t, want, get(t, mem, lines.Path()), "operation %d", n)
		require.Empty(t, mem.Held())
		if files.Failures() == 0 {
			require.Greater(t, n, 10)
			return
		}
	}
}

// TestLinesSurviveCrashes crashes after each change of the disk. Acknowledged lines are
// complete, a replaced file has one of both contents, and appending still works.
func TestLinesSurviveCrashes(t *testing.T) {
	for seed := range uint64(20) {
		chance := rand.New(rand.NewPCG(seed, 0))
		mem := faultfs.NewMem(dir)
		files := &watched{FS: mem, then: func() {}}
		lines := home.New(files, dir, nil).LineFile("notes.jsonl")
		lock, err := lines.Lock(disk.Exclusive)
		require.NoError(t, err)
		acknowledged, next := "", ""
		crashes := 0
		files.then = func() {
			crashes++
			requireLines(t, mem.CrashClone(chance), lines.Path(), acknowledged, next)
		}
		for _, text := range []string{"one\n", "two\nthree\n", strings.Repeat("long ", 2000) + "\n"} {
			next = acknowledged + text
			require.NoError(t, lines.Append([]byte(text)))
			acknowledged = next
			files.then()
		}
		next = "another\n"
		require.NoError(t, lines.Replace([]byte(next)))
		acknowledged = next
		files.then()
		next = acknowledged + "last\n"
		require.NoError(t, lines.Append([]byte("last\n")))
		require.Greater(t, crashes, 15)
		require.NoError(t, lock.Close())
	}
}

// requireLines checks that the file has the acknowledged lines, and possibly a part of the
// next one. The next append starts a new line.
func requireLines(t *testing.T, clone *faultfs.Mem, path, acknowledged, next string) {
	t.Helper()
	text := ""
	if _, err := clone.Stat(path); err == nil {
		text = get(t, clone, path)
	}
	appended := strings.HasPrefix(text, acknowledged) && strings.HasPrefix(next, text)
	require.True(
		t,
		appended || text == next || text == acknowledged,
		"%.60q is there, acknowledged %.60q, written %.60q",
		text,
		acknowledged,
		next,
	)
	lines := home.New(clone, dir, nil).LineFile("notes.jsonl")
	lock, err := lines.Lock(disk.Exclusive)
	require.NoError(t, err)
	require.NoError(t, lines.Append([]byte("after\n")))
	require.True(t, strings.HasSuffix("\n"+get(t, clone, path), "\nafter\n"))
	require.NoError(t, lock.Close())
}

// watched is a file system that calls then after each change.
type watched struct {
	disk.FS
	then func()
}

func (w *watched) OpenFile(path string, flag int, perm os.FileMode) (disk.File, error) {
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
	disk.File
	files *watched
}

func (f *watchedFile) Write(p []byte) (int, error) { defer f.files.then(); return f.File.Write(p) }
func (f *watchedFile) Sync() error                 { defer f.files.then(); return f.File.Sync() }
func (f *watchedFile) Truncate(size int64) error   { defer f.files.then(); return f.File.Truncate(size) }
