package zst_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"appserver/platform/disk"
	"appserver/rollout/faultfs"
	"appserver/rollout/zst"
)

const (
	create = os.O_RDWR | os.O_APPEND | os.O_CREATE | os.O_EXCL
	change = os.O_RDWR | os.O_APPEND
	name   = "rollout-2026-01-02T03-04-05-0190a6f8-1111-7aaa-8bbb-00000000000a.jsonl"
)

var dir = filepath.FromSlash("/home")

// folder is a file system with the folder of rollouts, and the one below it.
type folder struct {
	t *testing.T
	*zst.FS
}

func newFolder(t *testing.T) folder {
	return folder{t, zst.New(faultfs.NewMem(dir), filepath.Join(dir, "space"))}
}

func realFolder(t *testing.T) (f folder, path string) {
	at := t.TempDir()
	return folder{t, zst.New(disk.OS(), filepath.Join(at, "space"))}, filepath.Join(at, name)
}

// put makes a file with a form of its own.
func (f folder) put(path string, content []byte) {
	f.t.Helper()
	file, err := f.FS.FS.OpenFile(path, create, 0o600)
	require.NoError(f.t, err)
	_, err = file.Write(content)
	require.NoError(f.t, err)
	require.NoError(f.t, file.Sync())
	require.NoError(f.t, file.Close())
	require.NoError(f.t, f.SyncDir(filepath.Dir(path)))
}

func (f folder) open(path string) disk.File {
	f.t.Helper()
	file, err := f.OpenFile(path, os.O_RDONLY, 0)
	require.NoError(f.t, err)
	f.t.Cleanup(func() { _ = file.Close() })
	return file
}

// content reads a file from its start to its end.
func (f folder) content(path string) string {
	f.t.Helper()
	data, err := io.ReadAll(io.NewSectionReader(f.open(path), 0, 1<<40))
	require.NoError(f.t, err)
	return string(data)
}

func (f folder) names(dir string) (names []string) {
	entries, err := f.FS.FS.ReadDir(dir)
	require.NoError(f.t, err)
	for _, e := range entries {
		names = append(names, strings.TrimPrefix(e.Name(), strings.TrimSuffix(name, ".jsonl")))
	}
	return names
}

// packed compresses parts into one frame each.
func packed(parts ...[]byte) []byte {
	var out bytes.Buffer
	for _, part := range parts {
		w, _ := zstd.NewWriter(&out)
		_, _ = w.Write(part)
		_ = w.Close()
	}
	return out.Bytes()
}

// text returns lines that compress to about a third.
func text(size int) []byte {
	var out bytes.Buffer
	chance := rand.New(rand.NewPCG(1, 2))
	for n := 0; out.Len() < size; n++ {
		fmt.Fprintf(&out, `{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":%d,"text":"%x"}`+"\n", n, chance.Uint64())
	}
	return out.Bytes()[:size]
}

func TestACompressedFileHasItsPlainName(t *testing.T) {
	f := newFolder(t)
	path := filepath.Join(dir, name)
	f.put(path+".zst", packed([]byte("abc\n")))
	f.put(path+".bak.zst", packed([]byte("backup\n")))
	f.put(filepath.Join(dir, "other.zst"), []byte("x"))

	require.Equal(t, "abc\n", f.content(path))
	require.Equal(t, "abc\n", f.content(path+".zst"), "the stored name is another name of the file")
	require.Equal(t, "backup\n", f.content(path+".bak"))
	info, err := f.Lstat(path)
	require.NoError(t, err)
	require.Equal(t, name, info.Name())
	entries, err := f.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.ElementsMatch(t, []string{"other.zst", name, name + ".bak"}, names)
	_, err = f.OpenFile(path, create, 0o600)
	require.ErrorIs(t, err, fs.ErrExist)
}

