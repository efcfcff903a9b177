package shared

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"appserver/rollout"
	"appserver/rollout/fleet"
)

// Limits of the local copies. A removed copy is fetched again when its thread is loaded.
const (
	cleanEvery   = time.Hour
	maxCopyAge   = 30 * 24 * time.Hour
	maxCopyBytes = 10 << 30
)

// limits bound the copies: the time since the last write, and the size of all of them.
type limits struct {
	age   time.Duration
	bytes int64
}

// keepClean removes copies now, and then every hour until the store is closed.
func (t *Threads) keepClean() {
	due := time.NewTicker(cleanEvery)
	defer due.Stop()
	for {
		t.clean(limits{maxCopyAge, maxCopyBytes}, time.Now())
		select {
		case <-t.base.Done():
			return
		case <-due.C:
		}
	}
}

// found is a file of a copy.
type found struct {
	path, id string
	size     int64
	written  time.Time
}

// clean removes the copies that exceed the limits, the oldest first, and those that are stale: the thread
// was deleted, or its lines were rewritten. It keeps the copies of open threads.
func (t *Threads) clean(l limits, now time.Time) {
	all, err := t.copies.list()
	if err != nil {
		t.Report(err)
	}
	total := int64(0)
	for _, f := range all {
		total += f.size
	}
	for _, f := range all {
		if t.base.Err() != nil {
			return
		}
		if total <= l.bytes && now.Sub(f.written) <= l.age && !t.isStale(f) {
			continue
		}
		if t.removeFound(f) {
			total -= f.size
		}
	}
}

// list returns the files of all copies and their snapshots, the oldest first.
func (c *copies) list() (all []found, err error) {
	for _, pattern := range []string{filepath.Join("sessions", "*", "*", "*", "*.jsonl"), filepath.Join(snapshots, "*")} {
		paths, globErr := filepath.Glob(c.files.Path(pattern))
		err = errors.Join(err, globErr)
		for _, path := range paths {
			info, statErr := os.Stat(path)
			if errors.Is(statErr, fs.ErrNotExist) {
				continue
			}
			if statErr != nil {
				err = errors.Join(err, statErr)
				continue
			}
			all = append(all, found{path, idIn(path), info.Size(), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b found) int { return a.written.Compare(b.written) })
	return all, err
}

// snapshots is the folder of rollout.Store with the snapshots of threads, by id.
const snapshots = "appserver-cache"

// idIn returns the thread of a copy or a snapshot.
func idIn(path string) string {
	if filepath.Base(filepath.Dir(path)) == snapshots {
		return filepath.Base(path)
	}
	return rollout.ThreadID(path)
}

// isStale reports whether the database has other lines. If it cannot be asked, the copy is kept.
func (t *Threads) isStale(f found) bool {
	ctx, cancel := t.call()
	defer cancel()
	place, err := t.Driver.Find(ctx, f.id)
	if err != nil {
		return errors.Is(err, fleet.ErrNotFound)
	}
	present := t.copies.path(edition{id: f.id, generation: place.Generation})
	if filepath.Ext(f.path) == ".jsonl" {
		return present != f.path
	}
	_, err = os.Stat(present)
	return errors.Is(err, fs.ErrNotExist)
}

// removeFound removes a file, unless a journal of this process or another one uses it.
func (t *Threads) removeFound(f found) bool {
	defer t.copies.lock(f.id)()
	if t.opened(f.id) != nil {
		return false
	}
	lock, err := t.copies.files.Lock(f.id)
	if err != nil {
		return false
	}
	if err := errors.Join(os.Remove(f.path), lock.Release()); err != nil {
		t.Report(err)
		return false
	}
	return true
}
