package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

var errNotRegular = errors.New("not a regular file")

// readRegular reads at most limit bytes of a regular file. The file is looked at
// before it is opened, as opening a device can do things, and after, as it can
// change in between. Errors do not name the path.
func readRegular(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, reason(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, reason(err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	text, err := io.ReadAll(io.LimitReader(f, limit))
	return text, reason(err)
}

// reason is a file operation's error without the operation and the path.
func reason(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
