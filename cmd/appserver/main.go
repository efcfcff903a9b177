// Command appserver speaks the Codex app-server protocol on standard input and
// output, runs a coding agent, and keeps each conversation as a rollout file.
//
// With --listen it serves any number of clients on a socket instead. Under the name codex it
// takes the command lines that clients of the reference implementation begin it with.
//
// While it serves, standard output carries protocol messages only; logs go to standard
// error. It exits 0 when its input ends or it is told to stop, 1 when it cannot start,
// and 2 when it is called wrongly.
//
// # Goroutines
//
// The main goroutine waits for a reason to end, and then ends the server in order.
// One serves the connection, or accepts connections, and ends when they are drained, or not
// accepted any more; one waits for signals, one for the end of the parent process, and both
// end with the main goroutine. At the end one closes the memory. The command proxy has one for
// each direction.
//
// # Decisions
//
// Shutdown takes at most 2.5 seconds. Only a client that does not read, an effect that ignores
// its cancellation, or a rewrite of some hundred megabytes comes near that. A rewrite that is
// cut off leaves its files as they were.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"appserver/core/tool"
	"appserver/schema"
)

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case superviseCommand:
			os.Exit(tool.Supervise(os.Args[2:]))
		case confineCommand:
			os.Exit(tool.Confine(os.Args[2:]))
		}
	}
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}

func commands() []subcommand {
	return []subcommand{
		{"app-server", "serve a client on standard input and output (the default)", serve},
		{"proxy", "join standard input and output to a server's Unix socket: --sock PATH", proxy},
		{"login", "status: whether the model provider has its key", login},
		{"context", "show and edit what the model is sent of a stored thread", contextCommand},
		{"rollout", "look for damage and secrets in the files of threads, mend them, and let old ones go", rolloutCommand},
		{"generate-json-schema", "write the protocol's JSON Schema to --out DIR", generate(schema.WriteJSON)},
		{"generate-ts", "write the protocol's TypeScript types to --out DIR", generate(schema.WriteTS)},
		{"thread", "export stored threads as documents, and import them", threadCommand},
		{"version", "print the version; --json: and what the program was made of", printVersion},
	}
}

// codexName is the name of the reference implementation's program.
const codexName = "codex"

// run takes the name of the program first.
func run(args []string, in io.Reader, out, errs io.Writer) int {
	s := streams{in, out, errs}
	o := defaults()
	o.commands = commands()
	o.codex = filepath.Base(args[0]) == codexName
	err := dispatch(args[1:], s, o)
	var usage usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(errs, "appserver: %v\nRun appserver --help for its usage.\n", err)
		return 2
	}
	fmt.Fprintf(errs, "appserver: %v\n", err)
	return 1
}

// dispatch takes options before and after the command's name.
func dispatch(args []string, s streams, o *options) error {
	rest, err := o.parse(args, s.err)
	if err != nil {
		return err
	}
	if o.version {
		return printVersion(nil, s, o)
	}
	if len(rest) > 0 {
		return o.command(rest, s)
	}
	if o.codex {
		return usageError{errors.New("this codex is appserver, which has no user interface of its own: run codex app-server")}
	}
	return serve(nil, s, o)
}

func generate(write func(dir string) error) func([]string, streams, *options) error {
	return func(args []string, s streams, _ *options) error {
		flags := flag.NewFlagSet("generate", flag.ContinueOnError)
		flags.SetOutput(s.err)
		dir := flags.String("out", "", "the `DIR` to write to")
		flags.Bool("experimental", true, "accepted; everything that is served is written")
		if err := flags.Parse(args); err != nil {
			return usage(err)
		}
		if flags.NArg() > 0 {
			return usageError{fmt.Errorf("unexpected argument %q", flags.Arg(0))}
		}
		if *dir == "" {
			return usageError{errors.New("--out DIR is missing")}
		}
		return write(*dir)
	}
}
