//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	// maxProcesses is how many processes and threads a command may have at a time.
	maxProcesses = 4096
	// reservedPids are numbers that the kernel does not give a second time.
	reservedPids = 300
)

// limitProcesses bounds the processes of plain users by a resource limit, which
// root is exempt from, and those of everybody by the numbers that the namespace has.
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

// ownPidMax tells whether pid_max is one of the process namespace, as it is since
// Linux 6.14. Before, writing it would change the whole machine's.
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
