//go:build !linux

package app

import (
	"context"
	"io"
)

// protectMemory does nothing: no commands of the agent run on this system.
func protectMemory() {}

// growPipe does nothing: the size of pipes is fixed or managed by the kernel.
func growPipe(io.Writer) {}

// awaitExit waits until the process exits or ctx is done. It returns true if the process exited.
func awaitExit(ctx context.Context, pid int) bool { return pollParent(ctx, pid) }
