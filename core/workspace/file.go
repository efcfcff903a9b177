package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"appserver/core/osfile"
)

var errNotRegular = errors.New("not a regular file")

// readRegular reads at most limit bytes of a regular file. The file is looked at
// before it is opened, as opening a device can do things, and after, as it can
// change in between. One that is in a closed directory, by links or not, is not read.
// Errors do not name the path.
func readRegular(path string, limit int64, closed ...string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, reason(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := osfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, reason(err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	if err := outside(f, closed); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, limit))
	return text, reason(err)
}

// outside checks that an open file is in none of the directories. It asks the file, because its name
// may lead to another file by now.
func outside(f *os.File, closed []string) error {
	if len(closed) == 0 {
		return nil
	}
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(f.Fd())))
	if err != nil {
		if path, err = filepath.EvalSymlinks(f.Name()); err != nil {
			return reason(err)
		}
	}
	for _, dir := range closed {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return fmt.Errorf("it is in %s, which the sandbox policy closes", dir)
		}
	}
	return nil
}

// reason is a file operation's error without the operation and the path.
func reason(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
