package faultfs

import (
	"io/fs"
	"path/filepath"
	"syscall"
)

// Lstat calls Stat, because Mem has no symbolic links.
func (m *Mem) Lstat(path string) (fs.FileInfo, error) { return m.Stat(path) }

// SameFile compares inodes.
func (m *Mem) SameFile(a, b fs.FileInfo) bool { return a.Sys() == b.Sys() }

// Link creates a hard link. Before SyncDir, a crash may remove it.
func (m *Mem) Link(path, second string) error {
	path, second = filepath.Clean(path), filepath.Clean(second)
	m.mu.Lock()
	defer m.mu.Unlock()
	node, err := m.lookUp("link", path, second)
	if err == nil && m.live[second] != nil {
		err = &fs.PathError{Op: "link", Path: second, Err: syscall.EEXIST}
	}
	if err != nil {
		return err
	}
	m.live[second] = node
	return nil
}

// Rename renames a file and replaces an existing one. Before SyncDir, a crash may undo it
// separately for each of the two names. Renaming one name of a file to another name of it has
// no effect, as POSIX requires.
func (m *Mem) Rename(path, to string) error {
	path, to = filepath.Clean(path), filepath.Clean(to)
	m.mu.Lock()
	defer m.mu.Unlock()
	node, err := m.lookUp("rename", path, to)
	if there := m.live[to]; err == nil && there != nil && there.mode.IsDir() {
		err = &fs.PathError{Op: "rename", Path: to, Err: syscall.EISDIR}
	}
	if err != nil || m.live[to] == node {
		return err
	}
	m.live[to] = node
	delete(m.live, path)
	return nil
}

// lookUp returns the file at path and checks that the folder of name exists.
func (m *Mem) lookUp(op, path, name string) (*inode, error) {
	node := m.live[path]
	switch {
	case node == nil || m.live[filepath.Dir(name)] == nil:
		return nil, &fs.PathError{Op: op, Path: path, Err: syscall.ENOENT}
	case node.mode.IsDir():
		return nil, &fs.PathError{Op: op, Path: path, Err: syscall.EPERM}
	}
	return node, nil
}
