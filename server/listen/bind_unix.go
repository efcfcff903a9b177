//go:build unix

package listen

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// tempNameLen is the length of the temporary name of a socket, within its folder.
const tempNameLen = len("/.s0123456789/s")

// bind creates a socket with mode 0600, under a temporary name, and renames it to path.
func bind(path string) (*net.UnixListener, error) {
	// The folder has mode 0700, so that other users cannot connect before the chmod.
	dir, err := os.MkdirTemp(filepath.Dir(path), ".s")
	if err != nil {
		return nil, fmt.Errorf("create a temporary folder for the socket: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	unplaced := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: unplaced, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("create the socket %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false)
	err = os.Chmod(unplaced, 0o600)
	if err == nil {
		err = os.Rename(unplaced, path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("rename the socket: %w", err), l.Close())
	}
	return l, nil
}
