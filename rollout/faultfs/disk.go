package faultfs

import (
	"io"
	"io/fs"
	"slices"
	"sync"

	"appserver/platform/disk"
)

// Op is a kind of operation.
type Op string

// Operations that can fail. OpStat includes Lstat. OpLock is taking a lock; releasing one
// never fails.
const (
	OpMkdirAll Op = "mkdirall"
	OpOpen     Op = "open"
	OpReadDir  Op = "readdir"
	OpStat     Op = "stat"
	OpRemove   Op = "remove"
	OpLink     Op = "link"
	OpRename   Op = "rename"
	OpSetAttr  Op = "setattr"
	OpSyncDir  Op = "syncdir"
	OpLock     Op = "lock"
	OpRead     Op = "read"
	OpWrite    Op = "write"
	OpSync     Op = "sync"
	OpTruncate Op = "truncate"
	OpClose    Op = "close"
)

// Fault selects the operations that fail.
type Fault struct {
	// Only lists the kinds that are counted and can fail. Empty means all kinds.
	Only []Op
	// First is the number of the first operation that fails, from 0. Count is the number of
	// failing operations. If it is negative, operations fail until Heal.
	First, Count int
	// Err is the error of the system, such as syscall.ENOSPC.
	Err error
	// Partial is set if a failing write writes half of its data.
	Partial bool
}

// Disk forwards operations to another file system, unless they fail. A failing Close closes
// the file. Other failing operations have no effect, except for partial writes.
type Disk struct {
	disk.FS
	mu       sync.Mutex
	fault    Fault
	next     int
	failures int
}

var _ disk.FS = (*Disk)(nil)

// Wrap returns a Disk on top of a file system.
func Wrap(disk disk.FS, fault Fault) *Disk { return &Disk{FS: disk, fault: fault} }

// Heal ends all failures.
func (d *Disk) Heal() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault.Count = 0
}

// Failures returns the number of failed operations.
func (d *Disk) Failures() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failures
}

// fail counts an operation and returns its error, or nil.
func (d *Disk) fail(op Op, path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.fault
	if len(f.Only) > 0 && !slices.Contains(f.Only, op) {
		return nil
	}
	n := d.next
	d.next++
	if n < f.First || f.Count >= 0 && n >= f.First+f.Count {
		return nil
	}
	d.failures++
	return &fs.PathError{Op: string(op), Path: path, Err: f.Err}
}

// MkdirAll fails for OpMkdirAll.
func (d *Disk) MkdirAll(path string, perm fs.FileMode) error {
	if err := d.fail(OpMkdirAll, path); err != nil {
		return err
	}
	return d.FS.MkdirAll(path, perm)
}

// OpenFile fails for OpOpen.
func (d *Disk) OpenFile(path string, flag int, perm fs.FileMode) (disk.File, error) {
	if err := d.fail(OpOpen, path); err != nil {
		return nil, err
	}
	f, err := d.FS.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return &file{File: f, disk: d, path: path}, nil
}

// ReadDir fails for OpReadDir.
func (d *Disk) ReadDir(path string) ([]fs.DirEntry, error) {
	if err := d.fail(OpReadDir, path); err != nil {
		return nil, err
	}
	return d.FS.ReadDir(path)
}

// Stat fails for OpStat.
func (d *Disk) Stat(path string) (fs.FileInfo, error) {
	if err := d.fail(OpStat, path); err != nil {
		return nil, err
	}
	return d.FS.Stat(path)
}

// Remove fails for OpRemove.
func (d *Disk) Remove(path string) error {
	if err := d.fail(OpRemove, path); err != nil {
		return err
	}
	return d.FS.Remove(path)
}

// Lstat fails for OpStat.
func (d *Disk) Lstat(path string) (fs.FileInfo, error) {
	if err := d.fail(OpStat, path); err != nil {
		return nil, err
	}
	return d.FS.Lstat(path)
}

// Link fails for OpLink.
func (d *Disk) Link(path, second string) error {
	if err := d.fail(OpLink, path); err != nil {
		return err
	}
	return d.FS.Link(path, second)
}

// Rename fails for OpRename.
func (d *Disk) Rename(path, to string) error {
	if err := d.fail(OpRename, path); err != nil {
		return err
	}
	return d.FS.Rename(path, to)
}

// SetAttributes fails for OpSetAttr.
func (d *Disk) SetAttributes(path string, like fs.FileInfo) error {
	if err := d.fail(OpSetAttr, path); err != nil {
		return err
	}
	return d.FS.SetAttributes(path, like)
}

// SyncDir fails for OpSyncDir.
func (d *Disk) SyncDir(path string) error {
	if err := d.fail(OpSyncDir, path); err != nil {
		return err
	}
	return d.FS.SyncDir(path)
}

// Lock fails for OpLock.
func (d *Disk) Lock(path string, mode disk.LockMode) (io.Closer, error) {
	if err := d.fail(OpLock, path); err != nil {
		return nil, err
	}
	return d.FS.Lock(path, mode)
}

// file is an open file of a Disk.
type file struct {
	disk.File
	disk *Disk
	path string
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.disk.fail(OpRead, f.path); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *file) Write(p []byte) (int, error) {
	err := f.disk.fail(OpWrite, f.path)
	switch {
	case err == nil:
		return f.File.Write(p)
	case !f.disk.fault.Partial:
		return 0, err
	}
	n, _ := f.File.Write(p[:len(p)/2])
	return n, err
}

func (f *file) Sync() error {
	if err := f.disk.fail(OpSync, f.path); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *file) Truncate(size int64) error {
	if err := f.disk.fail(OpTruncate, f.path); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *file) Stat() (fs.FileInfo, error) {
	if err := f.disk.fail(OpStat, f.path); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f *file) Close() error {
	failed := f.disk.fail(OpClose, f.path)
	if err := f.File.Close(); err != nil {
		return err
	}
	return failed
}
