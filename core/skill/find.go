package skill

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"appserver/protocol"
)

const (
	fileName = "SKILL.md"
	// maxDepth and maxFolders bound the search below one root.
	maxDepth, maxFolders = 6, 2000
)

// The scopes of skills, the nearest first.
const (
	scopeRepo   = "repo"
	scopeUser   = "user"
	scopeSystem = "system"
	scopeAdmin  = "admin"
)

// Places are folders to search in addition to the working directory.
type Places struct {
	// Home is CODEX_HOME, UserHome the user's home folder; empty ones are skipped.
	Home, UserHome string
	// Extra are further folders of the user.
	Extra []string
}

// Skill is a skill found on disk.
type Skill struct {
	protocol.SkillMetadata
	// OnlyNamed is set if the model learns about the skill only when the user names it.
	OnlyNamed bool
}

// root is a folder with skills.
type root struct{ dir, scope string }

// Find returns the skills for a working directory: the repository's first, and each scope sorted by
// name. All are enabled. Problems are the skill files that cannot be used.
func Find(cwd string, places Places) (skills []Skill, problems []protocol.SkillErrorInfo) {
	f := finder{seen: map[string]bool{}}
	for _, r := range roots(cwd, places) {
		f.walk(r)
	}
	order := []string{scopeRepo, scopeUser, scopeSystem, scopeAdmin}
	slices.SortStableFunc(f.skills, func(a, b Skill) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.Scope), slices.Index(order, b.Scope)),
			cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Path, b.Path),
		)
	})
	slices.SortStableFunc(f.problems, func(a, b protocol.SkillErrorInfo) int { return cmp.Compare(a.Path, b.Path) })
	return f.skills, f.problems
}

func roots(cwd string, places Places) []root {
	var all []root
	for _, dir := range projectFolders(cwd) {
		all = append(
			all,
			root{filepath.Join(dir, ".agents", "skills"), scopeRepo},
			root{filepath.Join(dir, ".codex", "skills"), scopeRepo},
		)
	}
	if places.UserHome != "" {
		all = append(all, root{filepath.Join(places.UserHome, ".agents", "skills"), scopeUser})
	}
	if places.Home != "" {
		all = append(
			all,
			root{filepath.Join(places.Home, "skills"), scopeUser},
			root{filepath.Join(places.Home, "skills", ".system"), scopeSystem},
		)
	}
	for _, dir := range places.Extra {
		all = append(all, root{dir, scopeUser})
	}
	return append(all, root{"/etc/codex/skills", scopeAdmin})
}

// projectFolders returns the working directory and the folders above it, up to the repository's
// root. It returns none if the directory does not exist.
func projectFolders(cwd string) []string {
	if info, err := os.Stat(cwd); err != nil || !info.IsDir() || !filepath.IsAbs(cwd) {
		return nil
	}
	var dirs []string
	for dir := filepath.Clean(cwd); ; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dirs
		}
		if dir == filepath.Dir(dir) {
			return dirs[:1]
		}
	}
}

// finder collects skills. Its field seen holds the real paths of visited folders.
type finder struct {
	seen     map[string]bool
	skills   []Skill
	problems []protocol.SkillErrorInfo
	folders  int
}

func (f *finder) walk(r root) {
	if _, err := os.Stat(r.dir); err != nil {
		return // most roots do not exist
	}
	f.folders = 0
	f.folder(r, r.dir, 0)
}

// folder looks through a folder and those below it, through links, too. Those with a dot
// before their names are passed over, and so are files that are links: the skill is where
// the file is.
func (f *finder) folder(r root, dir string, depth int) {
	f.folders++
	if depth > maxDepth || f.folders > maxFolders {
		return
	}
	dir, isNew := f.isNew(dir)
	if !isNew {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // what cannot be read holds no skill
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Name() == fileName:
			if e.Type()&fs.ModeSymlink == 0 {
				f.file(r, path)
			}
		case strings.HasPrefix(e.Name(), "."), e.Type().IsRegular():
		case e.IsDir(), e.Type()&fs.ModeSymlink != 0:
			f.folder(r, path, depth+1)
		}
	}
}

// isNew is the real path, and false for one that was seen, or leads nowhere.
func (f *finder) isNew(path string) (real string, isNew bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || f.seen[real] {
		return path, false
	}
	f.seen[real] = true
	return real, true
}

func (f *finder) file(r root, path string) {
	s, err := read(path)
	if err != nil {
		f.problems = append(f.problems, protocol.SkillErrorInfo{Path: path, Message: err.Error()})
		return
	}
	s.Scope, s.Enabled = r.scope, true
	f.skills = append(f.skills, s)
}
