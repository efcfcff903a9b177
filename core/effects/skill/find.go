package skill

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"appserver/platform/osfile"
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
	// within are the folders that have the files of a skill of a repository.
	within []string
}

// extend adds the settings of agents/openai.yaml. It ignores invalid ones, because the skill can be
// used without them.
func (s *Skill) extend(dir string) {
	text, err := textOf(filepath.Join(dir, "agents", "openai.yaml"), s.within)
	var e extras
	if err != nil || decode([]byte(text), &e) != nil {
		return
	}
	s.OnlyNamed = e.Policy.AllowImplicit != nil && !*e.Policy.AllowImplicit
	if i := e.Interface; i.DisplayName+i.ShortDescription+i.IconSmall+i.IconLarge+i.BrandColor+i.DefaultPrompt != "" {
		s.Interface = &protocol.SkillInterface{
			DisplayName: lineOrNil(i.DisplayName), ShortDescription: lineOrNil(i.ShortDescription),
			IconSmall: within(dir, i.IconSmall), IconLarge: within(dir, i.IconLarge),
			BrandColor: lineOrNil(i.BrandColor), DefaultPrompt: lineOrNil(i.DefaultPrompt),
		}
	}
	for _, t := range e.Dependencies.Tools {
		if t.Type == "" || t.Value == "" {
			continue
		}
		if s.Dependencies == nil {
			s.Dependencies = &protocol.SkillDependencies{}
		}
		s.Dependencies.Tools = append(s.Dependencies.Tools, protocol.SkillToolDependency{
			Type: t.Type, Value: t.Value,
			Description: lineOrNil(t.Description), Transport: lineOrNil(t.Transport),
			Command: lineOrNil(t.Command), URL: lineOrNil(t.URL),
		})
	}
}

// Text returns the content of the file of a skill, as UTF-8: at most 256 KiB of a regular file.
func (s Skill) Text() (string, error) { return textOf(s.Path, s.within) }

// Problem is the reason why a file is not a usable skill. Outside is set if a link leads out of the
// repository.
type Problem struct {
	protocol.SkillErrorInfo
	Outside bool
}

// root is a folder with skills. If within is not empty, the skills come with a repository, and
// their files must be in one of these folders.
type root struct {
	dir, scope string
	within     []string
}

// Find returns the skills for a working directory: the repository's first, and each scope sorted by
// name. All are enabled. Problems are the skill files that cannot be used.
func Find(cwd string, places Places) (skills []Skill, problems []Problem) {
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
	slices.SortStableFunc(f.problems, func(a, b Problem) int { return cmp.Compare(a.Path, b.Path) })
	return f.skills, f.problems
}

func roots(cwd string, places Places) []root {
	var all []root
	folders := projectFolders(cwd)
	for _, dir := range folders {
		within := []string{folders[len(folders)-1], cwd}
		all = append(
			all,
			root{filepath.Join(dir, ".agents", "skills"), scopeRepo, within},
			root{filepath.Join(dir, ".codex", "skills"), scopeRepo, within},
		)
	}
	if places.UserHome != "" {
		all = append(all, root{dir: filepath.Join(places.UserHome, ".agents", "skills"), scope: scopeUser})
	}
	if places.Home != "" {
		all = append(
			all,
			root{dir: filepath.Join(places.Home, "skills"), scope: scopeUser},
			root{dir: filepath.Join(places.Home, "skills", ".system"), scope: scopeSystem},
		)
	}
	for _, dir := range places.Extra {
		all = append(all, root{dir: dir, scope: scopeUser})
	}
	return append(all, root{dir: "/etc/codex/skills", scope: scopeAdmin})
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
	problems []Problem
	folders  int
}

func (f *finder) walk(r root) {
	if _, err := os.Stat(r.dir); err != nil {
		return // most roots do not exist
	}
	f.folders = 0
	f.folder(r, r.dir, 0)
}

// folder searches a folder and the folders below it, also through links. It skips folders whose
// names begin with a dot, and files that are links: a skill is in the folder of its file.
func (f *finder) folder(r root, dir string, depth int) {
	f.folders++
	if depth > maxDepth || f.folders > maxFolders {
		return
	}
	link := dir
	dir, isNew := f.isNew(dir)
	if !isNew || !f.inside(r, link, dir) {
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
			f.file(r, path, e.Type()&fs.ModeSymlink != 0)
		case strings.HasPrefix(e.Name(), "."), e.Type().IsRegular():
		case e.IsDir(), e.Type()&fs.ModeSymlink != 0:
			f.folder(r, path, depth+1)
		}
	}
}

// isNew returns the real path, and false if it was visited already or cannot be resolved.
func (f *finder) isNew(path string) (real string, isNew bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || f.seen[real] {
		return path, false
	}
	f.seen[real] = true
	return real, true
}

// inside reports whether a path without links may be read for a root. If not, the link that leads there is a problem.
func (f *finder) inside(r root, link, real string) bool {
	if len(r.within) == 0 ||
		slices.ContainsFunc(r.within, func(dir string) bool { return osfile.Contains(dir, real) }) {
		return true
	}
	f.problem(link, &osfile.OutsideError{Folder: r.within[0]})
	return false
}

func (f *finder) problem(path string, err error) {
	var outside *osfile.OutsideError
	info := protocol.SkillErrorInfo{Path: path, Message: err.Error()}
	f.problems = append(f.problems, Problem{info, errors.As(err, &outside)})
}

// file adds the skill of a file. A link to another file is no skill.
func (f *finder) file(r root, path string, isLink bool) {
	if isLink {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			f.inside(r, path, real)
		}
		return
	}
	s, err := read(path, r.within)
	if err != nil {
		f.problem(path, err)
		return
	}
	s.Scope, s.Enabled = r.scope, true
	f.skills = append(f.skills, s)
}
