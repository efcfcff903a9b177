//go:build unix

package osfile

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Open opens a file like [os.OpenFile]. Opening a FIFO or a terminal has no effect and never blocks.
// Others may rename and remove the file.
func Open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag|syscall.O_NONBLOCK|syscall.O_NOCTTY, perm)
}

// Rename calls [os.Rename]. It replaces a file that is open.
func Rename(path, to string) error { return os.Rename(path, to) }

// ToSync is the flag with which a file is opened only to sync it.
const ToSync = os.O_RDONLY

// Truncate calls [os.File.Truncate]. The file may be open to append.
func Truncate(file *os.File, size int64) error { return file.Truncate(size) }

// SyncFolder makes the names in a folder durable.
func SyncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	err = dir.Sync()
	if closeErr := dir.Close(); err == nil {
		err = closeErr
	}
	return err
}

// OpenLock opens the file with which TryLock locks a folder: the folder itself.
func OpenLock(folder string) (*os.File, error) { return os.Open(folder) }

// TryLock locks an open file for the processes that have it open, until all have closed it. It reports
// false if others hold the lock.
func TryLock(file *os.File) (bool, error) {
	for {
		switch err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, err
		}
	}
}

// KeepLock makes a lock last until the process of cmd has ended as well.
func KeepLock(cmd *exec.Cmd, lock *os.File) { cmd.ExtraFiles = append(cmd.ExtraFiles, lock) }

// SameDisk reports whether two files exist and are on one disk.
func SameDisk(a, b string) bool {
	var left, right syscall.Stat_t
	return syscall.Stat(a, &left) == nil && syscall.Stat(b, &right) == nil && left.Dev == right.Dev
}

// MayRead reports whether this user may read a file.
func MayRead(path string) bool { return syscall.Access(path, 4) == nil }

// MayWriteIn reports whether this user may create files in a folder.
func MayWriteIn(path string) bool { return syscall.Access(path, 2|1) == nil }

// Is calls [errors.Is]. It knows the errors of the system for targets such as syscall.ENOSPC.
func Is(err, target error) bool { return errors.Is(err, target) }

// StateOf returns the state of a file, without following a link. The error is also returned for a state that does not
// identify the content.
func StateOf(path string) (State, error) {
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	return State{int64(st.Dev), int64(st.Ino), int64(st.Mode), st.Size, st.Mtim.Nano(), st.Ctim.Nano()}, err
}
