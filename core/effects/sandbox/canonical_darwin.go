package sandbox

import (
	"bytes"
	"path/filepath"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// canonical returns the path by which the kernel knows a file: without symbolic links, and in the
// case that the folder stores, if the volume ignores case.
func canonical(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return stored(real), nil
}

// stored does the same as canonical, for a path whose last name may be a link, which it does not
// follow. If the file cannot be opened, it returns the path itself.
func stored(path string) string {
	fd, err := unix.Open(path, unix.O_EVTONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return path
	}
	defer unix.Close(fd)
	name := make([]byte, unix.PathMax)
	_, err = unix.FcntlInt(uintptr(fd), unix.F_GETPATH, int(uintptr(unsafe.Pointer(&name[0]))))
	runtime.KeepAlive(name)
	if end := bytes.IndexByte(name, 0); err == nil && end > 0 {
		return string(name[:end])
	}
	return path
}
