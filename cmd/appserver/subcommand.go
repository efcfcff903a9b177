package main

import (
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

// runCommand runs the subcommand that the first argument names.
func runCommand(args []string, s app.Streams, o *app.Options) error {
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(args[1:], s, o)
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
