//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	readOnly = unix.MOUNT_ATTR_RDONLY
	// harmless are the attributes of all mounts: no devices and no setuid programs.
	harmless = unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOSUID
	attached = unix.MOVE_MOUNT_F_EMPTY_PATH | unix.MOVE_MOUNT_T_EMPTY_PATH
)

// arrange makes everything read-only except the writable roots. It mounts a /proc with the
// command's own processes, and a /dev without disks.
func (r Rules) arrange() error {
	devices, places := cloneDevices(), newPlan(r)
	all := &unix.MountAttr{Attr_set: readOnly | harmless, Propagation: unix.MS_PRIVATE}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, all); err != nil {
		return fmt.Errorf("make all mounts read-only: %w", err)
	}
	for _, step := range []func() error{
		places.mount,
		func() error { return mountDev(devices) },
		mountProc,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// mountProc mounts the /proc of the process namespace, without write access to settings of the
// machine.
func mountProc() error {
	tree, err := newMount("proc", nil, readOnly|harmless|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return attachAt(tree, "/proc")
}

// newMount returns a new file system that is not attached.
func newMount(kind string, options map[string]string, attributes int) (fd int, err error) {
	fs, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fs)
	for key, value := range options {
		if err := unix.FsconfigSetString(fs, key, value); err != nil {
			return -1, fmt.Errorf("option %s: %w", key, err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, attributes)
}

// cloneAt returns a detached copy of the mount of a file, with the file as its root.
func cloneAt(fd int) (int, error) {
	return unix.OpenTree(fd, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
}

// attachAt attaches a mount over an absolute path.
func attachAt(tree int, path string) error {
	if err := unix.MoveMount(tree, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount over %s: %w", path, err)
	}
	return nil
}

// allowWriting makes a mount and those below it writable. If one below was read-only before, it
// changes the mount alone.
func allowWriting(tree int) error {
	attributes := &unix.MountAttr{Attr_clr: readOnly}
	err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, attributes)
	if err == nil {
		return nil
	}
	err = unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, attributes)
	if errors.Is(err, unix.EPERM) {
		return nil // all of it was read-only before
	}
	return err
}

// forbidWriting makes a mount and those below it read-only.
func forbidWriting(tree int) error {
	return unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: readOnly})
}

// openPath opens a name in a folder, or an absolute path, as a place to attach mounts. A symbolic
// link is an error.
func openPath(dir int, name string) (int, error) {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: name, Err: err}
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil || stat.Mode&unix.S_IFMT == unix.S_IFLNK {
		unix.Close(fd)
		return -1, &os.PathError{Op: "open", Path: name, Err: unix.ELOOP}
	}
	return fd, nil
}
