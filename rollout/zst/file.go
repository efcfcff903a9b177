package zst

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"sync"

	"appserver/platform/disk"
)

// Limits in bytes. maxStart is the part of a content that stays in memory while later ones are read. A content of up to
// maxInMemory is decompressed into memory.
const (
	maxStart    = 64 << 10
	maxInMemory = 8 << 20
)

// spacePrefix begins the names of files with the content of long files.
const spacePrefix = "unpacked-"

// file is a compressed file that is open to read.
type file struct {
	fs   *FS
	raw  disk.File
	path string

	mu sync.Mutex
	// stream is nil before the first read, and after the whole content was read.
	stream *stream
	// start has the first bytes of the content, and recent the last ones that were read, which begin at recentAt.
	start, recent []byte
	recentAt      int64
	// ended is set when length and problem are known.
	ended   bool
	length  int64
	problem error
	// whole has the content after unpack, and temp is its file, or nil.
	whole io.ReaderAt
	temp  *tempFile
	// closed is set after Close.
	closed bool
}

func (z *FS) newFile(raw disk.File, path string) *file { return &file{fs: z, raw: raw, path: path} }

// ReadAt reads from the content.
func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, fs.ErrClosed
	}
	for n < len(p) && f.whole == nil {
		at := off + int64(n)
		if held := f.held(at); len(held) > 0 {
			n += copy(p[n:], held)
			continue
		}
		if f.ended && at >= f.length {
			return n, io.EOF
		}
		var got int
		if got, err = f.readOn(p[n:], at); err != nil {
			return n, disk.Wrap("read", f.path, err)
		}
		if n += got; got > 0 {
			f.keep(p[:n], off)
		}
	}
	if n == len(p) {
		return n, nil
	}
	got, err := f.whole.ReadAt(p[n:], off+int64(n))
	return n + got, err
}

// held returns the bytes in memory from an offset on.
func (f *file) held(at int64) []byte {
	if behind := at - f.recentAt; behind >= 0 && behind < int64(len(f.recent)) {
		return f.recent[behind:]
	}
	if at < int64(len(f.start)) {
		return f.start[at:]
	}
	return nil
}

func (f *file) keep(read []byte, at int64) {
	f.recent, f.recentAt = append(f.recent[:0], read...), at
}

// readOn reads from the stream, after the bytes before an offset. Before the position of the stream, it unpacks.
func (f *file) readOn(p []byte, at int64) (n int, err error) {
	if f.stream != nil && at < f.stream.at || f.ended {
		return 0, f.unpack()
	}
	if f.stream == nil {
		if f.stream, err = f.fs.newStream(f.raw); err != nil {
			return 0, err
		}
	}
	skip := make([]byte, min(max(at-f.stream.at, 0), disk.WriteSize))
	for f.stream.at < at && !f.ended {
		if _, err = f.next(skip[:min(int64(len(skip)), at-f.stream.at)]); err != nil {
			return 0, err
		}
	}
	if f.ended {
		return 0, nil
	}
	return f.next(p)
}

// next reads the next bytes of the stream, as many as fit.
func (f *file) next(p []byte) (int, error) {
	at := f.stream.at
	n, err := io.ReadFull(f.stream, p)
	if int64(len(f.start)) == at {
		f.start = append(f.start, p[:min(n, maxStart-len(f.start))]...)
	}
	var problem *problemError
	switch {
	case err == nil:
		return n, nil
	case errors.As(err, &problem):
		f.problem = problem.Cause
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		f.closeStream()
		return 0, err
	}
	f.ended, f.length = true, f.stream.at
	f.closeStream()
	return n, nil
}

func (f *file) closeStream() {
	if f.stream != nil {
		f.stream.close()
		f.stream = nil
	}
}

