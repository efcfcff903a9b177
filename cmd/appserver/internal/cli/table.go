package cli

import (
	"errors"
	"flag"
	"path/filepath"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cmdline"
	"appserver/schema"
)

// The headings of the help, in its order.
const (
	groupStart    = "Start here"
	groupThreads  = "Stored conversations"
	groupSetUp    = "Set up"
	groupHelp     = "Help"
	groupProtocol = "For clients and programs"
)

// codexName is the name of the reference implementation's program.
const codexName = "codex"

// commands makes the table for one command line. Its rows keep the streams and the options.
type commands struct {
	app.Streams
	options *app.Options
}

// Run runs a command line, whose first word is the name of the program, and returns the exit status.
func Run(args []string, s app.Streams) int {
	o := app.DefaultOptions()
	o.Codex = filepath.Base(args[0]) == codexName
	program := Program(s, o)
	err := program.Run(args[1:])
	if err != nil {
		err = plainError{err}
	}
	return program.Report(err, s.Err)
}

// Program returns the table of commands.
func Program(s app.Streams, o *app.Options) *cmdline.Program {
	c := commands{s, o}
	p := &cmdline.Program{Out: s.Out, Shared: o.DefineShared,
		Groups: []string{groupStart, groupThreads, groupSetUp, groupHelp, groupProtocol},
		Version: func() (cmdline.Run, bool) {
			return func([]string) error { return c.printVersion(false) }, o.ShowVersion
		}}
	p.Root = cmdline.Command{Name: "appserver", Text: rootText, Define: c.serveRoot, Prepare: app.WithWebAddress}
	p.Root.Commands = []cmdline.Command{
		c.login(), c.models(), c.web(), c.context(), c.doctor(), c.thread(), c.rollout(), c.store(), c.mcp(), c.logout(),
		p.HelpCommand(groupHelp), c.version(), p.CompletionCommand(groupHelp), p.ManualCommand(groupHelp, manualPage),
		c.appServer(), c.proxy(), c.generateSchema(), c.generateTS(), p.CompleteCommand(),
	}
	o.Waiting = func() { greet(s, p) }
	return p
}

const rootText = `Without a command, appserver serves a client on standard input and output, or clients on a socket (--listen).`

// serveRoot serves clients, but not under the name of the reference implementation, whose command without arguments is
// a user interface.
func (c commands) serveRoot(flags *flag.FlagSet) cmdline.Run {
	c.options.DefineServer(flags)
	return func([]string) error {
		if c.options.Codex {
			return app.UsageError{Err: errors.New("this codex is appserver, which has no user interface: run codex app-server")}
		}
		return app.Serve(c.Streams, c.options)
	}
}

// appServer serves clients. The reference implementation has some commands below this one.
func (c commands) appServer() cmdline.Command {
	nested := []cmdline.Command{c.generateSchema(), c.generateTS(), c.proxy()}
	for i := range nested {
		nested[i].Hidden = true
	}
	return cmdline.Command{Name: "app-server", Group: groupProtocol, Commands: nested, Prepare: app.WithWebAddress,
		Doc:  "serve a client on standard input and output, or clients on a socket (the default)",
		Text: "The commands generate-json-schema, generate-ts and proxy can also follow this one.",
		Define: func(flags *flag.FlagSet) cmdline.Run {
			c.options.DefineServer(flags)
			return func([]string) error { return app.Serve(c.Streams, c.options) }
		}}
}

func (c commands) generateSchema() cmdline.Command {
	return generator("generate-json-schema", "write the JSON Schema of the protocol", schema.WriteJSON)
}

func (c commands) generateTS() cmdline.Command {
	return generator("generate-ts", "write the TypeScript types of the protocol", schema.WriteTS)
}

func generator(name, doc string, write func(dir string) error) cmdline.Command {
	return cmdline.Command{Name: name, Doc: doc, Group: groupProtocol, Define: func(flags *flag.FlagSet) cmdline.Run {
		dir := flags.String("out", "", "write the files to `DIR`, which must be given")
		flags.Bool("experimental", true, "accepted and ignored: the output always includes experimental methods")
		return func([]string) error {
			if *dir == "" {
				return app.UsageError{Err: errors.New("--out DIR is missing")}
			}
			return write(*dir)
		}
	}}
}
