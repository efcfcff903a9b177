package listen

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
)

// tempNameLen is 0: the socket has no temporary name.
const tempNameLen = 0

// bind creates a socket, and removes a stale one. Windows has no mode for it: the access rights are the ones of the
// folder, which in the home of a user admit nobody else. So a temporary name has no use, and a bound socket cannot be
// renamed safely. The caller has the lock of the path.
func bind(path string) (*net.UnixListener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove the stale socket: %w", err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("create the socket %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false)
	return l, nil
}
