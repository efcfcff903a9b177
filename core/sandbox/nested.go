package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// maxRepositories bounds how many repositories are looked at, and maxGitFile the part of a file of git that is
	// read, in bytes.
	maxRepositories, maxGitFile = 500, 1 << 20
	// aside is the end of the names of files that are taken out of effect.
	aside = ".disarmed"
)

// Repositories are the repositories that git or an editor enters when it runs in a writable root: that of the root,
// those in its immediate folders, and all that the index of one of them refers to.
type Repositories struct {
	// hazards describe what could make git run programs, by the folders of the repositories.
	hazards map[string]string
	// guarded are folders whose settings and hooks a command cannot change. Changes there are the user's.
	guarded []string
}

// Repositories looks at the repositories as they are before a command.
func (r Rules) Repositories() Repositories {
	var guarded []string
	for _, root := range r.Kept {
		real, err := filepath.EvalSymlinks(root)
		if err != nil {
			continue
		}
		for _, dir := range append(submodules(real), ".") {
			if dir = filepath.Join(real, dir); is(filepath.Join(dir, ".git"), fs.ModeDir) {
				guarded = append(guarded, dir)
			}
		}
	}
	return r.look(guarded)
}

func (r Rules) look(guarded []string) Repositories {
	found := Repositories{map[string]string{}, guarded}
	for _, root := range r.Kept {
		real, err := filepath.EvalSymlinks(root)
		if err != nil {
			continue
		}
		found.add(r, real, real)
		for _, dir := range above(real) {
			found.addLinks(r, real, dir)
		}
		entries, _ := os.ReadDir(real)
		for _, entry := range entries {
			if entry.IsDir() {
				found.add(r, real, filepath.Join(real, entry.Name()))
			}
		}
	}
	return found
}

// add adds the repository of a folder, if there is one, and those that its index refers to.
func (f Repositories) add(r Rules, root, dir string) {
	_, known := f.hazards[dir]
	if known || !within(root, dir) || len(f.hazards) == maxRepositories {
		return
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		return
	}
	f.hazards[dir] = ""
	if !slices.Contains(f.guarded, dir) && !r.isElsewhere(root, dir) {
		f.hazards[dir] = hazard(dir)
	}
	f.addLinks(r, root, dir)
}

func (f Repositories) addLinks(r Rules, root, dir string) {
	for _, link := range linksOf(dir) {
		f.add(r, root, filepath.Join(dir, link))
	}
}

// isElsewhere reports whether a .git file names a repository where commands cannot write, as in a linked worktree.
func (r Rules) isElsewhere(root, dir string) bool {
	git, common, ok := gitFolders(dir)
	if !ok || !is(filepath.Join(dir, ".git"), 0) {
		return false
	}
	return !slices.ContainsFunc([]string{git, common}, func(folder string) bool {
		folder = resolved(folder)
		return !within(filepath.Join(root, ".git"), folder) && slices.ContainsFunc(r.Writable, func(writable string) bool {
			return within(resolved(writable), folder)
		})
	})
}

// above returns the folder with the repository that contains a folder, unless it is the folder itself.
func above(dir string) []string {
	for dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return []string{dir}
		}
	}
	return nil
}

