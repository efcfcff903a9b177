package engine_test

import (
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tidwall/gjson"

	"appserver/rollout"
	"appserver/rollout/faultfs"
)

// diary records events on the disk and at the clients, in order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) note(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

// read gives what was noted since the last time.
func (d *diary) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	lines := d.lines
	d.lines = nil
	return lines
}

// gate blocks its callers until it is opened.
type gate struct {
	waiting atomic.Int32
	opened  chan struct{}
	once    sync.Once
}

func newGate() *gate { return &gate{opened: make(chan struct{})} }

func (g *gate) pass() {
	g.waiting.Add(1)
	defer g.waiting.Add(-1)
	<-g.opened
}

func (g *gate) open() { g.once.Do(func() { close(g.opened) }) }

// rule is asked before an operation. It may wait, and its error is the operation's.
type rule func(op faultfs.Op, path string) error

// disk passes operations on to another file system, as its rules allow, and notes
// what is written to rollouts.
type disk struct {
	rollout.FS
	diary *diary
	mu    sync.Mutex
	rules []rule
}

func (d *disk) enter(op faultfs.Op, path string) error {
	d.mu.Lock()
	rules := slices.Clone(d.rules)
	d.mu.Unlock()
	for _, r := range rules {
		if err := r(op, path); err != nil {
			return &fs.PathError{Op: string(op), Path: path, Err: err}
		}
	}
	return nil
}

func (d *disk) add(r rule) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rules = append(d.rules, r)
}

// clear takes all rules away.
func (d *disk) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rules = nil
}

// hold stops operations of a kind on paths that contain part.
func (d *disk) hold(g *gate, op faultfs.Op, part string) *gate {
	d.add(func(o faultfs.Op, path string) error {
		if o == op && strings.Contains(path, part) {
			g.pass()
		}
		return nil
	})
	return g
}

// fault is a failure that lasts while it is on.
type fault struct{ on atomic.Bool }

func (f *fault) heal() { f.on.Store(false) }

// fail makes operations on rollouts fail.
func (d *disk) fail(err error, ops ...faultfs.Op) *fault {
	f := &fault{}
	f.on.Store(true)
	d.add(func(o faultfs.Op, path string) error {
		if f.on.Load() && slices.Contains(ops, o) && isRollout(path) {
			return err
		}
		return nil
	})
	return f
}

func isRollout(path string) bool {
	return strings.Contains(path, "/sessions/") || strings.Contains(path, "/archived_sessions/")
}

func (d *disk) OpenFile(path string, flag int, perm fs.FileMode) (rollout.File, error) {
	if err := d.enter(faultfs.OpOpen, path); err != nil {
		return nil, err
	}
	f, err := d.FS.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return &diskFile{File: f, disk: d, path: path}, nil
}

func (d *disk) ReadDir(path string) ([]fs.DirEntry, error) {
	if err := d.enter(faultfs.OpReadDir, path); err != nil {
		return nil, err
	}
	return d.FS.ReadDir(path)
}

func (d *disk) Remove(path string) error {
	if err := d.enter(faultfs.OpRemove, path); err != nil {
		return err
	}
	return d.FS.Remove(path)
}

// Link keeps to the rules, as Rename and SyncDir do.
func (d *disk) Link(path, second string) error {
	if err := d.enter(faultfs.OpLink, path); err != nil {
		return err
	}
	return d.FS.Link(path, second)
}

func (d *disk) Rename(path, to string) error {
	if err := d.enter(faultfs.OpRename, path); err != nil {
		return err
	}
	return d.FS.Rename(path, to)
}

func (d *disk) SyncDir(path string) error {
	if err := d.enter(faultfs.OpSyncDir, path); err != nil {
		return err
	}
	return d.FS.SyncDir(path)
}

func (d *disk) Lock(path string, mode rollout.LockMode) (io.Closer, error) {
	if err := d.enter(faultfs.OpLock, path); err != nil {
		return nil, err
	}
	return d.FS.Lock(path, mode)
}

// diskFile is an open file of a disk.
type diskFile struct {
	rollout.File
	disk *disk
	path string
}

// Write writes half of the data where a rule makes it fail, as full disks do.
func (f *diskFile) Write(p []byte) (int, error) {
	if err := f.disk.enter(faultfs.OpWrite, f.path); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	n, err := f.File.Write(p)
	f.note(err, "disk takes "+kindsOf(p))
	return n, err
}

func (f *diskFile) Sync() error {
	if err := f.disk.enter(faultfs.OpSync, f.path); err != nil {
		return err
	}
	err := f.File.Sync()
	f.note(err, "disk syncs")
	return err
}

func (f *diskFile) Truncate(size int64) error {
	if err := f.disk.enter(faultfs.OpTruncate, f.path); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *diskFile) Close() error {
	if err := f.disk.enter(faultfs.OpClose, f.path); err != nil {
		return err
	}
	return f.File.Close()
}

func (f *diskFile) note(err error, what string) {
	if err == nil && isRollout(f.path) {
		f.disk.diary.note(what)
	}
}

// kindsOf returns the types of the lines, and of what they hold.
func kindsOf(lines []byte) string {
	var kinds []string
	for line := range strings.Lines(string(lines)) {
		kind := gjson.Get(line, "payload.type").Str
		if kind == "" {
			kind = gjson.Get(line, "type").Str
		}
		kinds = append(kinds, kind)
	}
	return strings.Join(kinds, " ")
}
