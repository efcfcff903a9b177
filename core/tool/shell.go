package tool

import (
	"time"

	"appserver/core"
)

const (
	defaultOutputLimit = 40_000
	defaultWireLimit   = core.MaxOutputBytes
	defaultKillGrace   = 200 * time.Millisecond
)

// The times that an end may take; the sum is part of the package's contract.
const (
	// drainTime is what processes that outlive the leader have to finish.
	drainTime = 100 * time.Millisecond
	// superviseTime is what a supervisor has to end a command, beyond the grace.
	superviseTime = 400 * time.Millisecond
	// killTime is what everything has to die of SIGKILL.
	killTime = time.Second
	// pumpTime is what output has to take the rest after a cancellation.
	pumpTime = 300 * time.Millisecond
)

// Shell runs commands. It keeps no state between runs and may run any number at a
// time.
type Shell struct {
	// Env is what the environment of commands is made of, see [BaseEnv], by the policy of
	// each. Run adds PWD and its mark.
	Env []string
	// Supervisor is the argument vector of a program that calls [Supervise] with
	// the arguments that follow. Without it commands are started directly.
	Supervisor []string
	// Confiner is the argument vector of a program that calls [Confine] with the
	// arguments that follow. Without it no sandbox policy is enforced.
	Confiner []string
	// Confines tells whether the kernel can confine commands. Where it cannot they run
	// unconfined: who asks for them knows that, and has decided. Nil means it can.
	Confines func() bool
	// Home is the server's own folder, which confined commands are kept out of.
	Home string
	// OutputLimit is how many bytes of output a result keeps, beside the mark in
	// place of what is left out; 0 means 40,000.
	OutputLimit int
	// WireLimit is how many bytes of output are passed on; 0 means 32 MiB.
	WireLimit int
	// KillGrace is the time between SIGTERM and SIGKILL; 0 means 200 ms.
	KillGrace time.Duration
}
