package zst

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"appserver/platform/disk"
	"appserver/platform/osfile"
)

// Errors of Compress, which leave the file as it is.
var (
	ErrCompressed = disk.Cause{Text: "it is compressed already", Next: "there is nothing to do"}
	ErrNotSmaller = disk.Cause{Text: "it would not be smaller", Next: "there is nothing to do"}
	ErrChanged    = disk.Cause{Text: "it was written to meanwhile", Next: "try again later"}
	errBothForms  = disk.Cause{
		Text: "a different file has its compressed name",
		Next: "the one with .zst is ignored: move it away",
	}
	errNotRegular = disk.Cause{Text: "it is not a regular file", Next: "the file that it leads to is unchanged"}
	errNotSame    = disk.Cause{
		Text: "the compressed form has another content",
		Next: "the file is unchanged; check the disk and the memory of this machine",
	}
)

// originalSuffix is the suffix of a compressed file that was damaged when it was decompressed.
const originalSuffix = ".orig"

// Sizes are those of a file in both forms, in bytes.
type Sizes struct{ Plain, Compressed int64 }

// Compress replaces the plain form of a file by the compressed one, durably. The caller holds the writer lock of the
// thread.
func (z *FS) Compress(path string) (Sizes, error) {
	sizes, err := z.compress(Plain(path))
	return sizes, disk.Wrap("compress", path, err)
}

func (z *FS) compress(path string) (sizes Sizes, err error) {
	if _, compressed, err := z.stored(path); compressed || err != nil {
		return sizes, cmp.Or[error](err, ErrCompressed)
	}
	if err := z.Settle(path); err != nil {
		return sizes, err
	}
	both, err := z.exists(path + Suffix)
	if both || err != nil {
		return sizes, cmp.Or[error](err, errBothForms)
	}
	before, err := z.FS.Lstat(path)
	if err != nil {
		return sizes, err
	}
	if !before.Mode().IsRegular() {
		return sizes, errNotRegular
	}
	c := &conversion{
		fs: z, from: path, to: path + Suffix, before: before,
		temp: disk.TempFileAt(z.FS, path+disk.TempSuffix+Suffix),
	}
	if err := c.run(encode); err != nil {
		return sizes, err
	}
	return Sizes{before.Size(), c.size}, nil
}

// Expand replaces the compressed form of a file by the plain one, durably. If a part of it cannot be decompressed, that
// is the problem, and the compressed file is kept with the suffix .orig. The caller holds the writer lock of the
// thread. A file that is plain already is no error.
func (z *FS) Expand(path string) (problem, err error) {
	path = Plain(path)
	_, compressed, err := z.stored(path)
	if err != nil {
		return nil, disk.Wrap("open", path, err)
	}
	if !compressed {
		_ = z.Settle(path) // otherwise the compressed form stays hidden
		return nil, nil
	}
	problem, err = z.expand(path)
	return problem, disk.Wrap("decompress", path+Suffix, err)
}

func (z *FS) expand(path string) (problem, err error) {
	before, err := z.FS.Stat(path + Suffix)
	if err != nil {
		return nil, err
	}
	c := &conversion{
		fs: z, from: path + Suffix, to: path, before: before,
		temp: disk.TempFileAt(z.FS, path+disk.TempSuffix),
	}
	err = c.run(decode)
	return c.problem, err
}

// Settle removes the compressed form of a file that also has a plain one, if the latter has all of its content. A crash
// of a program that compresses or decompresses leaves both. The caller holds the writer lock of the thread.
func (z *FS) Settle(path string) error {
	path = Plain(path)
	if both, err := z.hasBoth(path); err != nil || !both {
		return disk.Wrap("open", path, err)
	}
	same, err := z.isEarlier(path)
	if err != nil || !same {
		return disk.Wrap("compare", path+Suffix, err)
	}
	dir := filepath.Dir(path)
	if err := z.removeOther(path+Suffix, path); err != nil {
		return disk.Wrap("remove", path+Suffix, err)
	}
	return disk.Wrap("sync", dir, z.FS.SyncDir(dir))
}

// RemoveHidden removes the compressed form of a file that also has a plain one, whatever its content. The caller holds
// the writer lock of the thread.
func (z *FS) RemoveHidden(path string) error {
	path = Plain(path)
	if both, err := z.hasBoth(path); err != nil || !both {
		return disk.Wrap("open", path, err)
	}
	return z.removeOther(path+Suffix, path)
}

// hasBoth reports whether a file has both forms.
func (z *FS) hasBoth(path string) (bool, error) {
	if !isRollout(path) {
		return false, nil
	}
	compressed, err := z.exists(path + Suffix)
	if err != nil || !compressed {
		return false, err
	}
	return z.exists(path)
}

