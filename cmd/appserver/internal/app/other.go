//go:build !linux

package app

import (
	"context"
	"io"
)

// protectMemory does nothing: macOS itself denies access to the memory of a process to programs without a
// right to debug. It does not hide the environment.
func protectMemory() error { return nil }

// growPipe does nothing: the size of pipes is fixed or managed by the kernel.
func growPipe(io.Writer) {}

// outputClosed returns nil: the next write notices that the output is closed.
func outputClosed(context.Context, io.Writer) <-chan struct{} { return nil }

// awaitExit waits until the process exits or ctx is done. It returns true if the process exited.
func awaitExit(ctx context.Context, pid int) bool { return pollParent(ctx, pid) }
