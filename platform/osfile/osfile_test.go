package osfile_test

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/platform/osfile"
)

// folders returns two open folders, and the path of the first.
func folders(t *testing.T) (a, b *osfile.Folder, path string) {
	t.Helper()
	root := t.TempDir()
	open := func(path string) *osfile.Folder {
		require.NoError(t, os.Mkdir(path, 0o700))
		folder, err := osfile.OpenFolder(path)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, folder.Close()) })
		return folder
	}
	path = filepath.Join(root, "a")
	return open(path), open(filepath.Join(root, "b")), path
}

func put(t *testing.T, folder *osfile.Folder, name, text string) {
	t.Helper()
	file, err := folder.Create(name, 0o600)
	require.NoError(t, err)
	_, err = file.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

func read(t *testing.T, folder *osfile.Folder, name string) string {
	t.Helper()
	file, err := folder.OpenFile(name)
	require.NoError(t, err)
	text, err := io.ReadAll(file)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	return string(text)
}

func TestFolderDescribesFiles(t *testing.T) {
	a, _, path := folders(t)
	put(t, a, "file", "text")
	require.NoError(t, a.Mkdir("folder", 0o700))
	file, err := a.Stat("file")
	require.NoError(t, err)
	require.Zero(t, file.Kind)
	require.EqualValues(t, 4, file.Size)
	folder, err := a.Stat("folder")
	require.NoError(t, err)
	require.Equal(t, fs.ModeDir, folder.Kind)
	require.Equal(t, file.Disk, folder.Disk)
	require.NotEqual(t, file.File, folder.File)
	info, err := os.Stat(filepath.Join(path, "file"))
	require.NoError(t, err)
	require.Equal(t, info.ModTime().UnixNano(), file.ModTime)

	open, err := a.OpenFile("file")
	require.NoError(t, err)
	same, err := osfile.InfoOf(open)
	require.NoError(t, err)
	require.NoError(t, open.Close())
	require.Equal(t, file, same)
	_, err = a.Stat("nothing")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestFolderLinksUnchangedFilesOnly(t *testing.T) {
	a, b, path := folders(t)
	put(t, a, "file", "text")
	was, err := a.Stat("file")
	require.NoError(t, err)
	require.NoError(t, a.LinkUnchanged("file", b, "second", was))
	is, err := b.Stat("second")
	require.NoError(t, err)
	require.Equal(t, was, is)
	require.ErrorIs(t, a.LinkUnchanged("file", b, "second", was), fs.ErrExist)
	require.Equal(t, "text", read(t, b, "second"))
	require.ErrorIs(t, a.LinkUnchanged("nothing", b, "third", was), fs.ErrNotExist)

	put(t, a, "other", "text")
	require.Error(t, a.LinkUnchanged("other", b, "third", was))
	require.NoError(t, os.WriteFile(filepath.Join(path, "file"), []byte("longer text"), 0o600))
	require.Error(t, a.LinkUnchanged("file", b, "third", was))
	_, err = b.Stat("third")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestFolderCreatesOnlyNewNames(t *testing.T) {
	a, _, _ := folders(t)
	put(t, a, "file", "old")
	_, err := a.Create("file", 0o600)
	require.ErrorIs(t, err, fs.ErrExist)
	require.ErrorIs(t, a.Mkdir("file", 0o700), fs.ErrExist)
	require.Equal(t, "old", read(t, a, "file"))
}

func TestFolderMovesAndLinksFiles(t *testing.T) {
	a, b, _ := folders(t)
	put(t, a, "one", "1")
	put(t, b, "two", "2")
	require.NoError(t, a.Link("one", b, "linked"))
	require.ErrorIs(t, a.Link("one", b, "two"), fs.ErrExist)
	require.Equal(t, "2", read(t, b, "two"))
	require.NoError(t, a.Rename("one", b, "two"))
	require.Equal(t, "1", read(t, b, "two"))
	require.Equal(t, "1", read(t, b, "linked"))
	_, err := a.Stat("one")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestFolderRemovesOneKind(t *testing.T) {
	a, _, _ := folders(t)
	put(t, a, "file", "")
	require.NoError(t, a.Mkdir("folder", 0o700))
	require.Error(t, a.RemoveFolder("file"))
	require.Error(t, a.Remove("folder"))
	require.NoError(t, a.Remove("file"))
	require.NoError(t, a.RemoveFolder("folder"))
	for _, name := range []string{"file", "folder"} {
		_, err := a.Stat(name)
		require.ErrorIs(t, err, fs.ErrNotExist, name)
	}
}

// TestFolderFollowsNoLink is skipped if the system cannot create links.
func TestFolderFollowsNoLink(t *testing.T) {
	a, b, path := folders(t)
	put(t, b, "file", "secret")
	if err := a.Symlink("../b", "link"); err != nil {
		t.Skip(err)
	}
	require.NoError(t, a.Symlink("../b/file", "linked"))
	info, err := a.Stat("link")
	require.NoError(t, err)
	require.Equal(t, fs.ModeSymlink, info.Kind)
	target, err := a.Readlink("link")
	require.NoError(t, err)
	require.Equal(t, "../b", target)

	_, err = a.Open("link")
	require.ErrorIs(t, err, osfile.ErrNotFolder)
	_, err = a.OpenFile("linked")
	require.Error(t, err)
	require.NoError(t, a.Remove("linked"))
	require.Equal(t, "secret", read(t, b, "file"))
	through, err := osfile.OpenFolder(filepath.Join(path, "link"))
	require.NoError(t, err, "a root may be a link")
	require.Equal(t, "secret", read(t, through, "file"))
	require.NoError(t, through.Close())
}

func TestFolderOpensFoldersOnly(t *testing.T) {
	a, _, _ := folders(t)
	put(t, a, "file", "")
	_, err := a.Open("file")
	require.ErrorIs(t, err, osfile.ErrNotFolder)
	_, err = a.Open("nothing")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, a.Mkdir("folder", 0o700))
	inner, err := a.Open("folder")
	require.NoError(t, err)
	put(t, inner, "deep", "text")
	require.Equal(t, "text", read(t, inner, "deep"))
	require.NoError(t, inner.Close())
}

func TestRenameReplacesOpenFiles(t *testing.T) {
	dir := t.TempDir()
	path, next := filepath.Join(dir, "file"), filepath.Join(dir, "next")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	require.NoError(t, os.WriteFile(next, []byte("new"), 0o600))
	open, err := osfile.Open(path, os.O_RDWR|os.O_APPEND, 0o600)
	require.NoError(t, err)
	defer open.Close()
	require.NoError(t, osfile.Rename(next, path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "new", string(text))
	old, err := io.ReadAll(open)
	require.NoError(t, err)
	require.Equal(t, "old", string(old))
}

func TestOpenFilesCanBeMovedAndRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	file, err := osfile.Open(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	require.NoError(t, err)
	defer file.Close()
	_, err = file.WriteString("text")
	require.NoError(t, err)
	require.NoError(t, os.Rename(path, path+".moved"))
	require.NoError(t, os.Remove(path+".moved"))
	require.NoError(t, osfile.SyncFolder(filepath.Dir(path)))
	_, err = osfile.Open(path, os.O_RDONLY, 0)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, path)
}

func TestLocksExcludeOtherHandles(t *testing.T) {
	dir := t.TempDir()
	lock := func() (*os.File, bool) {
		file, err := osfile.OpenLock(dir)
		require.NoError(t, err)
		held, err := osfile.TryLock(file)
		require.NoError(t, err)
		return file, held
	}
	first, held := lock()
	require.True(t, held)
	second, held := lock()
	require.False(t, held)
	require.NoError(t, second.Close())
	require.NoError(t, first.Close())
	third, held := lock()
	require.True(t, held)
	require.NoError(t, third.Close())
}

func TestPermissionsAndDisksAreFound(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	require.False(t, osfile.MayRead(path))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.True(t, osfile.MayRead(path))
	require.True(t, osfile.MayWriteIn(dir))
	require.True(t, osfile.SameDisk(dir, filepath.Dir(dir)))
	require.False(t, osfile.SameDisk(dir, path+".no"))
}

func TestErrorsAreKnownByTheirMeaning(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := os.ReadDir(file)
	require.True(t, osfile.Is(err, syscall.ENOTDIR), "%v", err)
	require.True(t, osfile.Is(syscall.ENOSPC, syscall.ENOSPC))
	require.False(t, osfile.Is(fs.ErrClosed, syscall.ENOSPC))
	require.False(t, osfile.Is(nil, syscall.ENOSPC))
}

func TestLongPathsAreOpened(t *testing.T) {
	dir := t.TempDir()
	for range 6 {
		dir = filepath.Join(dir, strings.Repeat("long", 15))
	}
	require.NoError(t, os.MkdirAll(dir, 0o700))
	folder, err := osfile.OpenFolder(dir)
	require.NoError(t, err)
	defer folder.Close()
	put(t, folder, "file", "text")
	require.Equal(t, "text", read(t, folder, "file"))
	file, err := osfile.Open(filepath.Join(dir, "file"), os.O_RDONLY, 0)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.NoError(t, osfile.SyncFolder(dir))
}

func TestFilesOpenToAppendAreTruncated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	file, err := osfile.Open(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	require.NoError(t, err)
	_, err = file.WriteString("one two")
	require.NoError(t, err)
	require.NoError(t, osfile.Truncate(file, 3))
	_, err = file.WriteString(" three")
	require.NoError(t, err)
	require.NoError(t, file.Close())
	text, err := osfile.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "one three", string(text))
}
