package app

import (
	"context"
	"os"
	"time"
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

// pollParent serves systems, and kernels, without pidfds.
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
