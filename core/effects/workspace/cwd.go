package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"appserver/platform/osfile"
	"appserver/protocol"
)

// ResolveCwd returns the working directory for a client: base if cwd is nil or empty, and relative to
// base if it is relative. The result is absolute and clean, with symbolic links kept. An error is a
// *protocol.Error of kind cwdNotFound that names the path.
func ResolveCwd(base string, cwd *string) (string, error) {
	dir := base
	if cwd != nil && *cwd != "" {
		dir = *cwd
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(base, dir)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", refuseCwd(dir, err.Error())
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", refuseCwd(dir, "does not exist")
	case err != nil:
		return "", refuseCwd(dir, "cannot be used: "+osfile.Reason(err).Error())
	case !info.IsDir():
		return "", refuseCwd(dir, "is not a directory")
	}
	return dir, nil
}

// IsAbs reports whether the path of a directory is absolute.
func IsAbs(dir string) bool { return filepath.IsAbs(dir) }

// Current returns the working directory of the process.
func Current() (string, error) { return os.Getwd() }

func refuseCwd(dir, what string) error {
	return protocol.Refuse(protocol.KindCwdNotFound, "working directory %s %s", dir, what)
}
