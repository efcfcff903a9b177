package rollout

import (
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
)

// walk visits rollouts in the order of their paths, which is that of their names'
// times, newest first.
type walk struct {
	// root is sessionsDir or archivedDir.
	root      string
	ascending bool
	// after is the path where an earlier walk stopped; "" begins at the start.
	after string
	// strange, unless it is nil, is told of files that may be rollouts and have no thread's
	// name.
	onUnnamed func(error)
	// here is set where the walk begins with after, not behind it.
	inclusive bool
}

// walk yields paths relative to the root, with slashes. A folder that cannot be read
// yields its error, and the walk goes on behind it.
func (s *Store) walk(w walk) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) { s.visit(w, "", yield) }
}

// threads is walk without the files of threads that have a newer one: the last in the order of
// paths is the one that the reference implementation goes on with. It reads the names of what is
// before the walk's begin, but where it ascends all of them.
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

// newestBefore are the newest files of the threads that a walk does not begin with. A folder
// that must not be read has none.
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

// newestFiles are the newest files of threads, by the threads' ids.
type newestFiles map[string]string

// note takes a path for the newest of its thread, unless there is one, and gives that.
func (n newestFiles) add(path string) string {
	id := threadID(path)
	if n[id] == "" {
		n[id] = path
	}
	return n[id]
}

// visit walks a folder, which is "" or ends with a slash. It is false when yield has
// had enough.
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

// sort is the names in the order of the walk, folders with a slash behind.
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

// passed tells whether all that a name stands for was visited by the earlier walk.
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
