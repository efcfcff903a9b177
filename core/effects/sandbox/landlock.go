//go:build linux

package sandbox

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// landlockFiles is the first version with rules for moves between folders and for truncation;
	// landlockScopes is the first that restricts signals.
	landlockFiles, landlockScopes = 3, 6
	// writing is every way to change files and folders.
	writing = ofFiles | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	ofFiles = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// errNoLandlock is the failure of bare rules, in which nothing else protects files and other processes.
var errNoLandlock = errors.New("this needs Linux 6.2 with Landlock")

// landlock allows the calling thread to write where the mounts do. On kernels without Landlock, or
// with an older version, only the mounts protect files. A process that Landlock restricts cannot read the memory and
// the environment of others either.
func (r Rules) landlock() error {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 || version < landlockFiles {
		if r.Bare {
			return errNoLandlock
		}
		return nil
	}
	attributes := unix.LandlockRulesetAttr{Handled_access_fs: writing}
	if version >= landlockScopes {
		attributes.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	ruleset, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attributes)),
		unsafe.Sizeof(attributes), 0)
	if errno != 0 {
		return errno
	}
	defer unix.Close(int(ruleset))
	// The mounts have replaced these folders by others of the command.
	places := append([]string{"/dev", "/proc"}, r.Writable...)
	if r.Bare {
		places = []string{"/dev/null"}
	}
	for _, path := range places {
		if err := allowBeneath(int(ruleset), path); err != nil {
			return err
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// allowBeneath allows writing to a file, or in a folder and below it. A path that does not exist
// needs no rule.
func allowBeneath(ruleset int, path string) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	rule := unix.LandlockPathBeneathAttr{Allowed_access: writing, Parent_fd: int32(fd)}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rule.Allowed_access = ofFiles
	}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return &os.PathError{Op: "allow writing in", Path: path, Err: errno}
	}
	return nil
}
