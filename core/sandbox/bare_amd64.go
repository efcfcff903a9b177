//go:build linux

package sandbox

import "golang.org/x/sys/unix"

// olderCalls are calls of bareCalls that newer machines do not have.
var olderCalls = []uint32{
	unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
}
