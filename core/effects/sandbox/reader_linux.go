package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	reading = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	// landlockRefer is the first version that can allow moves between folders, which git makes. Earlier ones deny them.
	landlockRefer = 2
)

// readRules are rules of Landlock that allow to read everything but the hidden directory and /proc.
type readRules struct {
	ruleset int
	// listed are the folders whose entries have a rule each, with their times of change: a new entry needs a rule.
	listed map[string]time.Time
	// incomplete is set if an open directory did not exist.
	incomplete bool
}

// start starts a program from a thread with the rules. The thread ends with its goroutine.
func (r *Reader) start(cmd *exec.Cmd) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- r.startOnThread(cmd)
	}()
	return <-done
}

func (r *Reader) startOnThread(cmd *exec.Cmd) error {
	if err := r.restrict(); err != nil {
		return err
	}
	return cmd.Start()
}

// restrict applies the rules to the calling thread, if the kernel has Landlock.
func (r *Reader) restrict() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rules == nil || r.rules.outdated() {
		if r.rules != nil {
			_ = unix.Close(r.rules.ruleset)
		}
		r.rules = r.newRules()
	}
	if r.rules.ruleset < 0 {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.rules.ruleset), 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// newRules returns the rules of now. Without Landlock, the set is negative.
func (r *Reader) newRules() *readRules {
	rules := &readRules{ruleset: -1, listed: map[string]time.Time{}}
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 || version < landlockRefer {
		return rules
	}
	attributes := unix.LandlockRulesetAttr{Handled_access_fs: reading | unix.LANDLOCK_ACCESS_FS_REFER}
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attributes)),
		unsafe.Sizeof(attributes), 0)
	if errno != 0 {
		return rules
	}
	rules.ruleset = int(set)
	rules.add("/", unix.LANDLOCK_ACCESS_FS_REFER)
	rules.allowAround("/", []string{"/proc", r.hidden})
	for _, dir := range r.open {
		if _, err := os.Stat(dir); err != nil {
			rules.incomplete = true
		}
		rules.allow(dir, true)
	}
	return rules
}

// allowAround allows to read what is in a folder, except the hidden directories.
func (r *readRules) allowAround(dir string, hidden []string) {
	info, err := os.Stat(dir)
	if err != nil {
		return
	}
	r.listed[dir] = info.ModTime()
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case slices.Contains(hidden, path), e.Type()&os.ModeSymlink != 0:
		case slices.ContainsFunc(hidden, func(h string) bool { return isBelow(path, h) }):
			r.allowAround(path, hidden)
		default:
			r.allow(path, e.IsDir())
		}
	}
}

// allow allows to read a file, or a folder and what is below it.
func (r *readRules) allow(path string, isFolder bool) {
	if isFolder {
		r.add(path, reading)
	} else {
		r.add(path, unix.LANDLOCK_ACCESS_FS_READ_FILE)
	}
}

// add adds a rule. A path that cannot be opened needs none. It asks nothing of the file itself, because a network disk
// may not answer.
func (r *readRules) add(path string, access uint64) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, _ = unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
}

// outdated reports whether a listed folder has changed, or an open directory may exist by now.
func (r *readRules) outdated() bool {
	if r.incomplete {
		return true
	}
	for dir, at := range r.listed {
		if info, err := os.Stat(dir); err != nil || !info.ModTime().Equal(at) {
			return true
		}
	}
	return false
}
