package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Expand returns the absolute folder of a path that a user is typing, and the name so far. ~ is the home of the user,
// and a relative path is relative to base. It returns false if the home is unknown.
func Expand(base, home, path string) (dir, name string, ok bool) {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if home == "" {
			return "", "", false
		}
		path = home + rest
	}
	dir, name = filepath.Split(path)
	if name == ".." {
		dir, name = path, ""
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(base, dir)
	}
	return filepath.Clean(dir), name, true
}

const (
	// maxCompletions bounds the completions of a path, and maxEntries the entries that are read for them.
	maxCompletions = 50
	maxEntries     = 10_000
)

// Completions returns the folders in a folder whose names begin with a name, sorted. Hidden ones are left out unless
// the name begins with a dot. Upper and lower case are equal unless the name has upper case.
func Completions(dir, name string) []string {
	in, err := os.Open(dir)
	if err != nil {
		return []string{}
	}
	defer in.Close()
	entries, _ := in.ReadDir(maxEntries) // what was read before an error counts
	found := []string{}
	for _, e := range entries {
		if begins(e.Name(), name) && isFolder(dir, e) {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(found)
	return found[:min(len(found), maxCompletions)]
}

func begins(entry, typed string) bool {
	if strings.HasPrefix(entry, ".") && !strings.HasPrefix(typed, ".") {
		return false
	}
	if strings.ToLower(typed) == typed {
		entry = strings.ToLower(entry)
	}
	return strings.HasPrefix(entry, typed)
}

// isFolder reports whether an entry is a folder, or a link to one.
func isFolder(dir string, e os.DirEntry) bool {
	if e.Type()&os.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(filepath.Join(dir, e.Name()))
	return err == nil && info.IsDir()
}

// Repository returns the root of the git repository of a directory, or "". Links in the path stay.
func Repository(cwd string) string {
	if _, ok := openRepository(cwd); !ok {
		return ""
	}
	return repositoryRoot(cwd)
}
