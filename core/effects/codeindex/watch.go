package codeindex

import (
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// watch reports changes in the folders of a repository, up to a number of folders. The zero watch
// reports nothing.
type watch struct {
	root   string
	notify *fsnotify.Watcher
	max    int
	dirs   map[string]bool
	// files are the files of the last look. Changes of other files do not matter.
	files map[string]bool
	// complete is set if all folders are watched.
	complete bool
}

// newWatch returns a zero watch if the system has no more watches.
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

// follow watches these folders and no others. It reports whether some are new: files that were created
// in one before it was watched are not known.
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

// events returns the channel of changes, or nil for the zero watch.
func (w *watch) events() (<-chan fsnotify.Event, <-chan error) {
	if w.notify == nil {
		return nil, nil
	}
	return w.notify.Events, w.notify.Errors
}

// matters reports whether an event may concern a known file or a new one.
func (w *watch) matters(event fsnotify.Event) bool {
	if event.Op&(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) != 0 {
		return true
	}
	name, err := filepath.Rel(w.root, event.Name)
	return err == nil && event.Op&fsnotify.Write != 0 && w.files[filepath.ToSlash(name)]
}
