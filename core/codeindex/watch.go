package codeindex

import (
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// watch tells of changes in the folders of a repository, as far as there are not too many. The
// zero watch tells of nothing.
type watch struct {
	root   string
	notify *fsnotify.Watcher
	max    int
	dirs   map[string]bool
	// files are those of the last look: what is written to others is of no interest.
	files map[string]bool
	// complete is set where all folders are watched.
	complete bool
}

// newWatch is a zero watch where the system has no more of them.
func newWatch(root string, most int) *watch {
	w := &watch{root: root, max: most, dirs: map[string]bool{}}
	if most > 0 {
		w.notify, _ = fsnotify.NewWatcher()
	}
	return w
}

func (w *watch) close() {
	if w.notify != nil {
		_ = w.notify.Close()
	}
}

// follow watches these folders and no others. It tells whether there are new ones: what was
// made in one before it was watched is not known.
func (w *watch) follow(dirs []string) (more bool) {
	w.complete = w.notify != nil && len(dirs) <= w.max
	if w.notify == nil {
		return false
	}
	wanted := map[string]bool{}
	for _, dir := range dirs[:min(len(dirs), w.max)] {
		path := filepath.Join(w.root, dir)
		if w.notify.Add(path) != nil { // also where it is watched: the library forgets those that go
			w.complete = false
			continue
		}
		wanted[path] = true
		more = more || !w.dirs[path]
	}
	for path := range w.dirs {
		if !wanted[path] {
			_ = w.notify.Remove(path) // it may be gone
		}
	}
	w.dirs = wanted
	return more
}

// events are nil for the zero watch.
func (w *watch) events() (<-chan fsnotify.Event, <-chan error) {
	if w.notify == nil {
		return nil, nil
	}
	return w.notify.Events, w.notify.Errors
}

// matters tells whether an event can have changed what is known.
func (w *watch) matters(event fsnotify.Event) bool {
	if event.Op&(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) != 0 {
		return true
	}
	name, err := filepath.Rel(w.root, event.Name)
	return err == nil && event.Op&fsnotify.Write != 0 && w.files[filepath.ToSlash(name)]
}
