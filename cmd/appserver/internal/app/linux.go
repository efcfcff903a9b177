//go:build linux

package app

import (
	"context"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// keepSecrets closes this process's environment, which holds keys of providers, and
// its memory to other processes of the same user, the agent's commands among them.
// Processes of root are not kept out.
func keepSecrets() {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // fails on no kernel that knows it
}

// pipeBytes is how much may wait in the pipe to the client, the most that Linux grants to
// anyone who asks. In its 64 KiB a list of megabytes changes hands fifty times.
const pipeBytes = 1 << 20

// widen makes room in a pipe. What is no pipe, or may not have it, stays as it is.
func widen(out io.Writer) {
	pipe, ok := out.(*os.File)
	if !ok {
		return
	}
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { // fails on a closed file only, which the first answer tells of
		if has, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0); err == nil && has < pipeBytes {
			_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeBytes)
		}
	})
}

// awaitExit is true when the process has ended, false when ctx has.
func awaitExit(ctx context.Context, pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return pollParent(ctx, pid)
	}
	defer unix.Close(fd)
	for ctx.Err() == nil {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 500)
		if err == nil && n > 0 || os.Getppid() != pid {
			return true
		}
	}
	return false
}
