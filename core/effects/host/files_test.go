package host_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/test/posix"
)

func TestAFileIsWrittenAndRead(t *testing.T) {
	d, dir := open(t), t.TempDir()
	path := filepath.Join(dir, "file")
	for _, content := range []string{"hello", "", "\x00\xff\xfe", strings.Repeat("long\n", 100_000), "short"} {
		d.send(1, "fs/writeFile", object{"path": path, "dataBase64": in64(content)}).done()
		require.Equal(t, content, read(t, path))
		require.Equal(t, in64(content),
			result[protocol.FsReadFileResponse](d.send(1, "fs/readFile", object{"path": path})).DataBase64)
	}
}

func TestFileOperationsAreDoneInOrder(t *testing.T) {
	d, dir := open(t), t.TempDir()
	path := filepath.Join(dir, "file")
	var reads []pending
	for i := range 300 {
		d.send(1, "fs/writeFile", object{"path": path, "dataBase64": in64(fmt.Sprint(i))})
		reads = append(reads, d.send(1, "fs/readFile", object{"path": path}))
	}
	removed := d.send(1, "fs/remove", object{"path": path})
	gone := d.send(1, "fs/readFile", object{"path": path})
	for i, r := range reads {
		require.Equal(t, in64(fmt.Sprint(i)), result[protocol.FsReadFileResponse](r).DataBase64,
			"who does not wait reads what was written")
	}
	removed.done()
	gone.refused(protocol.KindFileNotFound)
}

