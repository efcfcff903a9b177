package find

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/git-pkgs/gitignore"
)

// maxIgnoreFile is how much is read of a file of patterns, in bytes.
const maxIgnoreFile = 1 << 20

// patterns are those of one file, for what is below the directory at, a path relative to the
// root of the walk; up is how the names from at to the root begin, where the walk began
// below it.
type patterns struct {
	matcher gitignore.Matcher
	at, up  string
	outer   *patterns
}

// says is whether a path relative to the root is ignored, by the innermost file that knows
// it.
func (p *patterns) says(path string, dir bool) (ignored, known bool) {
	for ; p != nil; p = p.outer {
		name := strings.TrimSuffix(p.up+strings.TrimPrefix(path[len(p.at):], "/"), "/")
		if dir {
			name += "/"
		}
		if result := p.matcher.MatchDetail(name); result.Matched {
			return result.Ignored, true
		}
	}
	return false, false
}

// rules are the patterns that hold in a directory: git's are nil outside of repositories.
type rules struct {
	git, own   *patterns
	repository bool
	// personal are the user's own for all repositories, "" for none.
	personal string
}

func (r rules) ignored(path string, dir bool) bool {
	if ignored, known := r.own.says(path, dir); known {
		return ignored
	}
	ignored, _ := r.git.says(path, dir)
	return ignored
}

// with are the rules inside a directory, which is at of the walk and has some entries. Up is
// as in patterns.
func (r rules) with(dir, at, up string, has func(name string) bool) rules {
	if has(".git") {
		r.repository, r.git = true, nil
		r.git = add(r.git, r.personal, at, up)
		r.git = add(r.git, filepath.Join(dir, ".git", "info", "exclude"), at, up)
	}
	if r.repository && has(".gitignore") {
		r.git = add(r.git, filepath.Join(dir, ".gitignore"), at, up)
	}
	if has(".ignore") {
		r.own = add(r.own, filepath.Join(dir, ".ignore"), at, up)
	}
	return r
}

// add puts the patterns of a file before others. A file that is not there has none.
func add(outer *patterns, file, at, up string) *patterns {
	info, err := os.Stat(file)
	if file == "" || err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnoreFile {
		return outer
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return outer
	}
	p := &patterns{at: at, up: up, outer: outer}
	p.matcher.AddPatterns(text, "")
	return p
}

// above are the rules that hold at the root of a walk before its own files are read: those of
// the directories above it, up to the top of its repository. They do not hold for one that they
// leave out.
func above(root, personal string) rules {
	r := rules{personal: personal}
	var dirs []string
	for dir := filepath.Dir(root); ; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == filepath.Dir(dir) {
			break
		}
	}
	top := topOf(append([]string{root}, dirs...))
	if top == "" || top == root {
		return r
	}
	r.repository = true
	for i := len(dirs) - 1; i >= 0; i-- {
		if dir := dirs[i]; dir == top || strings.HasPrefix(dir, strings.TrimSuffix(top, "/")+"/") {
			below, _ := filepath.Rel(dir, root)
			r = r.with(dir, "", filepath.ToSlash(below)+"/", func(name string) bool { return dir == top || name != ".git" })
		}
	}
	if r.ignored("", true) { // who looks there wants what is there
		return rules{personal: personal, repository: r.repository}
	}
	return r
}

// topOf is the first of the directories that is a repository's, "" for none.
func topOf(dirs []string) string {
	for _, dir := range dirs {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
	}
	return ""
}

// personalRules is where git looks for a user's own patterns.
func personalRules(getenv func(string) string) string {
	if dir := getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git", "ignore")
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".config", "git", "ignore")
	}
	return ""
}