func TestThePlainFormCounts(t *testing.T) {
	f := newFolder(t)
	path := filepath.Join(dir, name)
	f.put(path, []byte("newer\n"))
	f.put(path+".zst", packed([]byte("older\n")))
	require.Equal(t, "newer\n", f.content(path))
	entries, err := f.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)

	require.NoError(t, f.Settle(path))
	require.Equal(t, []string{".jsonl", ".jsonl.zst"}, f.names(dir), "the other form has another content, so it stays")
	require.NoError(t, f.RemoveHidden(path))
	require.Equal(t, []string{".jsonl"}, f.names(dir))

	f.put(path+".zst", packed([]byte("new")))
	require.NoError(t, f.Settle(path))
	require.Equal(t, []string{".jsonl"}, f.names(dir), "the plain form has all of the other one")

	f.put(path+".zst", packed([]byte("newer\n"))[:9])
	require.NoError(t, f.Settle(path))
	require.Equal(t, []string{".jsonl", ".jsonl.zst"}, f.names(dir), "a damaged form may have had more")
	require.NoError(t, f.Remove(path))
	require.Empty(t, f.names(dir))
}

func TestLinksAndRenamesKeepTheForm(t *testing.T) {
	f := newFolder(t)
	from, to := filepath.Join(dir, name), filepath.Join(dir, "sub", name)
	require.NoError(t, f.MkdirAll(filepath.Dir(to), 0o700))
	f.put(from+".zst", packed([]byte("abc\n")))
	require.NoError(t, f.Link(from, to))
	require.Equal(t, []string{".jsonl.zst"}, f.names(filepath.Dir(to)))
	require.ErrorIs(t, f.Link(from, to), fs.ErrExist)
	require.NoError(t, f.Remove(from))
	require.NoError(t, f.Rename(to, from))
	require.Equal(t, "abc\n", f.content(from))

	f.put(to, []byte("plain\n"))
	require.ErrorIs(t, f.Link(from, to), fs.ErrExist, "a name is taken in either form")
	require.ErrorIs(t, f.Link(to, from), fs.ErrExist)
	require.NoError(t, f.Rename(to, from))
	require.Equal(t, "plain\n", f.content(from), "a file that is renamed replaces both forms")
	require.Equal(t, []string{".jsonl", "sub"}, f.names(dir))
	require.Error(t, f.Link(from+".zst", filepath.Join(dir, "other")+"/x"))
}

func TestConversionsKeepContentTimeAndPermissions(t *testing.T) {
	f, path := realFolder(t)
	for _, size := range []int{0, 1, 4000, 3 << 20} {
		content := text(size)
		f.put(path, content)
		at := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
		require.NoError(t, os.Chtimes(path, at, at))
		require.NoError(t, os.Chmod(path, 0o640))
		sizes, err := f.Compress(path)
		if size < 100 {
			require.ErrorIs(t, err, zst.ErrNotSmaller)
			require.Equal(t, []string{".jsonl"}, f.names(filepath.Dir(path)))
			require.NoError(t, f.Remove(path))
			continue
		}
		require.NoError(t, err)
		require.EqualValues(t, size, sizes.Plain)
		require.Less(t, sizes.Compressed, sizes.Plain)
		requireSame := func() {
			require.Equal(t, string(content), f.content(path))
			info, err := f.Stat(path)
			require.NoError(t, err)
			require.True(t, info.ModTime().Equal(at))
			if runtime.GOOS != "windows" {
				require.Equal(t, fs.FileMode(0o640), info.Mode())
			}
		}
		requireSame()
		require.Equal(t, []string{".jsonl.zst"}, f.names(filepath.Dir(path)))
		_, err = f.Compress(path)
		require.ErrorIs(t, err, zst.ErrCompressed)

		problem, err := f.Expand(path)
		require.NoError(t, err)
		require.NoError(t, problem)
		requireSame()
		require.Equal(t, []string{".jsonl"}, f.names(filepath.Dir(path)))
		require.NoError(t, f.Remove(path))
	}
}

