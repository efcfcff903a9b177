package faultfs

import (
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"appserver/platform/disk"
)

// Mem is a file system in memory that distinguishes durable state from what a crash loses. The
// content of a file is durable after File.Sync, and its name after SyncDir of its folder. Paths are cleaned, so that
// those with slashes are the same on Windows.
type Mem struct {
	mu    sync.Mutex
	live  map[string]*inode
	disk  map[string]*inode
	locks map[string]*lock
}

var _ disk.FS = (*Mem)(nil)

// NewMem returns a file system with one durable folder and its parents.
func NewMem(dir string) *Mem {
	m := &Mem{live: map[string]*inode{}, disk: map[string]*inode{}, locks: map[string]*lock{}}
	for _, d := range ancestors(dir) {
		m.live[d] = &inode{mode: fs.ModeDir | 0o700}
		m.disk[d] = m.live[d]
	}
	return m
}

// ancestors returns a path and the folders above it, topmost first.
func ancestors(path string) []string {
	path = filepath.Clean(path)
	if parent := filepath.Dir(path); parent != path {
		return append(ancestors(parent), path)
	}
	return []string{path}
}

// CrashClone returns the file system after a crash at this moment. It has all synced state. Of
// the unsynced state it has random names, and for each file a random prefix of its changes. No
// file is open and no lock is held. The original stays usable.
func (m *Mem) CrashClone(chance *rand.Rand) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	clone := &Mem{live: map[string]*inode{}, disk: map[string]*inode{}, locks: map[string]*lock{}}
	found := map[*inode]*inode{}
	for _, path := range m.allPaths() {
		node := m.afterCrash(path, chance)
		parent := filepath.Dir(path)
		if node == nil || parent != path && clone.live[parent] == nil {
			continue
		}
		if found[node] == nil {
			data := node.contentAfterCrash(chance)
			found[node] = &inode{mode: node.mode, mtime: node.mtime, data: data, synced: data}
		}
		clone.live[path], clone.disk[path] = found[node], found[node]
	}
	return clone
}

// allPaths returns all live and durable paths, folders before their content.
func (m *Mem) allPaths() []string {
	var paths []string
	for path := range m.live {
		paths = append(paths, path)
	}
	for path := range m.disk {
		if m.live[path] == nil {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// afterCrash returns the file at a path after a crash, or nil.
func (m *Mem) afterCrash(path string, chance *rand.Rand) *inode {
	if m.live[path] == m.disk[path] || chance.IntN(2) == 0 {
		return m.disk[path]
	}
	return m.live[path]
}

// MkdirAll creates folders. They are durable after SyncDir.
func (m *Mem) MkdirAll(path string, perm fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, dir := range ancestors(path) {
		node := m.live[dir]
		if node == nil {
			node = &inode{mode: fs.ModeDir | perm}
			m.live[dir] = node
		}
		if !node.mode.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		}
	}
	return nil
}

// OpenFile supports O_CREATE, O_EXCL and the access modes. All writes append.
func (m *Mem) OpenFile(path string, flag int, perm fs.FileMode) (disk.File, error) {
	path = filepath.Clean(path)
	m.mu.Lock()
	defer m.mu.Unlock()
	node := m.live[path]
	switch parent := m.live[filepath.Dir(path)]; {
	case node != nil && flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EEXIST}
	case node == nil && (flag&os.O_CREATE == 0 || parent == nil):
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOENT}
	case node == nil:
		node = &inode{mode: perm, mtime: time.Now()}
		m.live[path] = node
	}
	return &memFile{mem: m, node: node, path: path, writable: flag&(os.O_RDWR|os.O_WRONLY) != 0}, nil
}

// ReadDir returns the entries of a folder by name.
func (m *Mem) ReadDir(path string) ([]fs.DirEntry, error) {
	path = filepath.Clean(path)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.live[path] == nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOENT}
	}
	var entries []fs.DirEntry
	for _, p := range m.allPaths() {
		if node := m.live[p]; node != nil && p != path && filepath.Dir(p) == path {
			entries = append(entries, fs.FileInfoToDirEntry(node.info(p)))
		}
	}
	return entries, nil
}

// Stat describes a file or folder.
func (m *Mem) Stat(path string) (fs.FileInfo, error) {
	path = filepath.Clean(path)
	m.mu.Lock()
	defer m.mu.Unlock()
	if node := m.live[path]; node != nil {
		return node.info(path), nil
	}
	return nil, &fs.PathError{Op: "stat", Path: path, Err: syscall.ENOENT}
}

// Remove removes a name. Before SyncDir, a crash may restore it.
func (m *Mem) Remove(path string) error {
	path = filepath.Clean(path)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.live[path] == nil {
		return &fs.PathError{Op: "remove", Path: path, Err: syscall.ENOENT}
	}
	delete(m.live, path)
	return nil
}

// SetAttributes sets them durably.
func (m *Mem) SetAttributes(path string, like fs.FileInfo) error {
	path = filepath.Clean(path)
	m.mu.Lock()
	defer m.mu.Unlock()
	node := m.live[path]
	if node == nil {
		return &fs.PathError{Op: "chtimes", Path: path, Err: syscall.ENOENT}
	}
	node.mtime, node.mode = like.ModTime(), node.mode.Type()|like.Mode().Perm()
	return nil
}

// SyncDir makes the names in a folder durable, but not the content of files.
func (m *Mem) SyncDir(path string) error {
	path = filepath.Clean(path)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.live[path] == nil {
		return &fs.PathError{Op: "open", Path: path, Err: syscall.ENOENT}
	}
	for _, p := range m.allPaths() {
		if filepath.Dir(p) != path || p == path {
			continue
		}
		delete(m.disk, p)
		if node := m.live[p]; node != nil {
			m.disk[p] = node
		}
	}
	return nil
}

// Lock creates the file, as flock on a real file system does.
func (m *Mem) Lock(path string, mode disk.LockMode) (io.Closer, error) {
	path = filepath.Clean(path)
	if _, err := m.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.locks[path]
	if l == nil {
		l = &lock{}
		m.locks[path] = l
	}
	if l.exclusive || mode == disk.Exclusive && l.holders > 0 {
		return nil, disk.ErrHeld
	}
	l.holders++
	l.exclusive = mode == disk.Exclusive
	return &heldLock{mem: m, lock: l}, nil
}

// Held returns the paths of held locks.
func (m *Mem) Held() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var paths []string
	for path, l := range m.locks {
		if l.holders > 0 {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// Files returns the paths of all files below a folder.
func (m *Mem) Files(dir string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var paths []string
	for path, node := range m.live {
		if !node.mode.IsDir() && strings.HasPrefix(path, filepath.Clean(dir)+string(filepath.Separator)) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

type lock struct {
	holders   int
	exclusive bool
}

type heldLock struct {
	mem  *Mem
	lock *lock
	once sync.Once
}

// Close releases the lock. Further calls have no effect.
func (h *heldLock) Close() error {
	h.once.Do(func() {
		h.mem.mu.Lock()
		defer h.mem.mu.Unlock()
		h.lock.holders--
		h.lock.exclusive = false
	})
	return nil
}
