//go:build !linux

package main

import (
	"context"
	"os"
	"time"
)

// parentExit is closed when the process that started this one has ended. A
// goroutine looks for it twice a second; it ends with ctx.
func parentExit(ctx context.Context) <-chan struct{} {
	gone := make(chan struct{})
	parent := os.Getppid()
	go func() {
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if os.Getppid() != parent {
					close(gone)
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return gone
}