func TestAppendingDecompresses(t *testing.T) {
	f, path := realFolder(t)
	f.put(path+".zst", packed([]byte("one\n"), []byte("two\n")))
	file, err := f.OpenFile(path, change, 0)
	require.NoError(t, err)
	_, err = file.Write([]byte("three\n"))
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.Equal(t, "one\ntwo\nthree\n", f.content(path))
	require.Equal(t, []string{".jsonl"}, f.names(filepath.Dir(path)))
}

// TestAnyOrderOfReadsGivesTheContent reads parts of a content that fits into memory, and of one that does not.
func TestAnyOrderOfReadsGivesTheContent(t *testing.T) {
	f, path := realFolder(t)
	for _, size := range []int{100_000, 9 << 20} {
		content := text(size)
		f.put(path+".zst", packed(content))
		chance := rand.New(rand.NewPCG(3, 4))
		for range 10 {
			file := f.open(path)
			for range 20 {
				at, n := chance.IntN(size+1000), chance.IntN(200_000)
				if chance.IntN(3) == 0 {
					at = chance.IntN(100)
				}
				p := make([]byte, n)
				got, err := file.ReadAt(p, int64(at))
				want := content[min(at, size):min(at+n, size)]
				require.True(t, bytes.Equal(want, p[:got]))
				if got < n {
					require.ErrorIs(t, err, io.EOF)
				} else {
					require.NoError(t, err)
				}
				if chance.IntN(10) == 0 {
					length, err := file.(disk.Compressed).Length()
					require.NoError(t, err)
					require.EqualValues(t, size, length)
				}
			}
			require.NoError(t, file.Close())
			_, err := file.ReadAt(make([]byte, 1), 0)
			require.ErrorIs(t, err, fs.ErrClosed)
		}
		require.NoError(t, f.Remove(path))
	}
	left, err := os.ReadDir(filepath.Join(filepath.Dir(path), "space"))
	require.NoError(t, err)
	require.Empty(t, left, "no content of a closed file stays")
}

func TestReadingTheStartDecompressesOnlyTheStart(t *testing.T) {
	f, path := realFolder(t)
	whole := packed(text(40 << 20))
	f.put(path+".zst", whole)
	counted := &counted{FS: disk.OS()}
	z := folder{t, zst.New(counted, filepath.Join(filepath.Dir(path), "space"))}
	_, err := z.open(path).ReadAt(make([]byte, 64<<10), 0)
	require.NoError(t, err)
	require.Less(t, counted.read, int64(len(whole)/10))
}

// counted counts the bytes that are read.
type counted struct {
	disk.FS
	read int64
}

func (c *counted) OpenFile(path string, flag int, perm fs.FileMode) (disk.File, error) {
	f, err := c.FS.OpenFile(path, flag, perm)
	return countedFile{f, c}, err
}

type countedFile struct {
	disk.File
	disk *counted
}

func (f countedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.disk.read += int64(n)
	return n, err
}

// damaged returns forms of a content that cannot be decompressed to their ends, with the readable content.
func damaged(content []byte) map[string]struct{ stored, readable []byte } {
	type form = struct{ stored, readable []byte }
	whole := packed(content)
	half := len(content) / 2
	frames := packed(content[:half], content[half:])
	first := len(packed(content[:half]))
	overwritten := bytes.Clone(frames)
	for i := first; i < len(frames); i++ {
		overwritten[i] = 0
	}
	return map[string]form{
		"rubbish after it":     {append(bytes.Clone(whole), "rubbish that is no frame"...), content},
		"one byte after it":    {append(bytes.Clone(whole), 'x'), content},
		"zeros after it":       {append(bytes.Clone(whole), make([]byte, 512)...), content},
		"second frame cut":     {frames[:first+10], content[:half]},
		"second frame is zero": {overwritten, content[:half]},
		"not compressed":       {content, nil},
		"cut in the header":    {whole[:5], nil},
	}
}

