package rollout_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
)

func TestTheBackupIsAnotherNameOfTheFullLog(t *testing.T) {
	dir := t.TempDir()
	store := rollout.NewStore(rollout.OS(), dir)
	path := put(t, rollout.OS(), store.PathFor(threadA, begin), metaLine)
	before, err := rollout.OS().Stat(path)
	require.NoError(t, err)
	require.NoError(t, appendAndClose(t, store, path, evenOnly, linesFrom(1, 6)...))
	after, err := rollout.OS().Stat(path + ".bak")
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))
}

func TestWithoutLinksTheBackupIsACopy(t *testing.T) {
	for _, reason := range []error{syscall.EPERM, syscall.ENOTSUP, syscall.EXDEV, syscall.EMLINK, syscall.ENOSYS} {
		disk := faultfs.Wrap(rollout.OS(), faultfs.Fault{Only: []faultfs.Op{faultfs.OpLink}, Count: -1, Err: reason})
		store, path := rewrittenThread(t, disk, t.TempDir())
		contents, err := store.Read(path)
		require.NoError(t, err)
		require.Equal(t, []int64{1, 2, 3, 4, 5}, numbers(contents))
		info, err := os.Stat(path + ".bak")
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode())
		requireNoTemporary(t, path)
	}
}

func TestAByteOrderMarkBeforeTheMarkerStaysOutOfTheBackup(t *testing.T) {
	store := rollout.NewStore(rollout.OS(), t.TempDir())
	path := put(t, rollout.OS(), store.PathFor(threadA, begin), metaLine)
	nothing := func(l protocol.RolloutLine) (protocol.RolloutLine, bool) { return l, false }
	require.NoError(t, appendAndClose(t, store, path, nothing, line(1)))
	overwrite(t, path, "\ufeff"+get(t, rollout.OS(), path)+"damage\n")
	damage := []rollout.Damage{{Line: 3, Offset: int64(len(get(t, rollout.OS(), path)) - len("damage\n")),
		Reason: "not JSON"}}
	contents, err := store.Read(path)
	require.NoError(t, err)
	require.Equal(t, damage, contents.Damage)
	require.NoError(t, appendAndClose(t, store, path, nothing, line(4)))
	contents, err = store.Read(path)
	require.NoError(t, err)
	require.Len(t, contents.Damage, 1)
	require.Equal(t, []int64{1, 4}, numbers(contents))
	require.Equal(t, []int64{0, 1, 2, 4, 5}, ordinals(contents))
}

func TestALinkIsNotRewritten(t *testing.T) {
	dir := t.TempDir()
	store := rollout.NewStore(rollout.OS(), dir)
	kept := put(t, rollout.OS(), filepath.Join(dir, "kept"), metaLine)
	path := store.PathFor(threadA, begin)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.Symlink(kept, path))
	err := appendAndClose(t, store, path, evenOnly, line(1))
	require.ErrorContains(t, err, "cannot rewrite "+path+": it is a symbolic link")
	require.Contains(t, get(t, rollout.OS(), kept), `"n":1`)
	_, err = os.Lstat(path + ".bak")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestAFileOfAnotherThreadIsNotRewritten(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadB, begin), metaLine)
	err := appendAndClose(t, store, path, evenOnly, line(1))
	require.ErrorContains(t, err, "session_meta belongs to another thread", "its backup would be refused")
	require.Equal(t, []string{path}, mem.Files(home+"/sessions"))
}

func TestATemporaryThatWasLeftIsNeverWrittenTo(t *testing.T) {
	store, path := rewrittenThread(t, rollout.OS(), t.TempDir())
	require.NoError(t, os.Link(path+".bak", path+".tmp"))
	require.NoError(t, appendAndClose(t, store, path, evenOnly, line(7)))
	contents, err := store.Read(path)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2, 3, 4, 5, 7}, numbers(contents))
}

// beforeLock does something right before the thread's lock is taken.
type beforeLock struct {
	rollout.FS
	do func()
}

// Lock calls do once.
func (b *beforeLock) Lock(path string, mode rollout.LockMode) (io.Closer, error) {
	if strings.Contains(path, threadA) && b.do != nil {
		do := b.do
		b.do = nil
		do()
	}
	return b.FS.Lock(path, mode)
}

func TestTheNextWriterNeverHasTheBackupInHand(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine)
	log, _, err := store.Open(path)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(1, 4), true))
	disk := &beforeLock{FS: mem, do: func() { require.NoError(t, log.CloseRewritten(evenOnly)) }}
	require.NoError(t, appendAndClose(t, rollout.NewStore(disk, home), path, evenOnly, line(5), line(6)))
	contents, err := store.Read(path)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2, 3, 5, 6}, numbers(contents))
}

func TestListsShowNeitherBackupNorTemporary(t *testing.T) {
	dir := t.TempDir()
	store := rollout.NewStore(rollout.OS(), dir)
	path := put(t, rollout.OS(), store.PathFor(threadA, begin), metaLine+userLine("hello"))
	require.NoError(t, appendAndClose(t, store, path,
		func(l protocol.RolloutLine) (protocol.RolloutLine, bool) { return l, true }, line(2)))
	put(t, rollout.OS(), path+".tmp", get(t, rollout.OS(), path+".bak"))
	for _, key := range []rollout.SortKey{rollout.SortCreated, rollout.SortUpdated} {
		page, err := store.List(rollout.Query{SortKey: key})
		require.NoError(t, err)
		require.Len(t, page.Heads, 1)
		require.Equal(t, path, page.Heads[0].Path)
		require.Equal(t, "hello", page.Heads[0].Preview)
	}
	found, err := store.Find(threadA)
	require.NoError(t, err)
	require.Equal(t, path, found)
	require.NoError(t, os.Remove(path))
	_, err = store.Find(threadA)
	var missing *rollout.NotFoundError
	require.ErrorAs(t, err, &missing)
}

func TestAFolderThatCannotBeWrittenToKeepsItsFiles(t *testing.T) {
	names := []faultfs.Op{faultfs.OpRemove, faultfs.OpLink, faultfs.OpRename}
	for first := range names {
		dir := t.TempDir()
		disk := faultfs.Wrap(rollout.OS(), faultfs.Fault{Only: names[first:], Count: -1, Err: syscall.EACCES})
		store := rollout.NewStore(disk, dir)
		path := put(t, rollout.OS(), store.PathFor(threadA, begin), metaLine)
		err := appendAndClose(t, store, path, evenOnly, linesFrom(1, 4)...)
		require.ErrorIs(t, err, os.ErrPermission)
		require.ErrorContains(t, err, "cannot back up "+path)
		require.ErrorContains(t, err, "give this user access to it")
		require.Equal(t, []int64{1, 2, 3}, numbers(alone(t, rollout.OS(), path)))
		_, err = os.Lstat(path + ".bak")
		require.ErrorIs(t, err, os.ErrNotExist)
		disk.Heal()
		require.NoError(t, appendAndClose(t, store, path, evenOnly, line(4)))
		require.Equal(t, []int64{2, 4}, numbers(alone(t, rollout.OS(), path)))
	}
}
