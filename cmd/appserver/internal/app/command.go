package app

import (
	"errors"
	"flag"
	"io"
)

// Version is the version of this program. A release sets it by the linker. Clients receive protocol.Level
// as well.
var Version = "0.1.0"

const (
	// SuperviseCommand starts the process as the supervisor of a command of the agent. The usage does not
	// list it.
	SuperviseCommand = "supervise-command"
	// ConfineCommand starts the process as a supervisor that also confines the command to a sandbox
	// policy. The usage does not list it.
	ConfineCommand = "confine-command"
)

// Streams are the standard streams of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// UsageError is an error of the command line. The program exits with status 2.
type UsageError struct{ Err error }

// Error returns the message.
func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the error.
func (e UsageError) Unwrap() error { return e.Err }

// FlagError returns an error of a flag set as a UsageError. A request for help is no error of the
// command line.
func FlagError(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	return UsageError{err}
}