// isEarlier reports whether the compressed form of a file is sound, and the plain one begins with its content. The
// plain one is durable then.
func (z *FS) isEarlier(path string) (bool, error) {
	raw, _, err := disk.Open(z.FS, path+Suffix, os.O_RDONLY)
	if err != nil {
		return false, err
	}
	defer func() { _ = raw.Close() }()
	plain, _, err := disk.Open(z.FS, path, osfile.ToSync)
	if err != nil {
		return false, err
	}
	defer func() { _ = plain.Close() }()
	_, err = z.compare(raw, plain)
	var problem *problemError
	if errors.Is(err, errNotSame) || errors.As(err, &problem) {
		return false, nil
	}
	return err == nil, cmp.Or(err, plain.Sync())
}

// conversion replaces one form of a file by the other one.
type conversion struct {
	fs       *FS
	from, to string
	before   fs.FileInfo
	temp     disk.TempFile
	// size is the size of the new form, and problem the reason why it lacks a part, or nil.
	size    int64
	problem error
}

func (c *conversion) run(convert func(c *conversion, from disk.File, out io.Writer) error) error {
	from, opened, err := disk.Open(c.fs.FS, c.from, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	if !disk.IsUnchanged(c.fs.FS, c.before, opened) {
		return ErrChanged
	}
	err = c.temp.Write(func(out io.Writer) error { return convert(c, from, out) })
	if err == nil {
		err = c.check(from)
	}
	if err == nil {
		err = c.fs.FS.SetAttributes(c.temp.Path, c.before)
	}
	if err == nil && c.problem != nil {
		err = c.keepOriginal()
	}
	if err == nil {
		err = c.checkFree()
	}
	if err = c.temp.Publish(err, c.to); err != nil {
		return err
	}
	if err := c.fs.FS.Remove(c.from); err != nil {
		return err
	}
	return c.fs.FS.SyncDir(filepath.Dir(c.from))
}

// checkFree returns an error if another program has made the new form.
func (c *conversion) checkFree() error {
	taken, err := c.fs.exists(c.to)
	if err == nil && taken {
		err = fs.ErrExist
	}
	return err
}

// check compares both forms. It returns an error if the source has changed.
func (c *conversion) check(from disk.File) error {
	converted, info, err := disk.Open(c.fs.FS, c.temp.Path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer func() { _ = converted.Close() }()
	c.size = info.Size()
	compressed, plain, length := converted, from, c.before.Size()
	if c.to == Plain(c.to) {
		compressed, plain, length = from, converted, info.Size()
	} else if info.Size() >= c.before.Size() {
		return ErrNotSmaller
	}
	same, err := c.fs.compare(compressed, plain)
	if problem := new(problemError); errors.As(err, &problem) && c.problem != nil {
		err = nil
	}
	if err == nil && same != length {
		err = errNotSame
	}
	now, statErr := c.fs.FS.Stat(c.from)
	if err = cmp.Or(err, statErr); err == nil && !disk.IsUnchanged(c.fs.FS, c.before, now) {
		err = ErrChanged
	}
	return err
}

// keepOriginal creates a second name for the source.
func (c *conversion) keepOriginal() error {
	for n := 0; ; n++ {
		kept := c.to + originalSuffix
		if n > 0 {
			kept += "." + strconv.Itoa(n)
		}
		_, err := c.fs.Lstat(kept)
		if err == nil {
			continue
		}
		if disk.IsNotExist(err) {
			err = c.fs.FS.Link(c.from, kept+Suffix)
		}
		if err != nil {
			return err
		}
		return c.fs.FS.SyncDir(filepath.Dir(kept))
	}
}

// encode compresses a file into one frame that has the length of the content and its checksum.
func encode(c *conversion, from disk.File, out io.Writer) error {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(encodeWindow))
	if err != nil {
		return err
	}
	encoder.ResetContentSize(out, c.before.Size())
	_, err = io.Copy(encoder, io.NewSectionReader(from, 0, c.before.Size()))
	return cmp.Or(err, encoder.Close())
}

// encodeWindow is the window of the reference implementation for a long file, in bytes.
const encodeWindow = 2 << 20

func decode(c *conversion, from disk.File, out io.Writer) error {
	content, err := c.fs.newStream(from)
	if err != nil {
		return err
	}
	defer content.close()
	_, err = io.Copy(out, content)
	var problem *problemError
	if errors.As(err, &problem) && problem.Cause != errTooLong {
		c.problem, err = problem.Cause, nil
	}
	return err
}

// compare returns the length of a content. The error is errNotSame if a plain file does not begin with it, or that of
// the stream.
func (z *FS) compare(compressed, plain disk.File) (length int64, err error) {
	content, err := z.newStream(compressed)
	if err != nil {
		return 0, err
	}
	defer content.close()
	return io.Copy(&comparison{file: plain}, content)
}

// comparison compares what is written to it with a file.
type comparison struct {
	file disk.File
	at   int64
	buf  []byte
}

// Write returns errNotSame if the file has other bytes.
func (c *comparison) Write(p []byte) (int, error) {
	c.buf = append(c.buf[:0], p...)
	n, err := c.file.ReadAt(c.buf, c.at)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if n < len(p) || !bytes.Equal(c.buf, p) {
		return 0, errNotSame
	}
	c.at += int64(n)
	return n, nil
}
