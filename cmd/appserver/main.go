// Command appserver speaks the Codex app-server protocol on standard input and output, runs a coding
// agent, and keeps each conversation as a rollout file.
//
// With --listen it serves any number of clients on a socket instead. Under the name codex it accepts the
// command lines by which clients start the reference implementation.
//
// While it serves, standard output carries protocol messages only. Logs go to standard error. The exit
// status is 0 if the input ended or a signal stopped the server, 1 if the server cannot start, and 2 if
// the command line is wrong.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cli"
	"appserver/core/effects/tool"
	"appserver/schema"
)

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case app.SuperviseCommand:
			os.Exit(tool.Supervise(os.Args[2:]))
		case app.ConfineCommand:
			os.Exit(tool.Confine(os.Args[2:]))
		}
	}
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}

func commands() []subcommand {
	return []subcommand{
		{"app-server", "serve a client on standard input and output, or clients on a socket (the default)", serve},
		{"proxy", "connect standard input and output to the Unix socket of a server: --sock PATH", cli.Proxy},
		{"login", "check whether the model provider has its key: login status", cli.Login},
		{"context", "show and edit the context of a stored thread", cli.Context},
		{"models", "list the models of a provider and of servers on this machine; models test checks one", cli.Models},
		{"mcp", "list, add and remove MCP servers; log in at them", cli.MCP},
		{"rollout", "verify, repair and redact the files of threads; archive or delete old threads", cli.Rollout},
		{"generate-json-schema", "write the JSON Schema of the protocol to --out DIR", generate("generate-json-schema", schema.WriteJSON)},
		{"generate-ts", "write the TypeScript types of the protocol to --out DIR", generate("generate-ts", schema.WriteTS)},
		{"store", "copy threads between files and a database; redact those of the database", cli.Store},
		{"thread", "export and import stored threads", cli.Thread},
		{"web", "open the workbench, a page for browsers: of a running server, or of a new one", cli.Web},
		{"version", "print the version; with --json, the commit and the Go version as well", printVersion},
	}
}

// codexName is the name of the reference implementation's program.
const codexName = "codex"

// run runs the program and returns its exit status. args[0] is the name of the program.
func run(args []string, in io.Reader, out, errs io.Writer) int {
	s := app.Streams{In: in, Out: out, Err: errs}
	o := app.DefaultOptions()
	o.Usage = printUsage
	o.Codex = filepath.Base(args[0]) == codexName
	err := dispatch(args[1:], s, o)
	var usage app.UsageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &usage):
		var of commandError
		name := "appserver"
		if errors.As(err, &of) {
			name += " " + of.command
		}
		fmt.Fprintf(errs, "appserver: %v\nRun %s --help for usage.\n", err, name)
		return 2
	}
	fmt.Fprintf(errs, "appserver: %v\n", err)
	return 1
}

// dispatch runs the command. Options are accepted before and after its name.
func dispatch(args []string, s app.Streams, o *app.Options) error {
	rest, err := o.Parse(args, s.Err)
	if err != nil {
		return err
	}
	if o.ShowVersion {
		return printVersion(nil, s, o)
	}
	if len(rest) > 0 {
		return runCommand(rest, s, o)
	}
	if o.Codex {
		return app.UsageError{Err: errors.New("this codex is appserver, which has no user interface: run codex app-server")}
	}
	return serve(nil, s, o)
}

func generate(name string, write func(dir string) error) func([]string, app.Streams, *app.Options) error {
	return func(args []string, s app.Streams, _ *app.Options) error {
		flags := flag.NewFlagSet(name, flag.ContinueOnError)
		dir := flags.String("out", "", "write the files to `DIR`")
		flags.Bool("experimental", true, "accepted and ignored: the output always includes experimental methods")
		if err := app.ParseFlags(flags, args, s, name+" --out DIR"); err != nil {
			return err
		}
		if *dir == "" {
			return app.UsageError{Err: errors.New("--out DIR is missing")}
		}
		return write(*dir)
	}
}

// serve serves clients, or runs a subcommand of the reference implementation's app-server.
func serve(args []string, s app.Streams, o *app.Options) error {
	rest, err := o.Parse(args, s.Err)
	if err != nil {
		return err
	}
	if o.ShowVersion {
		return printVersion(nil, s, o)
	}
	if len(rest) == 0 {
		return app.Serve(s, o)
	}
	switch rest[0] {
	case "generate-json-schema", "generate-ts", "proxy":
		return runCommand(rest, s, o)
	}
	return app.UsageError{Err: fmt.Errorf("unexpected argument %q", rest[0])}
}
