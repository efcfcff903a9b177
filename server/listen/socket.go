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
)

const (
	// maxSocketPath is how many bytes all systems take.
	maxSocketPath = 103
	// madePath is how long the path may be, in its folder, where the socket is made.
	tempNameLen = len("/.s0123456789/s")
	// dialTime is how long a server may take to accept, or it does not count as one.
	dialTimeout = 2 * time.Second
)

// InUseError says that another server listens where this one was to.
type InUseError struct{ Path string }

// Error names the socket.
func (e *InUseError) Error() string {
	return fmt.Sprintf("app-server control socket is already in use at %s: end its server, or listen elsewhere", e.Path)
}

// socket is a Unix socket with a place in the file system.
type socket struct {
	*net.UnixListener
	path string
	info fs.FileInfo // to know it again
	lock *flock.Flock
}

// listenUnix makes a socket that its owner alone can reach. What a dead server has left in
// its place is replaced. The lock stays with the process: of two servers that begin at
// once one gets the place. Its file stays, too, since who removes it lets a third in.
func listenUnix(path string) (*socket, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("the folder of the socket: %w", err)
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if got, err := lock.TryLock(); err != nil {
		return nil, fmt.Errorf("lock the place of the socket: %w", err)
	} else if !got {
		return nil, &InUseError{path}
	}
	s, err := createSocket(path)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	s.lock = lock
	return s, nil
}

// replace makes a socket and puts it where there is none, or one that nobody listens on.
func createSocket(path string) (*socket, error) {
	if err := checkVacant(path); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".s") // for its owner only, so that the socket is never open to others
	if err != nil {
		return nil, fmt.Errorf("a folder to make the socket in: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	unplaced := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: unplaced, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("make the socket %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false)
	made, err := install(unplaced, path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("put the socket in its place: %w", err), l.Close())
	}
	return &socket{UnixListener: l, path: path, info: made}, nil
}

func install(unplaced, path string) (fs.FileInfo, error) {
	if err := os.Chmod(unplaced, 0o600); err != nil {
		return nil, err
	}
	if err := os.Rename(unplaced, path); err != nil {
		return nil, err
	}
	return os.Lstat(path)
}

// vacant is nil where a socket may be put: there is nothing, or what a server has left.
func checkVacant(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("the place of the socket: %w", err)
	case info.Mode()&(fs.ModeSocket|fs.ModeSymlink) == 0: // the reference implementation's is a link
		return fmt.Errorf("%s is there, and is no socket: move it away, or listen elsewhere", path)
	}
	c, err := net.DialTimeout("unix", path, dialTimeout)
	switch {
	case err == nil:
		return errors.Join(&InUseError{path}, c.Close())
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return fmt.Errorf("%w (%v)", &InUseError{path}, err)
}

// Close also removes the socket, unless another has taken its place.
func (s *socket) Close() error {
	err := s.UnixListener.Close()
	if info, e := os.Lstat(s.path); e == nil && os.SameFile(info, s.info) {
		err = errors.Join(err, os.Remove(s.path))
	}
	return errors.Join(err, s.lock.Close())
}
