//go:build !linux

package main

import "context"

// keepSecrets has nothing to do: no commands of the agent run here.
func keepSecrets() {}

// awaitExit is true when the process has ended, false when ctx has.
func awaitExit(ctx context.Context, pid int) bool { return pollParent(ctx, pid) }
