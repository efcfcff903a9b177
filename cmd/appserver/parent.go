package main

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// parentExit is closed when the process that started this one has ended. A
// goroutine waits for it; it ends with ctx.
//
// The parent's death signal (PR_SET_PDEATHSIG) would not do: it comes when the
// thread that forked ends, and clients fork from threads of pools.
func parentExit(ctx context.Context) <-chan struct{} {
	gone := make(chan struct{})
	parent := os.Getppid()
	go func() {
		if awaitExit(ctx, parent) {
			close(gone)
		}
	}()
	return gone
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

// pollParent serves kernels without pidfds.
func pollParent(ctx context.Context, pid int) bool {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if os.Getppid() != pid {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
}
