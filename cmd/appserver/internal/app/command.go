package app

import (
	"errors"
	"flag"
	"fmt"
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

// ParseFlags parses the flags of a command, and rejects other arguments. If help is requested, it prints the
// synopsis and the flags.
func ParseFlags(flags *flag.FlagSet, args []string, s Streams, synopsis string) error {
	flags.SetOutput(io.Discard) // the program prints errors
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(s.Out, "Usage: appserver %s\n\nFlags:\n", synopsis)
		flags.SetOutput(s.Out)
		flags.PrintDefaults()
	}
	if err != nil {
		return FlagError(err)
	}
	if flags.NArg() > 0 {
		return UsageError{fmt.Errorf("unexpected argument %q", flags.Arg(0))}
	}
	return nil
}
