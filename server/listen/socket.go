package listen

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"appserver/platform/osfile"
)

const (
	// maxSocketPath is the longest socket path that all supported systems accept, in bytes.
	maxSocketPath = 103
	// dialTimeout limits the probe of an existing socket. If a server does not accept within
	// it, the socket counts as stale.
	dialTimeout = 2 * time.Second
	// lockTimeout limits the wait for the lock of a socket at which nothing answers.
	lockTimeout  = time.Second
	lockInterval = 10 * time.Millisecond
)

// InUseError reports that another server listens on the socket.
type InUseError struct{ Path string }

// Error returns a message with the socket and the next action.
func (e *InUseError) Error() string {
	return fmt.Sprintf(
		"app-server control socket is already in use at %s: stop its server, or listen on another path",
		e.Path,
	)
}

// socket is a Unix socket that removes its path when it is closed. So it overrides Close.
type socket struct {
	*net.UnixListener
	path string
	info fs.FileInfo // identifies the file of this socket
	lock *flock.Flock
}

// listenUnix creates a socket with mode 0600. It replaces a stale socket.
//
// A lock file beside the socket decides between servers that start at the same time. The lock
// is held until Close. The lock file itself is never removed: another server may have opened
// it already, and a third one would then lock a new file.
func listenUnix(path string) (*socket, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("create the folder of the socket: %w", err)
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if err := acquire(lock, path); err != nil {
		return nil, err
	}
	s, err := createSocket(path)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	s.lock = lock
	return s, nil
}

// acquire acquires the lock of the socket. If another process holds it and nothing answers at the socket, it tries
// again for a while: a server that was killed holds the lock until the commands that it was starting have begun
// their programs.
func acquire(lock *flock.Flock, path string) error {
	for end := time.Now().Add(lockTimeout); ; time.Sleep(lockInterval) {
		got, err := lock.TryLock()
		if err != nil {
			return fmt.Errorf("lock the socket: %w", err)
		}
		if got {
			return nil
		}
		if err := checkVacant(path); err != nil {
			return err
		}
		if time.Now().After(end) {
			return &InUseError{path}
		}
	}
}

// createSocket creates a socket at path.
func createSocket(path string) (*socket, error) {
	if err := checkVacant(path); err != nil {
		return nil, err
	}
	l, err := bind(path)
	if err != nil {
		return nil, err
	}
	made, err := os.Lstat(path)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &socket{UnixListener: l, path: path, info: made}, nil
}

// checkVacant returns nil if nothing exists at path, or only a stale socket.
func checkVacant(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("check the socket path: %w", err)
	case info.Mode()&(fs.ModeSocket|fs.ModeSymlink) == 0: // the reference implementation leaves a symbolic link
		return fmt.Errorf("%s exists and is not a socket: move it, or listen on another path", path)
	}
	c, err := net.DialTimeout("unix", path, dialTimeout)
	switch {
	case err == nil:
		return errors.Join(&InUseError{path}, c.Close())
	case osfile.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return fmt.Errorf("%w (%v)", &InUseError{path}, err)
}

// Close closes the socket and removes its path, unless the path belongs to another socket.
func (s *socket) Close() error {
	err := s.UnixListener.Close()
	if info, e := os.Lstat(s.path); e == nil && os.SameFile(info, s.info) {
		err = errors.Join(err, os.Remove(s.path))
	}
	return errors.Join(err, s.lock.Close())
}
