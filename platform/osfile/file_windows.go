package osfile

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/windows"
)

// Open opens a file like [os.OpenFile]. Others may rename and remove the file.
func Open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	// Go opens files of a Root so that others may rename and remove them.
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, named(err, path)
	}
	defer root.Close()
	file, err := root.OpenFile(filepath.Base(path), flag, perm)
	return file, named(err, path)
}

func named(err error, path string) error {
	if at := new(fs.PathError); errors.As(err, &at) {
		return &fs.PathError{Op: "open", Path: path, Err: at.Err}
	}
	return err
}

// Rename calls [os.Rename]. It replaces a file that is open.
func Rename(path, to string) error {
	err := os.Rename(path, to)
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		return err
	}
	if replace(path, to) == nil || replaceInTwoSteps(path, to) == nil {
		return nil
	}
	return err
}

func replace(path, to string) error {
	folder, err := OpenFolder(filepath.Dir(to))
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }()
	handle, err := createFile(path, windows.DELETE|windows.SYNCHRONIZE, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT)
	if err != nil {
		return err
	}
	return errors.Join(rename(handle, folder.handle, filepath.Base(to)), windows.CloseHandle(handle))
}

// ToSync is the flag with which a file is opened only to sync it. Windows syncs no file that is opened to
// read.
const ToSync = os.O_RDWR

// Truncate calls [os.File.Truncate]. The file may be open to append.
func Truncate(file *os.File, size int64) error {
	err := file.Truncate(size)
	if errors.Is(err, fs.ErrPermission) {
		return truncateAgain(file, size)
	}
	return err
}

// truncateAgain truncates by a handle with more rights: Windows truncates no file that is open to append.
func truncateAgain(file *os.File, size int64) error {
	handle, err := openRelative(windows.Handle(file.Fd()), "", windows.FILE_WRITE_DATA, windows.FILE_OPEN, 0)
	if err != nil {
		return &fs.PathError{Op: "truncate", Path: file.Name(), Err: err}
	}
	err = windows.Ftruncate(handle, size)
	if closeErr := windows.CloseHandle(handle); err == nil {
		err = closeErr
	}
	if err != nil {
		return &fs.PathError{Op: "truncate", Path: file.Name(), Err: err}
	}
	return nil
}

// SyncFolder makes the names in a folder durable.
func SyncFolder(path string) error {
	handle, err := createFile(path, windows.GENERIC_WRITE, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	err = windows.FlushFileBuffers(handle)
	if closeErr := windows.CloseHandle(handle); err == nil {
		err = closeErr
	}
	if err != nil {
		return &fs.PathError{Op: "sync", Path: path, Err: err}
	}
	return nil
}

// OpenLock opens the file with which TryLock locks a folder: .lock in it, because Windows locks no folders.
func OpenLock(folder string) (*os.File, error) {
	return os.OpenFile(filepath.Join(folder, ".lock"), os.O_RDWR|os.O_CREATE, 0o600)
}

// TryLock locks an open file until this process closes it. It reports false if another handle has the
// lock. No one else can read a locked file.
func TryLock(file *os.File) (bool, error) {
	const exclusive = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(file.Fd()), exclusive, 0, math.MaxUint32, math.MaxUint32,
		new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// KeepLock does nothing: on Windows, a lock ends with the process that took it.
func KeepLock(*exec.Cmd, *os.File) {}

// SameDisk reports whether two files exist and are on one disk.
func SameDisk(a, b string) bool {
	left, err := OpenFolder(a)
	if err != nil {
		return false
	}
	defer func() { _ = left.Close() }()
	right, err := OpenFolder(b)
	if err != nil {
		return false
	}
	defer func() { _ = right.Close() }()
	x, err := infoOf(left.handle)
	if err != nil {
		return false
	}
	y, err := infoOf(right.handle)
	return err == nil && x.Disk == y.Disk
}

// MayRead reports whether this user may read a file.
func MayRead(path string) bool {
	handle, err := createFile(path, windows.GENERIC_READ, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS)
	if err != nil {
		return false
	}
	return windows.CloseHandle(handle) == nil
}

// MayWriteIn reports whether this user may create files in a folder.
func MayWriteIn(path string) bool {
	handle, err := createFile(path, windows.FILE_WRITE_DATA, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS)
	if err != nil {
		return false
	}
	return windows.CloseHandle(handle) == nil
}

// sameMeaning has the errors of Windows for the numbers of other systems. Go returns the former, and
// has the latter as numbers that no call returns.
var sameMeaning = map[syscall.Errno][]error{
	syscall.ENOSPC:       {windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL},
	syscall.EDQUOT:       {windows.ERROR_DISK_QUOTA_EXCEEDED},
	syscall.EFBIG:        {windows.ERROR_FILE_TOO_LARGE},
	syscall.EIO:          {windows.ERROR_IO_DEVICE, windows.ERROR_CRC, windows.ERROR_WRITE_FAULT},
	syscall.EROFS:        {windows.ERROR_WRITE_PROTECT},
	syscall.EMFILE:       {windows.ERROR_TOO_MANY_OPEN_FILES},
	syscall.ENFILE:       {windows.ERROR_NO_SYSTEM_RESOURCES},
	syscall.ELOOP:        {windows.ERROR_CANT_RESOLVE_FILENAME},
	syscall.ENOTDIR:      {windows.ERROR_DIRECTORY},
	syscall.ENAMETOOLONG: {windows.ERROR_FILENAME_EXCED_RANGE},
	syscall.ECONNREFUSED: {windows.WSAECONNREFUSED},
	syscall.ECONNRESET:   {windows.WSAECONNRESET, windows.WSAECONNABORTED},
	syscall.EPIPE:        {windows.ERROR_BROKEN_PIPE, windows.ERROR_NO_DATA},
	syscall.EADDRINUSE:   {windows.WSAEADDRINUSE},
	syscall.EXDEV:        {windows.ERROR_NOT_SAME_DEVICE},
}

// Is calls [errors.Is]. It knows the errors of the system for targets such as syscall.ENOSPC.
func Is(err, target error) bool {
	number, _ := target.(syscall.Errno)
	return errors.Is(err, target) ||
		slices.ContainsFunc(sameMeaning[number], func(same error) bool { return errors.Is(err, same) })
}

// StateOf fails, because file systems of Windows need not keep a time that no program can set.
func StateOf(string) (State, error) { return State{}, errors.ErrUnsupported }
