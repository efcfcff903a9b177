package faultfs

import (
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// inode is a file or a folder, independent of its names.
type inode struct {
	mode  fs.FileMode
	mtime time.Time
	data  []byte
	// synced is the content at the last sync, and pending the changes since.
	synced  []byte
	pending []dataChange
}

// dataChange truncates or extends a file to offset at and then writes data there.
type dataChange struct {
	at   int64
	data []byte
}

func (c dataChange) apply(to []byte) []byte {
	for int64(len(to)) < c.at {
		to = append(to, 0)
	}
	return append(to[:c.at:c.at], c.data...)
}

func (n *inode) apply(c dataChange) {
	n.data = c.apply(n.data)
	n.pending = append(n.pending, c)
	n.mtime = time.Now()
}

// contentAfterCrash returns the synced content with a random number of changes, the last of
// them in part.
func (n *inode) contentAfterCrash(chance *rand.Rand) []byte {
	content := slices.Clone(n.synced)
	done := chance.IntN(len(n.pending) + 1)
	for _, c := range n.pending[:done] {
		content = c.apply(content)
	}
	if done < len(n.pending) {
		part := n.pending[done]
		part.data = part.data[:chance.IntN(len(part.data)+1)]
		content = part.apply(content)
	}
	return content
}

// memFile is an open file of a Mem.
type memFile struct {
	mem      *Mem
	node     *inode
	path     string
	writable bool
	closed   bool
}

// locked calls do under the mutex, unless the file is closed or not writable.
func (f *memFile) locked(op string, write bool, do func()) error {
	f.mem.mu.Lock()
	defer f.mem.mu.Unlock()
	switch {
	case f.closed:
		return &fs.PathError{Op: op, Path: f.path, Err: fs.ErrClosed}
	case write && !f.writable:
		return &fs.PathError{Op: op, Path: f.path, Err: syscall.EBADF}
	}
	do()
	return nil
}

func (f *memFile) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.locked("read", false, func() {
		if off < int64(len(f.node.data)) {
			n = copy(p, f.node.data[off:])
		}
	})
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

func (f *memFile) Write(p []byte) (int, error) {
	err := f.locked("write", true, func() {
		f.node.apply(dataChange{at: int64(len(f.node.data)), data: slices.Clone(p)})
	})
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

func (f *memFile) Truncate(size int64) error {
	return f.locked("truncate", true, func() { f.node.apply(dataChange{at: size}) })
}

func (f *memFile) Sync() error {
	return f.locked("sync", false, func() {
		f.node.synced, f.node.pending = slices.Clone(f.node.data), nil
	})
}

func (f *memFile) Stat() (info fs.FileInfo, err error) {
	err = f.locked("stat", false, func() { info = f.node.info(f.path) })
	return info, err
}

func (f *memFile) Close() error {
	return f.locked("close", false, func() { f.closed = true })
}

// info returns the present state of the file.
func (n *inode) info(path string) fs.FileInfo {
	return fileInfo{filepath.Base(path), int64(len(n.data)), n.mode, n.mtime, n}
}

type fileInfo struct {
	name    string
	size    int64
	mode    fs.FileMode
	modTime time.Time
	node    *inode
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) Mode() fs.FileMode  { return i.mode }
func (i fileInfo) ModTime() time.Time { return i.modTime }
func (i fileInfo) IsDir() bool        { return i.mode.IsDir() }
func (i fileInfo) Sys() any           { return i.node }