func TestTheReadablePartOfADamagedFileIsRead(t *testing.T) {
	for what, form := range damaged(text(300_000)) {
		t.Run(what, func(t *testing.T) {
			f, path := realFolder(t)
			f.put(path+".zst", form.stored)
			require.Equal(t, string(form.readable), f.content(path))
			file := f.open(path)
			length, err := file.(disk.Compressed).Length()
			require.NoError(t, err)
			require.EqualValues(t, len(form.readable), length)
			require.ErrorContains(t, disk.Problem(file), "its compression is damaged after")

			problem, err := f.Expand(path)
			require.NoError(t, err)
			require.Error(t, problem)
			require.Equal(t, string(form.readable), f.content(path))
			kept, err := os.ReadFile(path + ".orig.zst")
			require.NoError(t, err)
			require.Equal(t, form.stored, kept, "no byte of the damaged file is lost")
			require.Equal(t, []string{".jsonl", ".jsonl.orig.zst"}, f.names(filepath.Dir(path)))
		})
	}
}

// TestATruncatedFileIsReadAsFarAsPossible cuts one frame at many places.
func TestATruncatedFileIsReadAsFarAsPossible(t *testing.T) {
	content := text(600_000)
	whole := packed(content)
	last := 0
	for cut := 0; cut < len(whole); cut += len(whole) / 23 {
		f := newFolder(t)
		path := filepath.Join(dir, name)
		f.put(path+".zst", whole[:cut])
		got := f.content(path)
		require.True(t, strings.HasPrefix(string(content), got))
		require.GreaterOrEqual(t, len(got), last)
		last = len(got)
	}
	require.Greater(t, last, len(content)/2)
}

// TestABombTakesLittleMemory reads and rejects a content of 3 GiB in 100 KB.
func TestABombTakesLittleMemory(t *testing.T) {
	f, path := realFolder(t)
	frame := packed(make([]byte, 64<<20))
	f.put(path+".zst", bytes.Repeat(frame, 48))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	file := f.open(path)
	_, err := file.ReadAt(make([]byte, 64<<10), 0)
	require.NoError(t, err)
	_, err = file.ReadAt(make([]byte, 10), 200<<20)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(96<<20))
}

func TestAHugeWindowIsRefused(t *testing.T) {
	f, path := realFolder(t)
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithWindowSize(64<<20), zstd.WithSingleSegment(false))
	require.NoError(t, err)
	_, err = w.Write(text(1 << 20))
	require.NoError(t, err)
	require.NoError(t, w.Flush())
	require.NoError(t, w.Close())
	f.put(path+".zst", out.Bytes())
	require.Empty(t, f.content(path))
	file := f.open(path)
	_, err = file.(disk.Compressed).Length()
	require.NoError(t, err)
	require.ErrorContains(t, disk.Problem(file), "window")
}

func TestADiskErrorIsNoDamage(t *testing.T) {
	mem := faultfs.NewMem(dir)
	f := folder{t, zst.New(mem, filepath.Join(dir, "space"))}
	path := filepath.Join(dir, name)
	f.put(path+".zst", packed(text(300_000)))
	for n := range 3 {
		fault := faultfs.Fault{Only: []faultfs.Op{faultfs.OpRead}, First: n, Count: 1, Err: io.ErrNoProgress}
		faulty := faultfs.Wrap(mem, fault)
		z := folder{t, zst.New(faulty, filepath.Join(dir, "space"))}
		file := z.open(path)
		_, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<40))
		require.ErrorIs(t, err, io.ErrNoProgress)
		require.NoError(t, disk.Problem(file))
		data, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<40))
		require.NoError(t, err, "the next attempt succeeds")
		require.Len(t, data, 300_000)
		_, err = zst.New(faultfs.Wrap(mem, fault), filepath.Join(dir, "space")).Expand(path)
		require.ErrorIs(t, err, io.ErrNoProgress)
		require.Equal(t, []string{".jsonl.zst"}, f.names(dir))
	}
}
