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
	"os"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cli"
	"appserver/core/effects/tool"
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
	os.Exit(cli.Run(os.Args, app.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