// unpack decompresses the whole content into memory, or into a temporary file.
func (f *file) unpack() error {
	f.closeStream()
	from, err := f.fs.newStream(f.raw)
	if err != nil {
		return err
	}
	defer from.close()
	space := &tempSpace{fs: f.fs}
	length, err := io.Copy(space, from)
	var problem *problemError
	if errors.As(err, &problem) {
		f.problem, err = problem.Cause, nil
	}
	if err != nil {
		space.close()
		return err
	}
	f.ended, f.length, f.whole, f.temp = true, length, space.reader(), space.temp
	f.start, f.recent = nil, nil
	return nil
}

// Length implements disk.Compressed.
func (f *file) Length() (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, fs.ErrClosed
	}
	if f.whole == nil && !(f.ended && f.length <= int64(len(f.start))) {
		if err := f.unpack(); err != nil {
			return 0, disk.Wrap("decompress", f.path, err)
		}
	}
	return f.length, nil
}

// Problem implements disk.Compressed.
func (f *file) Problem() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.problem
}

// Stat describes the compressed file.
func (f *file) Stat() (fs.FileInfo, error) {
	info, err := f.raw.Stat()
	if err != nil {
		return nil, err
	}
	return named{info, filepath.Base(f.path)}, nil
}

// Sync makes the compressed file durable.
func (f *file) Sync() error { return f.raw.Sync() }

// Write returns an error.
func (f *file) Write([]byte) (int, error) { return 0, f.readOnly("write") }

// Truncate returns an error.
func (f *file) Truncate(int64) error { return f.readOnly("truncate") }

func (f *file) readOnly(op string) error {
	return &fs.PathError{Op: op, Path: f.path, Err: errors.ErrUnsupported}
}

// Close closes the file and removes its temporary content.
func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closeStream()
	if f.temp != nil {
		f.temp.close()
		f.temp = nil
	}
	f.closed, f.whole, f.start, f.recent = true, nil, nil, nil
	return f.raw.Close()
}

// tempSpace is written with the content of a file. It begins in memory.
type tempSpace struct {
	fs     *FS
	memory []byte
	temp   *tempFile
}

// Write appends to the content.
func (s *tempSpace) Write(p []byte) (n int, err error) {
	if s.temp == nil && len(s.memory)+len(p) <= maxInMemory {
		s.memory = append(s.memory, p...)
		return len(p), nil
	}
	if s.temp == nil {
		if s.temp, err = s.fs.newTempFile(); err == nil {
			_, err = s.temp.Write(s.memory)
		}
		if err != nil {
			return 0, err
		}
		s.memory = nil
	}
	return s.temp.Write(p)
}

func (s *tempSpace) reader() io.ReaderAt {
	if s.temp != nil {
		return s.temp
	}
	return bytes.NewReader(s.memory)
}

func (s *tempSpace) close() {
	if s.temp != nil {
		s.temp.close()
	}
}

// tempFile is a file without a name, or with one until it is closed.
type tempFile struct {
	disk.File
	fs   *FS
	path string
}

func (z *FS) newTempFile() (*tempFile, error) {
	path := filepath.Join(z.space, spacePrefix+rand.Text())
	file, err := disk.Create(z.FS, path)
	if err != nil {
		return nil, disk.Wrap("create", path, err)
	}
	if z.FS.Remove(path) == nil {
		path = ""
	}
	return &tempFile{file, z, path}, nil
}

func (t *tempFile) close() {
	_ = t.File.Close()
	if t.path != "" {
		_ = t.fs.FS.Remove(t.path)
	}
}

// RemoveSpace removes the contents of files that an ended process had open. An open one stays usable, or cannot be
// removed.
func (z *FS) RemoveSpace() error {
	found, err := z.FS.ReadDir(z.space)
	if disk.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return disk.Wrap("list", z.space, err)
	}
	for _, e := range found {
		if len(e.Name()) > len(spacePrefix) && e.Name()[:len(spacePrefix)] == spacePrefix {
			_ = z.FS.Remove(filepath.Join(z.space, e.Name())) // another process may have it open
		}
	}
	return nil
}

var _ disk.Compressed = (*file)(nil)
