package rollout_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/test/posix"
	"appserver/test/sample"
)

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	store := rollout.NewStore(rollout.OS(), dir)
	for name, c := range map[string]struct {
		make func(path string) error
		says string
	}{
		"FIFO":         {func(path string) error { return posix.Mkfifo(path, 0o600) }, "named pipe"},
		"folder":       {func(path string) error { return os.Mkdir(path, 0o700) }, "folder|is a directory"},
		"device":       {func(path string) error { return os.Symlink("/dev/null", path) }, "device"},
		"link to self": {func(path string) error { return os.Symlink(path, path) }, "leads back to itself"},
		"loop": {func(path string) error {
			if err := os.Symlink(path, path+".other"); err != nil {
				return err
			}
			return os.Symlink(path+".other", path)
		}, "leads back to itself"},
		"dead link": {func(path string) error { return os.Symlink(path+".gone", path) }, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), filepath.Base(store.PathFor(threadA, begin)))
			require.NoError(t, c.make(path))
			_, err := store.Read(path)
			require.ErrorContains(t, err, path)
			require.Regexp(t, c.says, err.Error())
			_, err = store.ReadHead(path)
			require.Regexp(t, c.says, err.Error())
			_, _, err = store.Open(path)
			require.ErrorContains(t, err, path)
			require.Regexp(t, c.says, err.Error())
		})
	}
}

func TestALinkToAFileWillDo(t *testing.T) {
	dir := t.TempDir()
	store := rollout.NewStore(rollout.OS(), dir)
	kept := put(t, rollout.OS(), filepath.Join(dir, "kept"), metaLine)
	path := store.PathFor(threadA, begin)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.Symlink(kept, path))
	log, _, err := store.Open(path)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(1, 2), true))
	require.NoError(t, log.Close())
	contents, err := store.Read(kept)
	require.NoError(t, err)
	require.Len(t, contents.Lines, 2)
}

func TestSpecialFilesDoNotStopAList(t *testing.T) {
	dir := t.TempDir()
	store := rollout.NewStore(rollout.OS(), dir)
	pipe := store.PathFor(threadB, begin)
	put(t, rollout.OS(), store.PathFor(threadA, begin), metaLine+userLine("hello"))
	require.NoError(t, posix.Mkfifo(pipe, 0o600))
	require.NoError(t, posix.Mkfifo(filepath.Join(dir, "session_index.jsonl"), 0o600))
	page, err := store.List(rollout.Query{})
	require.NoError(t, err)
	require.Len(t, page.Heads, 1)
	_, err = store.Names()
	require.ErrorContains(t, err, "named pipe")
	require.ErrorContains(t, store.AppendName(threadA, "x", begin), "named pipe")
}

func TestAnUnreadableFileIsReported(t *testing.T) {
	dir := t.TempDir()
	path := put(t, rollout.OS(), rollout.NewStore(rollout.OS(), dir).PathFor(threadA, begin), metaLine)
	disk := faultfs.Wrap(rollout.OS(), faultfs.Fault{Only: []faultfs.Op{faultfs.OpOpen}, Count: -1, Err: syscall.EACCES})
	_, err := rollout.NewStore(disk, dir).Read(path)
	require.ErrorIs(t, err, os.ErrPermission)
	require.EqualError(t, err, "cannot open "+path+": permission denied: give this user access to it")
}

func TestARealDiskFillsAndHeals(t *testing.T) {
	dir := t.TempDir()
	disk := faultfs.Wrap(rollout.OS(),
		faultfs.Fault{Only: []faultfs.Op{faultfs.OpWrite}, First: 1, Count: -1, Err: syscall.ENOSPC, Partial: true})
	store := rollout.NewStore(disk, dir)
	log, err := store.Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 2), true))
	size, err := os.Stat(log.Path())
	require.NoError(t, err)
	require.ErrorIs(t, log.Append(linesFrom(2, 4), true), syscall.ENOSPC)
	after, err := os.Stat(log.Path())
	require.NoError(t, err)
	require.Equal(t, size.Size(), after.Size())
	disk.Heal()
	require.NoError(t, log.Append(linesFrom(2, 4), true))
	require.NoError(t, log.Close())
	contents, err := store.Read(log.Path())
	require.NoError(t, err)
	require.Equal(t, []int64{0, 1, 2, 3}, ordinals(contents))
}

func TestAFileThatIsTooLargeIsRefused(t *testing.T) {
	sample.Long(t)
	dir := t.TempDir()
	store := rollout.NewStore(rollout.OS(), dir)
	path := put(t, rollout.OS(), store.PathFor(threadA, begin), metaLine)
	require.NoError(t, os.Truncate(path, 1<<40))
	_, err := store.Read(path)
	require.ErrorContains(t, err, "larger than 2 GiB")
	_, err = store.ReadHead(path)
	require.NoError(t, err, "its head can be shown")
}