// linksOf returns the relative paths of the repositories that the index of a folder's repository refers to.
func linksOf(dir string) (paths []string) {
	git, common, ok := gitFolders(dir)
	if !ok {
		return nil
	}
	hash := 20
	if bytes.Contains(bytes.ToLower(readGitFile(filepath.Join(common, "config"))), []byte("sha256")) {
		hash = 32
	}
	links, _ := gitlinks(filepath.Join(git, "index"), hash)
	return slices.DeleteFunc(links, func(path string) bool { return !filepath.IsLocal(path) })
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
	if target := strings.TrimSpace(string(readGitFile(filepath.Join(git, "commondir")))); target != "" {
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

// readGitFile returns the beginning of a file, or nil if it is not regular.
func readGitFile(path string) []byte {
	file, err := openRegular(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, maxGitFile))
	return text
}

// hazard describes all that could make git run programs in the repository of a folder.
func hazard(dir string) string {
	git, common, ok := gitFolders(dir)
	if !ok {
		return ""
	}
	var all []string
	if is(filepath.Join(dir, ".git"), fs.ModeSymlink) {
		all = append(all, ".git is a link")
	}
	for _, file := range configsOf(git, common) {
		_, harmful := disarmConfig(string(readGitFile(file)))
		if info, err := os.Lstat(file); err == nil && (!info.Mode().IsRegular() || info.Size() >= maxGitFile) {
			harmful = append(harmful, "not a short regular file")
		}
		for _, line := range harmful {
			all = append(all, filepath.Base(file)+": "+line)
		}
	}
	for _, hook := range hooksOf(filepath.Join(common, "hooks")) {
		all = append(all, fmt.Sprintf("hook %s of %d bytes at %v", hook.Name(), hook.Size(), hook.ModTime()))
	}
	return strings.Join(all, "\n")
}

func configsOf(git, common string) []string {
	return slices.Compact([]string{filepath.Join(common, "config"), filepath.Join(common, "config.worktree"),
		filepath.Join(git, "config.worktree")})
}

// hooksOf returns the hooks of a folder that git runs: executable files that are no samples.
func hooksOf(dir string) (hooks []fs.FileInfo) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		info, err := os.Stat(filepath.Join(dir, entry.Name()))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && !isIgnoredHook(entry.Name()) {
			hooks = append(hooks, info)
		}
	}
	return hooks
}

func isIgnoredHook(name string) bool {
	return strings.HasSuffix(name, ".sample") || strings.HasSuffix(name, aside)
}

// Disarm takes out of effect what could make git run programs, in repositories where it was not before. It returns the
// folders. Nothing is deleted: settings become comments, and other files get another name.
func (f Repositories) Disarm(r Rules) (folders []string) {
	for dir, now := range r.look(f.guarded).hazards {
		if now != "" && now != f.hazards[dir] && disarm(dir) == nil {
			folders = append(folders, dir)
		}
	}
	slices.Sort(folders)
	return folders
}

// disarm changes files in a folder only, also if links lead elsewhere.
func disarm(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	git, err := root.Lstat(".git")
	if err != nil {
		return err
	}
	hooks, err := root.Lstat(".git/hooks")
	isOrdinary := git.IsDir() && (err != nil || hooks.IsDir()) && !exists(root, ".git/commondir")
	if isOrdinary {
		isOrdinary = disarmFile(root, ".git/config") && disarmFile(root, ".git/config.worktree") && disarmHooks(root)
	}
	if isOrdinary && hazard(dir) == "" {
		return nil
	}
	return setAside(root, ".git")
}

func exists(root *os.Root, name string) bool {
	_, err := root.Lstat(name)
	return err == nil
}

func disarmFile(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	if err != nil {
		return true
	}
	if !info.Mode().IsRegular() || info.Size() >= maxGitFile {
		return false
	}
	text, err := root.ReadFile(name)
	if err != nil {
		return false
	}
	clean, harmful := disarmConfig(string(text))
	if len(harmful) == 0 {
		return true
	}
	made := name + ".new"
	_ = root.Remove(made) // what a command left there
	file, err := root.OpenFile(made, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()|0o600)
	if err != nil {
		return false
	}
	_, err = file.WriteString(clean)
	if closing := file.Close(); err != nil || closing != nil {
		return false
	}
	return root.Rename(made, name) == nil
}

func disarmHooks(root *os.Root) bool {
	for _, hook := range hooksOf(filepath.Join(root.Name(), ".git/hooks")) {
		if setAside(root, ".git/hooks/"+hook.Name()) != nil {
			return false
		}
	}
	return true
}

// setAside renames a file or folder to a free name.
func setAside(root *os.Root, name string) error {
	to := name + aside
	for i := 2; exists(root, to); i++ {
		to = fmt.Sprintf("%s%d%s", name, i, aside)
	}
	return root.Rename(name, to)
}