func TestWritingGoesThroughLinks(t *testing.T) {
	d, dir := open(t), t.TempDir()
	write(t, filepath.Join(dir, "target"), "old")
	require.NoError(t, os.Chmod(filepath.Join(dir, "target"), 0o640))
	require.NoError(t, os.Symlink("target", filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink("new", filepath.Join(dir, "dangling")))
	d.send(1, "fs/writeFile", object{"path": filepath.Join(dir, "link"), "dataBase64": in64("through")}).done()
	d.send(1, "fs/writeFile", object{"path": filepath.Join(dir, "dangling"), "dataBase64": in64("made")}).done()
	require.Equal(t, "through", read(t, filepath.Join(dir, "target")))
	require.Equal(t, "made", read(t, filepath.Join(dir, "new")))
	info, err := os.Stat(filepath.Join(dir, "target"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm(), "permissions stay")
}

// TestRefusalsOfFiles has for each request the kind of its refusal and what its message says.
func TestRefusalsOfFiles(t *testing.T) {
	d, dir := open(t), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("file"), "x")
	write(t, at("full/file"), "x")
	require.NoError(t, posix.Mkfifo(at("fifo"), 0o644))
	require.NoError(t, os.Symlink("round", at("round")))
	require.NoError(t, os.Symlink("fifo", at("tofifo")))
	absolute, notFound, isType := protocol.KindInvalidParams, protocol.KindFileNotFound, protocol.KindFileType
	for _, c := range []struct {
		method string
		params object
		kind   protocol.Kind
		says   string
	}{
		{"fs/readFile", object{"path": "file"}, absolute, "`path` must be an absolute path"},
		{"fs/readFile", object{"path": ""}, absolute, "absolute"},
		{"fs/readFile", object{"path": "~/file"}, absolute, "absolute"},
		{"fs/readFile", object{"path": "/a\x00b"}, absolute, "NUL"},
		{"fs/readFile", object{}, absolute, "missing field `path`"},
		{"fs/readFile", object{"path": at("none")}, notFound, at("none") + ": No such file or directory (os error 2)"},
		{"fs/readFile", object{"path": at("file/in")}, isType, "Not a directory (os error 20)"},
		{"fs/readFile", object{"path": at("round")}, isType, "Too many levels of symbolic links (os error 40)"},
		{"fs/readFile", object{"path": dir}, isType, "is not a file"},
		{"fs/readFile", object{"path": at("fifo")}, isType, "is not a file"},
		{"fs/readFile", object{"path": at("tofifo")}, isType, "is not a file"},
		{"fs/readFile", object{"path": "/dev/zero"}, isType, "is not a file"},
		{"fs/readFile", object{"path": "/" + strings.Repeat("x", 5000)}, protocol.KindFile, "File name too long"},
		{"fs/writeFile", object{"path": at("file"), "dataBase64": "a"}, absolute, "requires valid base64 dataBase64"},
		{"fs/writeFile", object{"path": at("file"), "dataBase64": "aGk"}, absolute, "requires valid base64 dataBase64"},
		{"fs/writeFile", object{"path": at("file"), "dataBase64": "aGl="}, absolute, "requires valid base64 dataBase64"},
		{"fs/writeFile", object{"path": at("no/file"), "dataBase64": ""}, notFound, "os error 2"},
		{"fs/writeFile", object{"path": dir, "dataBase64": ""}, isType, "Is a directory (os error 21)"},
		{"fs/writeFile", object{"path": at("fifo"), "dataBase64": "aGk="}, isType, "is not a file"},
		{"fs/writeFile", object{"path": "/dev/full", "dataBase64": "aGk="}, isType, "is not a file"},
		{"fs/createDirectory", object{"path": at("file")}, protocol.KindFileExists, "File exists (os error 17)"},
		{"fs/createDirectory", object{"path": at("file/in")}, isType, "os error 20"},
		{"fs/createDirectory", object{"path": at("full"), "recursive": false}, protocol.KindFileExists, "os error 17"},
		{"fs/createDirectory", object{"path": at("a/b"), "recursive": false}, notFound, "os error 2"},
		{"fs/getMetadata", object{"path": at("none")}, notFound, "os error 2"},
		{"fs/getMetadata", object{"path": at("round")}, isType, "os error 40"},
		{"fs/readDirectory", object{"path": at("file")}, isType, "os error 20"},
		{"fs/readDirectory", object{"path": at("fifo")}, isType, "os error 20"},
		{"fs/readDirectory", object{"path": at("none")}, notFound, "os error 2"},
		{"fs/remove", object{"path": at("none"), "force": false}, notFound, "os error 2"},
		{"fs/remove", object{"path": at("file/in")}, isType, "os error 20"},
		{"fs/remove", object{"path": at("full"), "recursive": false}, protocol.KindFileExists,
			"Directory not empty (os error 39)"},
		{"fs/remove", object{"path": "/"}, absolute, "root"},
		{"fs/remove", object{"path": "/tmp/.."}, absolute, "root"},
		{"fs/copy", object{"sourcePath": "a", "destinationPath": at("x")}, absolute, "`sourcePath`"},
		{"fs/copy", object{"sourcePath": at("file"), "destinationPath": "x"}, absolute, "`destinationPath`"},
		{"fs/copy", object{"sourcePath": at("none"), "destinationPath": at("x")}, notFound, "os error 2"},
		{"fs/copy", object{"sourcePath": at("full"), "destinationPath": at("x")}, isType, "requires recursive: true"},
		{"fs/copy", object{"sourcePath": at("fifo"), "destinationPath": at("x")}, isType, "only supports"},
		{"fs/copy", object{"sourcePath": at("file"), "destinationPath": at("full")}, isType, "os error 21"},
		{"fs/copy", object{"sourcePath": at("file"), "destinationPath": at("fifo")}, isType, "is not a file"},
		{"fs/copy", object{"sourcePath": at("file"), "destinationPath": at("file")}, protocol.KindFileExists,
			"the same file"},
		{"fs/copy", object{"sourcePath": at("full"), "destinationPath": at("full/in/deep"), "recursive": true}, isType,
			"itself or one of its descendants"},
		{"fs/copy", object{"sourcePath": at("full"), "destinationPath": at("full"), "recursive": true}, isType, "itself"},
		{"fs/copy", object{"sourcePath": at("full"), "destinationPath": at("file"), "recursive": true},
			protocol.KindFileExists, "os error 17"},
		{"fs/watch", object{"watchId": "w", "path": "file"}, absolute, "absolute"},
	} {
		kind, text := d.send(1, c.method, c.params).refusal()
		require.Equal(t, c.kind, kind, "%s %v: %s", c.method, c.params, text)
		require.Contains(t, text, c.says, "%s %v", c.method, c.params)
	}
	require.Equal(t, "x", read(t, at("file")), "nothing was written")
	require.NoFileExists(t, at("x"))
}

func TestForbiddenOperationsAreReported(t *testing.T) {
	d := open(t)
	text := d.send(1, "fs/remove", object{"path": "/proc/version"}).refused(protocol.KindFileAccess)
	require.Contains(t, text, "/proc/version: ")
}

func TestFilesThatAreTooLargeAreNotRead(t *testing.T) {
	d, path := open(t), filepath.Join(t.TempDir(), "large")
	write(t, path, "")
	require.NoError(t, os.Truncate(path, 48<<20+1))
	require.Contains(t, d.send(1, "fs/readFile", object{"path": path}).refused(protocol.KindFileTooLarge), "command/exec")
	require.NoError(t, os.Truncate(path, 48<<20))
	data := result[protocol.FsReadFileResponse](d.send(1, "fs/readFile", object{"path": path})).DataBase64
	require.Len(t, data, 64<<20, "it fills the longest line")
}

func TestFilesOfTheKernelAreRead(t *testing.T) {
	data := result[protocol.FsReadFileResponse](open(t).send(1, "fs/readFile",
		object{"path": "/proc/self/status"})).DataBase64
	text, err := base64.StdEncoding.DecodeString(data)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(text, []byte("Name:")), "whatever size it says it has")
}

