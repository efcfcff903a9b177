package find

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"appserver/platform/osfile"
)

// maxIgnoreFile is the maximum size of the part of a pattern file that is read, in bytes.
const maxIgnoreFile = 1 << 20

// patterns has the patterns of one file, for paths below its directory.
type patterns struct {
	list  []pattern
	dir   string // with a slash at its end
	outer *patterns
}

// says reports whether a path is ignored, by the innermost file with a matching line. The last
// matching line of a file counts. known is false if no line matches.
func (p *patterns) says(path string, dir bool) (ignored, known bool) {
	for ; p != nil; p = p.outer {
		name := strings.TrimPrefix(path, p.dir)
		for _, line := range slices.Backward(p.list) {
			if line.matches(name, dir) {
				return !line.not, true
			}
		}
	}
	return false, false
}

// rules has the patterns for a directory. The patterns of git are nil outside of repositories.
type rules struct {
	git, own   *patterns
	repository bool
	// personal are the user's own for all repositories, "" for none.
	personal string
	// failed is the error if a pattern file exists but cannot be read.
	failed error
}

func (r rules) ignored(path string, dir bool) bool {
	path = filepath.ToSlash(path)
	if ignored, known := r.own.says(path, dir); known {
		return ignored
	}
	ignored, _ := r.git.says(path, dir)
	return ignored
}

// with returns the rules inside a directory that has some entries.
func (r rules) with(dir string, has func(name string) bool) rules {
	if has(".git") {
		r.repository, r.git = true, nil
		r.git = r.add(r.git, r.personal, dir)
		r.git = r.add(r.git, filepath.Join(dir, ".git", "info", "exclude"), dir)
	}
	if r.repository && has(".gitignore") {
		r.git = r.add(r.git, filepath.Join(dir, ".gitignore"), dir)
	}
	if has(".ignore") {
		r.own = r.add(r.own, filepath.Join(dir, ".ignore"), dir)
	}
	return r
}

// add returns the patterns of a file, followed by the outer ones. A missing file adds none.
func (r *rules) add(outer *patterns, file, dir string) *patterns {
	if file == "" {
		return outer
	}
	text, err := osfile.ReadRegular(file, osfile.Bounds{Max: maxIgnoreFile + 1})
	if passing(err) {
		r.failed = err
	}
	if err != nil || len(text) > maxIgnoreFile {
		return outer
	}
	return &patterns{list: parsePatterns(text), dir: strings.TrimSuffix(filepath.ToSlash(dir), "/") + "/", outer: outer}
}

// passing reports whether an error does not depend on the file, such as too many open files.
func passing(err error) bool {
	for _, lasting := range []error{nil, osfile.ErrNotRegular, osfile.ErrKernelFile, fs.ErrNotExist, fs.ErrPermission,
		syscall.ENOTDIR, syscall.ELOOP, syscall.ENAMETOOLONG} {
		if osfile.Is(err, lasting) {
			return false
		}
	}
	return true
}

// above returns the rules that hold at the root of a walk before its own files are read: the rules of
// the directories above it, up to the top of its repository. If they ignore the root, they do not
// apply.
func above(root, personal string) rules {
	r := rules{personal: personal}
	dirs := []string{root}
	for dir := root; dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		dirs = append(dirs, dir)
	}
	top := topOf(dirs)
	if top <= 0 {
		return r
	}
	r.repository = true
	for i := top; i > 0; i-- {
		r = r.with(dirs[i], func(name string) bool { return i == top || name != ".git" })
		if r.ignored(dirs[i-1], true) { // who looks there wants what is there
			return rules{personal: personal, repository: true}
		}
	}
	return r
}

// topOf returns the index of the first directory that is the top of a repository, or -1.
func topOf(dirs []string) int {
	return slices.IndexFunc(dirs, func(dir string) bool {
		_, err := os.Lstat(filepath.Join(dir, ".git"))
		return err == nil
	})
}

// personalRules returns the path of the user's own patterns, or "".
func personalRules(getenv func(string) string) string {
	if dir := getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git", "ignore")
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".config", "git", "ignore")
	}
	return ""
}
