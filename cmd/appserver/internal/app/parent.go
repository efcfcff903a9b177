package app

import (
	"context"
	"os"
	"time"
)

// parentExit returns a channel that is closed when the parent process exits. A goroutine waits for the
// exit; it ends with ctx.
//
// The parent-death signal (PR_SET_PDEATHSIG) cannot be used. It is sent when the thread that forked ends,
// and clients fork from threads of a pool.
func parentExit(ctx context.Context) <-chan struct{} {
	exited := make(chan struct{})
	parent := os.Getppid()
	go func() {
		if awaitExit(ctx, parent) {
			close(exited)
		}
	}()
	return exited
}

// pollParent replaces awaitExit on systems and kernels without pidfds.
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
