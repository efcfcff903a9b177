package app

import (
	"io"

	"appserver/cmd/appserver/internal/cmdline"
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
type UsageError = cmdline.UsageError
