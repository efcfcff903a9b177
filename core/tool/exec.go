package tool

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"appserver/core"
)

// ErrNoInput is why a command is not written to.
var ErrNoInput = errors.New("its input was not opened")

// ErrNoTerminal is why a command has no size.
var ErrNoTerminal = errors.New("process is not attached to a PTY")

// Exec is a command that a client runs, and talks to itself.
type Exec struct {
	core.Command
	// Env are variables to set, or with nil to leave out, whatever the policy says.
	Env map[string]*string
	// Input is set where it is written to; else its input is empty. A terminal always is.
	Input bool
	// Size is that of the terminal.
	Size Size
	// Output gets what it writes, as it is, each stream from one goroutine. It may block,
	// and the command with it. What a terminal shows is no error output.
	Output func(stderr bool, piece []byte)
}

// Size is that of a terminal, in characters; zero for the usual one.
type Size struct{ Rows, Cols uint16 }

// Exit is how a command ended. Failure is why it did not start, or was lost; then there is no
// code.
type Exit struct {
	Code     int
	TimedOut bool
	Failure  string
}

// What shells make of an end that has no exit code.
const (
	codeTimedOut = 124
	codeSignal   = 128
)

// environment is what the policy makes of the base, with what the client wants. Its
// terminals are real ones.
func (e *Exec) environment(base []string) []string {
	env := inheritance(base, e.Environment)
	if e.TTY {
		env = append(env, "TERM=xterm-256color")
	} else {
		env = append(env, plainOutput...)
	}
	env = slices.DeleteFunc(env, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, own := e.Env[name]
		return own
	})
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		if value := e.Env[name]; value != nil {
			env = append(env, name+"="+*value)
		}
	}
	return env
}
