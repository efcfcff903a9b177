//go:build linux || darwin

package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"appserver/protocol"
)

// Placeholders are empty folders in the place of protected folders that do not exist. Without them
// there is nothing to mount over, and a command could create the folders. Each is locked while a
// command needs it. The last such command removes it, unless it has content. Placeholders that a
// crash left are removed after the next command.
type Placeholders []*os.File

// placeholderMode distinguishes a placeholder from a folder of the user.
const placeholderMode = fs.ModeSticky | 0o755

// placeholderTries bounds the attempts to create a placeholder again after others removed it.
const placeholderTries = 10

// Placeholders creates the placeholders of the rules, and locks them until Release.
func (r Rules) Placeholders() (held Placeholders) {
	for _, root := range r.Kept {
		real, err := filepath.EvalSymlinks(root)
		if err != nil || real != root && outermost(asSet(r.Writable), root) != root {
			continue // a link within another root may be the work of a command
		}
		for _, name := range protocol.ProtectedFolders {
			if file := hold(filepath.Join(real, name)); file != nil {
				held = append(held, file)
			}
		}
	}
	return held
}

func asSet(paths []string) map[string]string {
	set := map[string]string{}
	for _, path := range paths {
		set[path] = path
	}
	return set
}

// hold returns a locked placeholder, or nil if the folder is the user's or cannot be created.
func hold(path string) *os.File {
	for range placeholderTries {
		_ = os.Mkdir(path, placeholderMode) // fails if it exists, which the next step looks at
		file, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Lstat(filepath.Dir(path)); err != nil {
				return nil
			}
			continue
		}
		if err != nil {
			return nil
		}
		err = unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB)
		if err == nil && isPlaceholder(file, path) {
			return file
		}
		file.Close()
		if is(path, fs.ModeDir) && !sticky(path) {
			return nil
		}
	}
	return nil
}

// isPlaceholder reports whether an open folder is a placeholder, and still has its name.
func isPlaceholder(file *os.File, path string) bool {
	open, err := file.Stat()
	if err != nil || open.Mode()&fs.ModeSticky == 0 {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(open, named)
}

func sticky(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSticky != 0
}

// Release removes the placeholders that no other command needs.
func (p Placeholders) Release() {
	for _, file := range p {
		if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && isPlaceholder(file, file.Name()) {
			_ = unix.Rmdir(file.Name()) // fails if something is in it
		}
		file.Close()
	}
}
