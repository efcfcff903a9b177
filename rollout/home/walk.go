package home

import (
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"appserver/platform/disk"
)

// Walk describes an iteration over rollouts in the order of their paths. That is the order of
// the times in their names. The default is newest first.
type Walk struct {
	// Root is Sessions or Archived.
	Root      string
	Ascending bool
	// After is the last path of an earlier walk, or "".
	After string
	// OnUnnamed is called for files that may be rollouts but have no thread id in their names.
	// It may be nil.
	OnUnnamed func(error)
	// Inclusive is set if the walk includes the path After.
	Inclusive bool
}

// Walk returns an iterator over paths relative to the root, with slashes. The error of an
// unreadable folder is an element, and the walk continues after it.
func (h *Home) Walk(w Walk) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) { h.visit(w, "", yield) }
}

// Threads does the same as Walk, with only the newest file of each thread. The reference
// implementation continues with the last file in the order of paths. For an ascending walk it reads
// all names first, otherwise those before the start.
func (h *Home) Threads(w Walk) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		newest, err := h.newestBefore(w)
		if err != nil && !yield("", err) {
			return
		}
		for path, err := range h.Walk(w) {
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
func (h *Home) newestBefore(w Walk) (newestFiles, error) {
	newest := newestFiles{}
	if w.After == "" && !w.Ascending {
		return newest, nil
	}
	for path, err := range h.Walk(Walk{Root: w.Root}) {
		switch {
		case errors.Is(err, fs.ErrPermission):
		case err != nil:
			return newest, err
		case !w.Ascending && !w.passed(path):
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
	id := ThreadID(path)
	if n[id] == "" {
		n[id] = path
	}
	return n[id]
}

// visit walks a folder, which is "" or ends with a slash. It returns false if yield did.
func (h *Home) visit(w Walk, dir string, yield func(string, error) bool) bool {
	full := filepath.Join(h.dir, w.Root, dir)
	entries, err := h.disk.ReadDir(full)
	if disk.IsNotExist(err) {
		return true
	}
	if err != nil {
		return yield("", disk.Wrap("list", full, err))
	}
	for _, name := range w.sort(entries) {
		name = dir + name
		switch {
		case w.passed(name):
		case strings.HasSuffix(name, "/"):
			if !h.visit(w, name, yield) {
				return false
			}
		case ThreadID(name) == "":
			w.reportUnnamed(filepath.Join(h.dir, w.Root, name))
		case !yield(name, nil):
			return false
		}
	}
	return true
}

func (w Walk) reportUnnamed(path string) {
	if w.OnUnnamed != nil && strings.HasSuffix(path, nameSuffix) {
		w.OnUnnamed(&NameError{path})
	}
}

// sort returns the names in the order of the walk. Folders end with a slash.
func (w Walk) sort(entries []fs.DirEntry) []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
		if e.IsDir() {
			names[i] += "/"
		}
	}
	slices.Sort(names)
	if !w.Ascending {
		slices.Reverse(names)
	}
	return names
}

// passed reports whether the earlier walk has visited everything below a name.
func (w Walk) passed(name string) bool {
	switch {
	case w.After == "":
		return false
	case name == w.After:
		return !w.Inclusive
	case strings.HasSuffix(name, "/") && strings.HasPrefix(w.After, name):
		return false
	}
	return w.Ascending == (name < w.After)
}
