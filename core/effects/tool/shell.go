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

// The times of the phases of an end; their sum is part of the package's contract.
const (
	// drainTime is the time for processes that outlive the leader.
	drainTime = 100 * time.Millisecond
	// superviseTime is the time for a supervisor to end a command, in addition to the grace.
	superviseTime = 400 * time.Millisecond
	// killTime is the time for processes to end after SIGKILL.
	killTime = time.Second
	// pumpTime is the time to pass on the rest of the output after a cancellation.
	pumpTime = 300 * time.Millisecond
)

// Shell runs commands. It keeps no state between runs, and any number can run at a time.
type Shell struct {
	// Env is the base of the environments of commands (see [BaseEnv]); the policy of each command
	// applies to it. Run adds PWD and its mark.
	Env []string
	// Hidden returns names of further variables that no command gets, at the time. It may be nil.
	Hidden func() []string
	// Secrets returns the names of the variables of Env that seem to have secrets. It may be nil.
	Secrets func() []string
	// Supervisor is the argument vector of a program that calls [Supervise] with the arguments that
	// follow. If it is empty, commands are started directly, and on Windows killed without notice.
	Supervisor []string
	// Confiner is the argument vector of a program that calls [Confine] with the arguments that
	// follow. If it is empty, no sandbox policy is enforced.
	Confiner []string
	// Home is the server's own folder, which confined commands cannot access.
	Home string
	// OutputLimit bounds the output in a result, in bytes, without the marker for omitted text; 0
	// means 40,000.
	OutputLimit int
	// WireLimit bounds the output that is passed on, in bytes; 0 means 32 MiB.
	WireLimit int
	// KillGrace is the time between SIGTERM and SIGKILL, on Windows between CTRL_BREAK and the end of the
	// job; 0 means 200 ms.
	KillGrace time.Duration
}

// env returns the base of the environment of a command that is started now.
func (s *Shell) env() []string {
	if s.Hidden == nil {
		return s.Env
	}
	return BaseEnv(s.Env, s.Hidden()...)
}

func (s *Shell) secrets() []string {
	if s.Secrets == nil {
		return nil
	}
	return s.Secrets()
}
