package tool

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"appserver/core"
)

// ErrNoInput is the error of a write to a command without an open input.
var ErrNoInput = errors.New("its input was not opened")

// ErrNoTerminal is the error of a resize of a command without a terminal.
var ErrNoTerminal = errors.New("process is not attached to a PTY")

// Exec is a command that a client runs and communicates with.
type Exec struct {
	core.Command
	// Env are variables to set, or to remove if nil. They override the policy.
	Env map[string]*string
	// Input is set if the client writes to the command; otherwise its input is empty. A terminal
	// always has an input.
	Input bool
	// Size is the size of the terminal.
	Size Size
	// Output gets the output unchanged, each stream from one goroutine. It may block, and the command
	// with it. The output of a terminal is never stderr.
	Output func(stderr bool, piece []byte)
}

// Size is the size of a terminal, in characters; zero is the default.
type Size struct{ Rows, Cols uint16 }

// The default size of terminals. It matters only if a client shows them.
const (
	defaultRows = 24
	defaultCols = 80
)

// Exit is the end of a command. If the command did not start or was lost, Failure is the reason and
// there is no code.
type Exit struct {
	Code     int
	TimedOut bool
	Failure  string
}

// Exit codes that shells use for an end without an exit code.
const (
	codeTimedOut = 124
	codeSignal   = 128
)

// environment returns the policy's environment with the variables of the client. It has no
// plainOutput, because the terminals of clients are real.
func (e *Exec) environment(base, secrets []string) []string {
	env := policyEnv(base, secrets, e.Environment)
	if e.TTY {
		env = append(env, "TERM=xterm-256color")
	} else {
		env = append(env, plainOutput...)
	}
	own := slices.Sorted(maps.Keys(e.Env))
	env = slices.DeleteFunc(env, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return named(own, name)
	})
	for _, name := range own {
		if value := e.Env[name]; value != nil {
			env = append(env, name+"="+*value)
		}
	}
	return env
}
