package sandbox

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"appserver/platform/osfile"
)

const (
	// maxRepositories bounds how many repositories are examined.
	maxRepositories = 500
	// maxGitFile is the size of a file of git, in bytes, up to which it is examined.
	maxGitFile = 1 << 20
)

// Repositories are the repositories that git or an editor enters when it runs in a writable root: that of the root,
// those in its immediate folders, and all that the index of one of them refers to.
type Repositories struct {
	// found are the repositories by their folders.
	found map[string]examined
	// protected are folders whose settings and hooks a command cannot change. Only the user can.
	protected []string
	// unread are the reasons why some repositories are not examined.
	unread []string
}

type examined struct {
	// root is the writable root that contains the folder.
	root string
	// unsafe describes all that can make git run programs. It is empty if nothing can.
	unsafe string
}

// indexes are the paths that indexes refer to, by the folders of their repositories. They are read once.
type indexes map[string]index

type index struct {
	links []string
	err   error
}

// Repositories examines the repositories as they are before a command.
func (r Rules) Repositories() Repositories {
	known := indexes{}
	var protected []string
	for _, root := range r.keptRoots() {
		protected = append(protected, protectedRepositories(root, known)...)
	}
	return r.examine(protected, known)
}

// keptRoots returns the writable roots that the policy names, without links.
func (r Rules) keptRoots() (roots []string) {
	for _, root := range r.Kept {
		if real, err := filepath.EvalSymlinks(root); err == nil {
			roots = append(roots, real)
		}
	}
	return roots
}

// protectedRepositories returns the folders of a root whose .git is a folder with protected names.
func protectedRepositories(root string, known indexes) (dirs []string) {
	for _, path := range append(submodules(root, known), ".") {
		dir := filepath.Join(root, path)
		if is(filepath.Join(dir, ".git"), fs.ModeDir) && resolved(dir) == dir {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func (r Rules) examine(protected []string, known indexes) Repositories {
	f := Repositories{found: map[string]examined{}, protected: protected}
	for _, root := range r.keptRoots() {
		f.add(r, root, root, known)
		if dir := repositoryAbove(root); dir != "" {
			f.addLinks(r, root, dir, known)
		}
		entries, err := os.ReadDir(root)
		if err != nil {
			f.unread = append(f.unread, err.Error())
		}
		for _, entry := range entries {
			if entry.IsDir() {
				f.add(r, root, filepath.Join(root, entry.Name()), known)
			}
		}
	}
	return f
}

// add adds the repository of a folder, if there is one, and those that its index refers to.
func (f *Repositories) add(r Rules, root, dir string, known indexes) {
	if _, ok := f.found[dir]; ok || !within(root, dir) {
		return
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		return
	}
	if len(f.found) == maxRepositories {
		f.unread = append(f.unread, fmt.Sprintf("there are more than %d", maxRepositories))
		return
	}
	one := examined{root: root}
	if !slices.Contains(f.protected, dir) && !f.isElsewhere(r, root, dir) {
		one.unsafe = unsafeParts(dir)
	}
	f.found[dir] = one
	f.addLinks(r, root, dir, known)
}

func (f *Repositories) addLinks(r Rules, root, dir string, known indexes) {
	index := known.of(dir)
	if index.err != nil {
		f.unread = append(f.unread, index.err.Error())
	}
	for _, link := range index.links {
		f.add(r, root, filepath.Join(dir, link), known)
	}
}

// isElsewhere reports whether a .git file names a repository that commands cannot change, as in a linked worktree.
func (f *Repositories) isElsewhere(r Rules, root, dir string) bool {
	git, common, ok := gitFolders(dir)
	if !ok || !is(filepath.Join(dir, ".git"), 0) {
		return false
	}
	return f.isUnchanging(r, root, git) && f.isUnchanging(r, root, common)
}

// isUnchanging reports whether commands cannot change settings and hooks in a folder of git.
func (f *Repositories) isUnchanging(r Rules, root, git string) bool {
	git = resolved(git)
	own := filepath.Join(root, ".git")
	if slices.Contains(f.protected, root) && (git == own || within(own+"/modules", git) || within(own+"/worktrees", git)) {
		return true
	}
	return !slices.ContainsFunc(r.Writable, func(writable string) bool { return within(resolved(writable), git) })
}

// repositoryAbove returns the nearest folder above another one that has a .git, or "".
func repositoryAbove(dir string) string {
	for dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
	}
	return ""
}

// of returns the relative paths of the repositories that the index of a folder's repository refers to. With an error,
// it returns those before the error.
func (x indexes) of(dir string) index {
	if one, ok := x[dir]; ok {
		return one
	}
	var one index
	if git, common, ok := gitFolders(dir); ok {
		one.links, one.err = gitlinks(filepath.Join(git, "index"), hashSizes(common))
		one.links = slices.DeleteFunc(one.links, func(path string) bool { return !filepath.IsLocal(path) })
	}
	x[dir] = one
	return one
}

// hashSizes returns the sizes of hashes that the index can have, in bytes.
func hashSizes(common string) []int {
	if bytes.Contains(bytes.ToLower(readGitFile(filepath.Join(common, "config"))), []byte("sha256")) {
		return []int{sha256.Size, sha1Size}
	}
	return []int{sha1Size}
}

// gitFolders returns the folder with the index of a folder's repository, and the one with its configuration.
func gitFolders(dir string) (git, common string, ok bool) {
	git = filepath.Join(dir, ".git")
	if info, err := os.Stat(git); err != nil {
		return "", "", false
	} else if !info.IsDir() {
		target, ok := strings.CutPrefix(string(bytes.TrimSpace(readGitFile(git))), "gitdir:")
		if !ok {
			return "", "", false
		}
		git = from(dir, strings.TrimSpace(target))
	}
	if target := string(bytes.TrimSpace(readGitFile(filepath.Join(git, "commondir")))); target != "" {
		return git, from(git, target), true
	}
	return git, git, true
}

func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// readGitFile returns the beginning of a regular file, or nil. It follows links as git does.
func readGitFile(path string) []byte {
	text, err := osfile.ReadRegular(path, osfile.Bounds{Max: maxGitFile})
	if err != nil {
		return nil
	}
	return text
}

// unsafeParts describes all that can make git run programs in the repository of a folder.
func unsafeParts(dir string) string {
	git, common, ok := gitFolders(dir)
	if !ok {
		return ""
	}
	var all []string
	for _, file := range configsOf(git, common) {
		_, lines := disableSettings(string(readGitFile(file)))
		if info, err := os.Lstat(file); err == nil && (!info.Mode().IsRegular() || info.Size() >= maxGitFile) {
			lines = append(lines, "not a short regular file")
		}
		for _, line := range lines {
			all = append(all, filepath.Base(file)+": "+line)
		}
	}
	for _, hook := range hooksOf(filepath.Join(common, "hooks")) {
		text := readGitFile(filepath.Join(common, "hooks", hook.Name()))
		all = append(all, fmt.Sprintf("hook %s of %d bytes: %x", hook.Name(), hook.Size(), sha256.Sum256(text)))
	}
	return strings.Join(all, "\n")
}

func configsOf(git, common string) []string {
	return slices.Compact([]string{filepath.Join(common, "config"), filepath.Join(common, "config.worktree"),
		filepath.Join(git, "config.worktree")})
}

// hooksOf returns the hooks of a folder that git runs: executable files, without samples.
func hooksOf(dir string) (hooks []fs.FileInfo) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, ".sample") || strings.HasSuffix(name, disabledSuffix) {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, entry.Name()))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			hooks = append(hooks, info)
		}
	}
	return hooks
}
