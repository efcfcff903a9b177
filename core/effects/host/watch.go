package host

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"appserver/platform/osfile"
	"appserver/protocol"
)

const (
	// settle is how long changes are gathered before they are sent.
	settle = 200 * time.Millisecond
	// maxChanged bounds the paths of a notification. More changes are reported as the watch's own path.
	maxChanged = 1000
	// maxWatches is how many watches a connection can have.
	maxWatches = 1000
)

// watcher notifies connections of changes. The library reports each directory once. So directories are
// counted by their paths without links, and the library knows each of them once.
type watcher struct {
	host *Host

	mu      sync.Mutex
	notify  *fsnotify.Watcher // nil before the first watch, and after close
	closed  bool
	watches map[watchKey]*watch
	// dirs count the watches that need a directory.
	dirs map[string]int
}

// watchKey names a watch.
type watchKey struct {
	conn uint64
	id   string
}

// watch is one watch of a client.
type watch struct {
	watchKey
	owner *connection
	// clientPath is the path that the client gave, path the same path without links.
	clientPath, path string
	// dirs are the directories that the library watches for it.
	dirs    []string
	changed map[string]bool
	// all is set if the watch's own path replaces the single changes.
	all bool
}

// FsWatch begins a watch.
func (h *Host) FsWatch(to protocol.Caller, p *protocol.FsWatchParams) error {
	path, err := absolute("path", p.Path)
	if err != nil {
		return err
	}
	return h.inOrder(to, func(d *connection) (any, error) {
		w := &watch{owner: d, watchKey: watchKey{to.Conn, p.WatchID}, clientPath: path, path: resolved(path),
			changed: map[string]bool{}}
		return protocol.FsWatchResponse{Path: path}, h.watch.begin(w)
	})
}

// FsUnwatch ends a watch, if there is one. No notification of it follows the response.
func (h *Host) FsUnwatch(to protocol.Caller, p *protocol.FsUnwatchParams) error {
	return h.inOrder(to, func(*connection) (any, error) {
		h.watch.mu.Lock()
		defer h.watch.mu.Unlock()
		if w := h.watch.watches[watchKey{to.Conn, p.WatchID}]; w != nil {
			h.watch.endLocked(w)
		}
		return protocol.Empty{}, nil
	})
}

// begin adds a watch.
func (r *watcher) begin(w *watch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.checkLocked(w); err != nil {
		return err
	}
	if err := r.placeLocked(w); err != nil {
		r.endLocked(w)
		return watchError(w.clientPath, err)
	}
	r.watches[w.watchKey] = w
	return nil
}

// watchError adds the next action if the system allows no more watches. Its own words then are "no
// space left on device" or "too many open files".
func watchError(path string, err error) error {
	full := fileError(path, err)
	var e *protocol.Error
	if !errors.As(full, &e) {
		return full
	}
	switch {
	case osfile.Is(err, syscall.ENOSPC):
		e.Message += ": the system watches no more for this user: end other watches, or raise fs.inotify.max_user_watches"
	case osfile.Is(err, syscall.EMFILE):
		e.Message += ": the system watches no more for this user: end other watchers, or raise fs.inotify.max_user_instances or the limit of open files (ulimit -n)"
	}
	return full
}

// placeLocked makes the library watch the paths that a watch needs now: a directory itself, and for
// any path its parent directory, or the nearest existing one above it. So the watch reports a path
// that is created, or created again.
func (r *watcher) placeLocked(w *watch) (err error) {
	before := w.dirs
	w.dirs = nil
	for tries := 0; tries < maxTries; tries++ {
		near := nearest(filepath.Dir(w.path))
		if err = r.addLocked(w, near); err == nil && near == nearest(filepath.Dir(w.path)) {
			break // else it changed meanwhile
		}
	}
	if info, failed := os.Stat(w.path); err == nil && failed == nil && info.IsDir() {
		err = r.addLocked(w, w.path)
	}
	r.releaseLocked(before)
	return err
}

// maxTries is how often a watch is placed while directories come and go.
const maxTries = 100

