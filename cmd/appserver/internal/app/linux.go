//go:build linux

package app

import (
	"context"
	"io"
	"os"
	"time"

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

// awaitExit waits until the parent process pid exits or ctx is done. It returns true if the process exited.
//
// The poller of the runtime waits. A blocked system call would occupy a processor of the runtime until the runtime
// notices, and wake up twice a second to look at ctx.
func awaitExit(ctx context.Context, pid int) bool {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return pollParent(ctx, pid)
	}
	process := os.NewFile(uintptr(fd), "pidfd")
	defer process.Close()
	defer context.AfterFunc(ctx, func() { _ = process.SetReadDeadline(time.Unix(1, 0)) })()
	err = awaitReadable(process, func(fd uintptr) bool {
		n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || os.Getppid() != pid // before PidfdOpen, another process may have got the pid
	})
	if err != nil && ctx.Err() == nil {
		return pollParent(ctx, pid)
	}
	return err == nil
}

// awaitReadable waits until ready returns true. It calls ready at first, and when the file becomes readable.
func awaitReadable(file *os.File, ready func(fd uintptr) bool) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(ready)
}
