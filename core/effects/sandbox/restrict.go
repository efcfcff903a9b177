//go:build linux

package sandbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// keptByRoot are the capabilities over files that root needs. The mounts limit their effect.
var keptByRoot = []int{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID}

// Restrict removes capabilities, new privileges and system calls from the calling thread, which
// must be locked, and from all its descendants. Without it, they could undo the rest. It must
// follow [Rules.Enter].
func (r Rules) Restrict() error {
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"give up new privileges", func() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }},
		{"give up capabilities", r.dropCapabilities},
		{"restrict files by Landlock", r.landlock},
		{"restrict system calls", r.filterCalls},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("cannot %s: %w", step.name, err)
		}
	}
	return nil
}

// dropCapabilities drops all capabilities of plain users, also in programs that would add some. A plain user without
// a user namespace may not limit programs, which cannot add any without new privileges.
func (r Rules) dropCapabilities() error {
	var kept uint64
	if os.Geteuid() == 0 {
		for _, c := range keptByRoot {
			kept |= 1 << c
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	for c := range uintptr(64) {
		if kept&(1<<c) != 0 {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err == unix.EINVAL {
			break // the kernel has no more capabilities
		} else if r.Bare && err == unix.EPERM {
			break
		} else if err != nil {
			return err
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := [2]unix.CapUserData{half(kept), half(kept >> 32)}
	return unix.Capset(&header, &data[0])
}

// half returns 32 capabilities as effective and permitted, and none as inheritable.
func half(set uint64) unix.CapUserData {
	return unix.CapUserData{Effective: uint32(set), Permitted: uint32(set)}
}
