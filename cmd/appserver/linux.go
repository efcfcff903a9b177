//go:build linux

package main

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// keepSecrets closes this process's environment, which holds keys of providers, and
// its memory to other processes of the same user, the agent's commands among them.
// Processes of root are not kept out.
func keepSecrets() {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // fails on no kernel that knows it
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
