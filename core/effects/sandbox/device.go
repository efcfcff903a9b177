//go:build linux

package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// deviceNames are the devices that a command may use.
var deviceNames = []string{"null", "zero", "full", "random", "urandom", "tty"}

// deviceLinks are symbolic links in /dev.
var deviceLinks = map[string]string{
	"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	"ptmx": "pts/ptmx",
}

// cloneDevices returns mounts of the devices, by name, while they can still be used as devices. It
// skips devices that the machine does not have.
func cloneDevices() map[string]int {
	devices := map[string]int{}
	for _, name := range deviceNames {
		if tree, err := unix.OpenTree(unix.AT_FDCWD, "/dev/"+name, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC); err == nil {
			devices[name] = tree
		}
	}
	return devices
}

// mountDev replaces /dev by one with these devices, and with terminals and shared memory of its
// own. It has no disks.
func mountDev(devices map[string]int) error {
	dev, err := newMount("tmpfs", map[string]string{"mode": "0755", "size": "64k"}, unix.MOUNT_ATTR_NOSUID)
	if err != nil {
		return fmt.Errorf("mount /dev: %w", err)
	}
	if err := attachAt(dev, "/dev"); err != nil {
		return err
	}
	for name, tree := range devices {
		if err := addDevice(dev, name, tree); err != nil {
			return fmt.Errorf("mount /dev/%s: %w", name, err)
		}
	}
	for name, target := range deviceLinks {
		if err := unix.Symlinkat(target, dev, name); err != nil {
			return fmt.Errorf("link /dev/%s: %w", name, err)
		}
	}
	if err := addFolder(dev, "pts", "devpts", map[string]string{"ptmxmode": "0666", "mode": "0620"},
		unix.MOUNT_ATTR_NOSUID); err != nil {
		return err
	}
	if err := addFolder(dev, "shm", "tmpfs", map[string]string{"mode": "1777"}, harmless); err != nil {
		return err
	}
	return unix.MountSetattr(dev, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: readOnly})
}

func addDevice(dev int, name string, tree int) error {
	defer unix.Close(tree)
	fd, err := unix.Openat(dev, name, unix.O_CREAT|unix.O_RDONLY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.MoveMount(tree, "", dev, name, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

func addFolder(dev int, name, kind string, options map[string]string, attributes int) error {
	if err := unix.Mkdirat(dev, name, 0o755); err != nil {
		return fmt.Errorf("make /dev/%s: %w", name, err)
	}
	tree, err := newMount(kind, options, attributes|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return fmt.Errorf("mount /dev/%s: %w", name, err)
	}
	defer unix.Close(tree)
	return unix.MoveMount(tree, "", dev, name, unix.MOVE_MOUNT_F_EMPTY_PATH)
}
