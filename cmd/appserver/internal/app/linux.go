//go:build linux

package app

import (
	"context"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// protectMemory denies other processes of the same user access to the memory and the environment of this
// process. The environment has the keys of providers, and commands of the agent run as the same user.
// Processes of root keep access.
func protectMemory() {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // cannot fail with these arguments
}

// maxPipe is the size of the pipe to the client in bytes. It is the default limit of Linux for users without
// privileges. With the default size of 64 KiB, a list of some megabytes needs fifty turns of both
// processes.
const maxPipe = 1 << 20

// growPipe increases the size of a pipe to maxPipe. It ignores other files, and pipes that the kernel does
// not resize.
func growPipe(out io.Writer) {
	pipe, ok := out.(*os.File)
	if !ok {
		return
	}
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { // fails only on a closed file; then the first write fails as well
		if has, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0); err == nil && has < maxPipe {
			_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, maxPipe)
		}
	})
}

// awaitExit waits until the process exits or ctx is done. It returns true if the process exited.
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
