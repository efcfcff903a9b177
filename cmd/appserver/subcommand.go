package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// version is the version of this program. Clients receive protocol.Level as well.
const version = "0.1.0"

// superviseCommand starts the process as the supervisor of a command of the agent. It is not
// listed in the usage.
const superviseCommand = "supervise-command"

// confineCommand starts the process as a supervisor that also confines the command to a sandbox
// policy. It is not listed in the usage.
const confineCommand = "confine-command"

// streams are the standard streams of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// subcommand is a command of this program.
type subcommand struct {
	name, doc string
	run       func(args []string, s streams, o *options) error
}

// usageError is an error of the command line. The program exits with status 2.
type usageError struct{ error }

// command runs the subcommand that the first argument names.
func (o *options) command(args []string, s streams) error {
	for _, c := range o.commands {
		if c.name == args[0] {
			return c.run(args[1:], s, o)
		}
	}
	return usageError{fmt.Errorf("there is no command %q", args[0])}
}

// usage returns an error of a flag set as a usageError. A request for help is no error of the
// command line.
func usage(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	return usageError{err}
}

func printUsage(w io.Writer, flags *flag.FlagSet, commands []subcommand) {
	fmt.Fprint(w, "Usage: appserver [flags] [command] [flags]\n\nCommands:\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-22s %s\n", c.name, c.doc)
	}
	fmt.Fprint(w, "\nFlags:\n")
	flags.SetOutput(w)
	flags.PrintDefaults()
}