// nearest returns the directory, or the nearest existing one above it.
func nearest(dir string) string {
	for dir != filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// checkLocked refuses a watch, or makes ready for the first one.
func (r *watcher) checkLocked(w *watch) error {
	n := 0
	for key := range r.watches {
		if key.conn == w.conn {
			n++
		}
	}
	switch {
	case r.closed:
		return protocol.Refuse(protocol.KindShuttingDown, "the server is shutting down")
	case w.owner.ctx.Err() != nil: // it may have been dropped before this one was begun
		return protocol.Refuse(protocol.KindShuttingDown, "the connection has ended")
	case r.watches[w.watchKey] != nil:
		return protocol.Refuse(protocol.KindWatchExists, "watchId already exists: %s", w.id)
	case n >= maxWatches:
		return overloaded("there are %d watches: end one with fs/unwatch", n)
	case r.notify != nil:
		return nil
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return watchError(w.clientPath, err)
	}
	r.notify, r.watches, r.dirs = notify, map[watchKey]*watch{}, map[string]int{}
	if err := r.host.run(func() { r.listen(notify) }); err != nil {
		r.closed = true
		_ = notify.Close()
		return err
	}
	return nil
}

// addLocked adds a directory even if it is watched already, because the library removes directories
// that are deleted.
func (r *watcher) addLocked(w *watch, dir string) error {
	if err := r.notify.Add(dir); err != nil {
		return err
	}
	r.dirs[dir]++
	w.dirs = append(w.dirs, dir)
	return nil
}

func (r *watcher) endLocked(w *watch) {
	delete(r.watches, w.watchKey)
	r.releaseLocked(w.dirs)
	w.dirs = nil
}

func (r *watcher) releaseLocked(dirs []string) {
	for _, dir := range dirs {
		if r.dirs[dir]--; r.dirs[dir] == 0 {
			delete(r.dirs, dir)
			_ = r.notify.Remove(dir) // it may be gone
		}
	}
}

// drop ends the watches of a connection.
func (r *watcher) drop(conn uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, w := range r.watches {
		if key.conn == conn {
			r.endLocked(w)
		}
	}
}

func (r *watcher) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed && r.notify != nil {
		_ = r.notify.Close()
	}
	r.closed = true
}

// listen gathers changes, and sends them some time after the first one, until the library ends.
func (r *watcher) listen(notify *fsnotify.Watcher) {
	timer := time.NewTimer(settle)
	timer.Stop()
	waiting := false
	for {
		changed := false
		select {
		case event, open := <-notify.Events:
			if !open {
				return
			}
			changed = r.note(event)
		case err, open := <-notify.Errors:
			if !open {
				return
			}
			changed = r.reportAll(err)
		case <-timer.C:
			waiting = false
			changed = r.sendChanges()
		}
		if changed && !waiting {
			waiting = true
			timer.Reset(settle)
		}
	}
}

// note finds the watches that an event is for.
func (r *watcher) note(event fsnotify.Event) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.watches {
		if r.noteLocked(w, event) {
			changed = true
		}
	}
	return changed
}

func (r *watcher) noteLocked(w *watch, event fsnotify.Event) bool {
	if below, inside := strings.CutPrefix(event.Name, prefix(w.path)); inside && filepath.Base(below) == below {
		w.note(filepath.Join(w.clientPath, below))
		return true
	}
	above := strings.HasPrefix(w.path, prefix(event.Name))
	if event.Name != w.path && !above {
		return false
	}
	if event.Op&(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) != 0 {
		_ = r.placeLocked(w) // what fails is gone again, of which there is an event
	}
	if _, err := os.Lstat(w.path); above && err != nil {
		return false
	}
	w.note(w.clientPath)
	return true
}

// prefix returns the beginning of the paths below a directory.
func prefix(dir string) string {
	const separator = string(filepath.Separator)
	return strings.TrimSuffix(dir, separator) + separator
}

// reportAll reports a change of every watch, after the system had no room for more events.
func (r *watcher) reportAll(error) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.watches {
		w.note(w.clientPath)
		changed = true
	}
	return changed
}

func (w *watch) note(path string) {
	if w.all {
		return
	}
	if len(w.changed) >= maxChanged {
		w.all, path = true, w.clientPath
		clear(w.changed)
	}
	w.changed[path] = true
}

// sendChanges sends the gathered changes to the clients that read. It returns true if some changes are left.
func (r *watcher) sendChanges() (left bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.watches {
		switch {
		case len(w.changed) == 0:
			continue
		case r.host.Outbox.Congested(w.conn) != nil:
			left = true
			continue
		}
		paths := make([]string, 0, len(w.changed))
		for path := range w.changed {
			paths = append(paths, path)
		}
		slices.Sort(paths)
		clear(w.changed)
		w.all = false
		r.host.Outbox.Notify(w.conn, protocol.FsChangedNotification{WatchID: w.id, ChangedPaths: paths})
	}
	return left
}
