package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"appserver/cmd/appserver/internal/app"
)

// subcommand is a command of this program. The usage prints doc.
type subcommand struct {
	name, doc string
	run       func(args []string, s app.Streams, o *app.Options) error
}

// commandError is a UsageError of a subcommand, whose help describes the right usage.
type commandError struct {
	error
	command string
}

// Unwrap returns the UsageError.
func (e commandError) Unwrap() error { return e.error }

// runCommand runs the subcommand that the first argument names.
func runCommand(args []string, s app.Streams, o *app.Options) error {
	if args[0] == "help" {
		_, err := o.Parse([]string{"--help"}, s.Out)
		return err
	}
	for _, c := range commands() {
		if c.name == args[0] {
			err := c.run(args[1:], s, o)
			if usage := (app.UsageError{}); errors.As(err, &usage) {
				return commandError{err, c.name}
			}
			return err
		}
	}
	return app.UsageError{Err: fmt.Errorf("unknown command %q", args[0])}
}

func printUsage(w io.Writer, flags *flag.FlagSet) {
	fmt.Fprint(w, "Usage: appserver [flags] [command] [flags]\n\nCommands:\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-22s %s\n", c.name, c.doc)
	}
	fmt.Fprint(w, "\nFlags:\n")
	flags.SetOutput(w)
	flags.PrintDefaults()
}
