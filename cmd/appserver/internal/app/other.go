//go:build !linux

package app

import (
	"context"
	"io"
)

// keepSecrets has nothing to do: no commands of the agent run here.
func keepSecrets() {}

// widen has nothing to do: pipes grow by themselves, or not at all.
func widen(io.Writer) {}

// awaitExit is true when the process has ended, false when ctx has.
func awaitExit(ctx context.Context, pid int) bool { return pollParent(ctx, pid) }
