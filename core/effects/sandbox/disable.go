package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// disabledSuffix is the end of the names of files that have no effect any more.
const disabledSuffix = ".disabled"

// Disable disables what can make git run programs, in repositories where something is new since before the command. It
// deletes nothing: settings become comments, and other files get another name. It returns the folders. An error says
// what may still be there.
func (f Repositories) Disable(r Rules) (folders []string, err error) {
	now := r.examine(f.protected, indexes{})
	var failed []error
	for dir, one := range now.found {
		if one.unsafe == "" || one.unsafe == f.found[dir].unsafe {
			continue
		}
		if err := disable(one.root, dir); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", dir, err))
			continue
		}
		folders = append(folders, dir)
	}
	for _, reason := range slices.Compact(slices.Sorted(slices.Values(now.unread))) {
		if !slices.Contains(f.unread, reason) {
			failed = append(failed, errors.New(reason))
		}
	}
	slices.Sort(folders)
	return folders, errors.Join(failed...)
}

// disable changes files below a root only, also if a command replaces folders by links meanwhile.
func disable(root, dir string) error {
	path, err := filepath.Rel(root, dir)
	if err != nil {
		return err
	}
	above, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer above.Close()
	in, err := above.OpenRoot(path)
	if err != nil {
		return err
	}
	defer in.Close()
	if isOrdinary(in) && disableFile(in, ".git/config") == nil && disableFile(in, ".git/config.worktree") == nil &&
		disableHooks(in) == nil && unsafeParts(dir) == "" {
		return nil
	}
	return renameDisabled(in, ".git")
}

// isOrdinary reports whether all of a repository is in its .git folder.
func isOrdinary(in *os.Root) bool {
	git, err := in.Lstat(".git")
	if err != nil || !git.IsDir() {
		return false
	}
	hooks, err := in.Lstat(".git/hooks")
	return (err != nil || hooks.IsDir()) && !exists(in, ".git/commondir")
}

func exists(in *os.Root, name string) bool {
	_, err := in.Lstat(name)
	return err == nil
}

// disableFile disables settings in a file, which may not exist.
func disableFile(in *os.Root, name string) error {
	if !exists(in, name) {
		return nil
	}
	text, mode, err := readShort(in, name)
	if err != nil {
		return err
	}
	clean, lines := disableSettings(text)
	if len(lines) == 0 {
		return nil
	}
	made := name + ".new"
	_ = in.RemoveAll(made) // what a command left there
	file, err := in.OpenFile(made, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode|0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(clean)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return in.Rename(made, name)
}

// readShort reads a regular file of less than maxGitFile bytes, without following a link.
func readShort(in *os.Root, name string) (text string, mode os.FileMode, err error) {
	if info, err := in.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return "", 0, errors.New("not a regular file")
	}
	file, err := in.OpenFile(name, os.O_RDONLY|openAtOnce, 0)
	if err != nil {
		return "", 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() >= maxGitFile {
		return "", 0, errors.New("not a short regular file")
	}
	all, err := io.ReadAll(io.LimitReader(file, maxGitFile))
	return string(all), info.Mode().Perm(), err
}

func disableHooks(in *os.Root) error {
	for _, hook := range hooksOf(filepath.Join(in.Name(), ".git/hooks")) {
		if err := renameDisabled(in, ".git/hooks/"+hook.Name()); err != nil {
			return err
		}
	}
	return nil
}

// renameDisabled renames a file or folder to a free name that ends in disabledSuffix.
func renameDisabled(in *os.Root, name string) error {
	to := name + disabledSuffix
	for i := 2; exists(in, to); i++ {
		to = fmt.Sprintf("%s%d%s", name, i, disabledSuffix)
	}
	return in.Rename(name, to)
}
