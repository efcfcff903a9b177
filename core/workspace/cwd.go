package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"appserver/protocol"
)

// ResolveCwd is the working directory that a client asks for: base where it asks
// for none, against base where it is relative; absolute and clean, symbolic links
// as they are. An error is a *protocol.Error of kind cwdNotFound that names the
// path.
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
		return "", refuseCwd(dir, "cannot be used: "+reason(err).Error())
	case !info.IsDir():
		return "", refuseCwd(dir, "is not a directory")
	}
	return dir, nil
}

func refuseCwd(dir, what string) error {
	return protocol.Refuse(protocol.KindCwdNotFound, "working directory %s %s", dir, what)
}