func TestDirectoriesAreMade(t *testing.T) {
	d, dir := open(t), t.TempDir()
	for range 2 {
		d.send(1, "fs/createDirectory", object{"path": filepath.Join(dir, "a/b/c")}).done()
	}
	d.send(1, "fs/createDirectory", object{"path": filepath.Join(dir, "a/d"), "recursive": false}).done()
	d.send(1, "fs/createDirectory", object{"path": filepath.Join(dir, "a/./x/../e/"), "recursive": nil}).done()
	for _, name := range []string{"a/b/c", "a/d", "a/e"} {
		require.DirExists(t, filepath.Join(dir, name))
	}
	require.NoDirExists(t, filepath.Join(dir, "a/x"))
}

func TestMetadata(t *testing.T) {
	d, dir := open(t), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("file"), "x")
	require.NoError(t, os.Mkdir(at("dir"), 0o755))
	require.NoError(t, os.Symlink("file", at("link")))
	require.NoError(t, os.Symlink("dir", at("dirlink")))
	require.NoError(t, posix.Mkfifo(at("fifo"), 0o644))
	modified := time.UnixMilli(1_234_567_890_123)
	for name, want := range map[string]protocol.FsGetMetadataResponse{
		"file":    {IsFile: true},
		"dir":     {IsDirectory: true},
		"link":    {IsFile: true, IsSymlink: true},
		"dirlink": {IsDirectory: true, IsSymlink: true},
		"fifo":    {},
	} {
		require.NoError(t, os.Chtimes(at(name), modified, modified))
		got := result[protocol.FsGetMetadataResponse](d.send(1, "fs/getMetadata", object{"path": at(name)}))
		require.Equal(t, modified.UnixMilli(), got.ModifiedAtMs, name)
		if got.CreatedAtMs != 0 {
			require.WithinDuration(t, time.Now(), time.UnixMilli(got.CreatedAtMs), time.Hour,
				"it was made now, whatever was said of its change")
		}
		got.ModifiedAtMs, got.CreatedAtMs = 0, 0
		require.Equal(t, want, got, name)
	}
	require.NoError(t, os.Chtimes(at("file"), time.Unix(-5, 0), time.Unix(-5, 0)))
	require.Zero(t, result[protocol.FsGetMetadataResponse](d.send(1, "fs/getMetadata",
		object{"path": at("file")})).ModifiedAtMs)
}

func TestDirectoriesAreListed(t *testing.T) {
	d, dir := open(t), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.Equal(t, []protocol.FsReadDirectoryEntry{},
		result[protocol.FsReadDirectoryResponse](d.send(1, "fs/readDirectory", object{"path": dir})).Entries)
	write(t, at("b"), "")
	write(t, at(".a"), "")
	write(t, at("c/in"), "")
	require.NoError(t, os.Symlink("b", at("to-b")))
	require.NoError(t, os.Symlink("c", at("to-c")))
	require.NoError(t, os.Symlink("nothing", at("to-nothing")))
	require.NoError(t, posix.Mkfifo(at("fifo"), 0o644))
	want := []protocol.FsReadDirectoryEntry{
		{FileName: ".a", IsFile: true}, {FileName: "b", IsFile: true}, {FileName: "c", IsDirectory: true}, {FileName: "fifo"},
		{FileName: "to-b", IsFile: true}, {FileName: "to-c", IsDirectory: true},
	}
	require.Equal(t, want,
		result[protocol.FsReadDirectoryResponse](d.send(1, "fs/readDirectory", object{"path": dir})).Entries)
	require.NoError(t, os.Symlink(dir, filepath.Join(t.TempDir(), "link")))
}

func TestRemovedFilesAreGone(t *testing.T) {
	d, dir := open(t), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("kept/file"), "x")
	write(t, at("file"), "")
	write(t, at("tree/a/b"), "")
	require.NoError(t, os.Mkdir(at("empty"), 0o755))
	require.NoError(t, os.Symlink("kept", at("link")))
	require.NoError(t, os.Symlink("../kept", at("tree/link")))
	for _, params := range []object{
		{"path": at("file"), "recursive": false, "force": false}, {"path": at("tree")},
		{"path": at("empty"), "recursive": false},
		{"path": at("link")}, {"path": at("never was")}, {"path": at("never/was"), "recursive": nil, "force": nil},
	} {
		d.send(1, "fs/remove", params).done()
		require.NoFileExists(t, params["path"].(string))
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, "x", read(t, at("kept/file")), "a link is removed, not what it leads to")
}

