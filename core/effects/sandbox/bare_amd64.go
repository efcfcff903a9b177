//go:build linux

package sandbox

import "golang.org/x/sys/unix"

// olderCalls returns the calls that newer machines do not have, and that bareCalls would have.
func olderCalls() []uint32 {
	return []uint32{
		unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
	}
}
