//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	// maxProcesses bounds the processes and threads of a command at a time.
	maxProcesses = 4096
	// reservedPids are pids that the kernel does not reuse.
	reservedPids = 300
)

// limitProcesses bounds the processes of a command. A resource limit bounds plain users, but not
// root; the number of pids in the namespace bounds both.
func limitProcesses() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &limit); err != nil {
		return err
	}
	limit.Cur, limit.Max = min(limit.Cur, maxProcesses), min(limit.Max, maxProcesses)
	if err := unix.Setrlimit(unix.RLIMIT_NPROC, &limit); err != nil {
		return err
	}
	if !ownPidMax() {
		return nil
	}
	return os.WriteFile("/proc/sys/kernel/pid_max", []byte(strconv.Itoa(maxProcesses+reservedPids)), 0)
}

// ownPidMax reports whether pid_max belongs to the process namespace, as it does since Linux 6.14.
// Before, writing it would change the whole machine.
func ownPidMax() bool {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return false
	}
	var major, minor int
	if _, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major > 6 || major == 6 && minor >= 14
}