func TestCopies(t *testing.T) {
	d, dir := open(t), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("src/run.sh"), "#!/bin/sh\n")
	require.NoError(t, os.Chmod(at("src/run.sh"), 0o750))
	write(t, at("src/in/deep/file"), "deep")
	require.NoError(t, os.Symlink("in/deep", at("src/link")))
	require.NoError(t, os.Symlink("nowhere", at("src/dangling")))
	require.NoError(t, posix.Mkfifo(at("src/fifo"), 0o644))
	d.send(1, "fs/copy", object{"sourcePath": at("src"), "destinationPath": at("a/b/dst"), "recursive": true}).done()
	require.Equal(t, "deep", read(t, at("a/b/dst/in/deep/file")))
	info, err := os.Stat(at("a/b/dst/run.sh"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o750), info.Mode().Perm())
	for name, want := range map[string]string{"link": "in/deep", "dangling": "nowhere"} {
		target, err := os.Readlink(at("a/b/dst/" + name))
		require.NoError(t, err)
		require.Equal(t, want, target)
	}
	require.NoFileExists(t, at("a/b/dst/fifo"), "what cannot be copied is passed over")

	write(t, at("old"), "something longer than before")
	d.send(1, "fs/copy", object{"sourcePath": at("src/run.sh"), "destinationPath": at("old"), "recursive": true}).done()
	require.Equal(t, "#!/bin/sh\n", read(t, at("old")))
	d.send(1, "fs/copy", object{"sourcePath": at("src/link"), "destinationPath": at("one link")}).done()
	target, err := os.Readlink(at("one link"))
	require.NoError(t, err)
	require.Equal(t, "in/deep", target)
	d.send(1, "fs/copy",
		object{"sourcePath": at("src/link"), "destinationPath": at("one link")}).refused(protocol.KindFileExists)
}

func TestACopyIsMergedIntoADirectory(t *testing.T) {
	d, dir := open(t), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("src/both"), "new")
	write(t, at("src/in/only"), "new")
	write(t, at("dst/both"), "old")
	write(t, at("dst/in/mine"), "old")
	d.send(1, "fs/copy", object{"sourcePath": at("src"), "destinationPath": at("dst"), "recursive": true}).done()
	for name, want := range map[string]string{"both": "new", "in/only": "new", "in/mine": "old"} {
		require.Equal(t, want, read(t, at("dst/"+name)), name)
	}
}

func TestACopyIntoItselfByALinkIsRefused(t *testing.T) {
	d, dir := open(t), t.TempDir()
	write(t, filepath.Join(dir, "src/file"), "x")
	require.NoError(t, os.Symlink("src", filepath.Join(dir, "link")))
	d.send(1, "fs/copy",
		object{"sourcePath": filepath.Join(dir, "src"), "destinationPath": filepath.Join(dir, "link/new/one"),
			"recursive": true}).
		refused(protocol.KindFileType)
	require.NoDirExists(t, filepath.Join(dir, "src/new"))
}

func TestOneClientDoesNotWaitForAnother(t *testing.T) {
	d, dir := open(t), t.TempDir()
	write(t, filepath.Join(dir, "file"), "x")
	resume := d.stopReading()
	waits := d.send(1, "fs/readFile", object{"path": filepath.Join(dir, "file")})
	require.True(t, waits.open(), "who does not read is read nothing")
	resume()
	require.Equal(t, in64("x"), result[protocol.FsReadFileResponse](waits).DataBase64)
}

func TestNothingIsDoneForAConnectionThatIsGone(t *testing.T) {
	d, dir := open(t), t.TempDir()
	d.send(1, "fs/createDirectory", object{"path": filepath.Join(dir, "a")}).done()
	d.leave(1)
	d.send(1, "fs/createDirectory", object{"path": filepath.Join(dir, "b")}).refused(protocol.KindShuttingDown)
	d.send(2, "fs/createDirectory", object{"path": filepath.Join(dir, "c")}).done()
	d.host.Stop()
	d.send(2, "fs/createDirectory", object{"path": filepath.Join(dir, "d")}).refused(protocol.KindShuttingDown)
	d.leave(2)
	d.leave(3)
	require.NoDirExists(t, filepath.Join(dir, "b"))
	require.NoDirExists(t, filepath.Join(dir, "d"))
	require.Zero(t, d.host.Connections(), "a server has any number of them, one after the other")
}
