package faultfs

import (
	"io/fs"
	"path/filepath"
	"syscall"
)

// Lstat is Stat: there are no symbolic links.
func (m *Mem) Lstat(path string) (fs.FileInfo, error) { return m.Stat(path) }

// SameFile knows a file by any of its names.
func (m *Mem) SameFile(a, b fs.FileInfo) bool { return a.Sys() == b.Sys() }

// Link gives a file a second name; a crash may lose it before SyncDir.
func (m *Mem) Link(path, second string) error {
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

// Rename gives a file another name, and takes that from whatever file has it. Before
// SyncDir, a crash may undo either half: each of the names leads to what it led to
// before or after. Two names of one file both stay, as POSIX wants it.
func (m *Mem) Rename(path, to string) error {
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

// named is the file that is to get another name, in a folder that must be there.
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
