package rollout

import (
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
)

// walk describes an iteration over rollouts in the order of their paths. That is the order of
// the times in their names. The default is newest first.
type walk struct {
	// root is sessionsDir or archivedDir.
	root      string
	ascending bool
	// after is the last path of an earlier walk, or "".
	after string
	// onUnnamed is called for files that may be rollouts but have no thread id in their names.
	// It may be nil.
	onUnnamed func(error)
	// inclusive is set if the walk includes the path after.
	inclusive bool
}

// walk returns an iterator over paths relative to the root, with slashes. The error of an
// unreadable folder is an element, and the walk continues after it.
func (s *Store) walk(w walk) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) { s.visit(w, "", yield) }
}

// threads is walk with only the newest file of each thread. The reference implementation
// continues with the last file in the order of paths. For an ascending walk it reads all names
// first, otherwise those before the start.
func (s *Store) threads(w walk) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		newest, err := s.newestBefore(w)
		if err != nil && !yield("", err) {
			return
		}
		for path, err := range s.walk(w) {
			if err == nil && newest.add(path) != path {
				continue
			}
			if !yield(path, err) {
				return
			}
		}
	}
}

// newestBefore returns the newest files of threads that the walk will not start with. Folders
// without read permission are skipped.
func (s *Store) newestBefore(w walk) (newestFiles, error) {
	newest := newestFiles{}
	if w.after == "" && !w.ascending {
		return newest, nil
	}
	for path, err := range s.walk(walk{root: w.root}) {
		switch {
		case errors.Is(err, fs.ErrPermission):
		case err != nil:
			return newest, err
		case !w.ascending && !w.passed(path):
			return newest, nil
		default:
			newest.add(path)
		}
	}
	return newest, nil
}

// newestFiles maps thread ids to their newest files.
type newestFiles map[string]string

// add stores path unless its thread has a file, and returns the file of the thread.
func (n newestFiles) add(path string) string {
	id := threadID(path)
	if n[id] == "" {
		n[id] = path
	}
	return n[id]
}

// visit walks a folder, which is "" or ends with a slash. It returns false if yield did.
func (s *Store) visit(w walk, dir string, yield func(string, error) bool) bool {
	full := filepath.Join(s.home, w.root, dir)
	entries, err := s.disk.ReadDir(full)
	if isNotExist(err) {
		return true
	}
	if err != nil {
		return yield("", diskError("list", full, err))
	}
	for _, name := range w.sort(entries) {
		name = dir + name
		switch {
		case w.passed(name):
		case strings.HasSuffix(name, "/"):
			if !s.visit(w, name, yield) {
				return false
			}
		case threadID(name) == "":
			w.reportUnnamed(filepath.Join(s.home, w.root, name))
		case !yield(name, nil):
			return false
		}
	}
	return true
}

func (w walk) reportUnnamed(path string) {
	if w.onUnnamed != nil && strings.HasSuffix(path, nameSuffix) {
		w.onUnnamed(&NameError{path})
	}
}

// sort returns the names in the order of the walk. Folders end with a slash.
func (w walk) sort(entries []fs.DirEntry) []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
		if e.IsDir() {
			names[i] += "/"
		}
	}
	slices.Sort(names)
	if !w.ascending {
		slices.Reverse(names)
	}
	return names
}

// passed reports whether the earlier walk has visited everything below a name.
func (w walk) passed(name string) bool {
	switch {
	case w.after == "":
		return false
	case name == w.after:
		return !w.inclusive
	case strings.HasSuffix(name, "/") && strings.HasPrefix(w.after, name):
		return false
	}
	return w.ascending == (name < w.after)
}
