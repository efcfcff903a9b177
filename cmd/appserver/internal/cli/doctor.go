package cli

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cmdline"
	"appserver/cmd/appserver/internal/doctor"
)

// doctorTime bounds the command doctor.
const doctorTime = 9 * time.Second

// errUnwell is the error of doctor if there is a problem. The report has the reason.
var errUnwell = errors.New("there are problems: see above")

// doctor examines whether a server works here.
func (c commands) doctor() cmdline.Command {
	return cmdline.Command{Name: "doctor", Doc: "examine what works here, and how to mend what does not", Group: groupStart,
		Text: "It starts the configured MCP servers, sends one request to the provider, and changes nothing.\n" +
			"The status is 0 if nothing prevents work, and 1 otherwise.",
		Define: func(flags *flag.FlagSet) cmdline.Run {
			c.options.DefineShared(flags)
			asJSON := flags.Bool("json", false, "print the report as one JSON document")
			return func([]string) error { return c.examine(*asJSON) }
		}}
}

func screenOf(stream any) (s doctor.Screen) {
	if f, ok := stream.(*os.File); ok {
		s.Columns, s.Rows, _ = term.GetSize(int(f.Fd())) // both are 0 without a terminal
	}
	return s
}

func (c commands) examine(asJSON bool) error {
	subject, err := app.Inspect(c.options)
	if err != nil {
		return err
	}
	report := doctor.Run(context.Background(), doctor.Checks(subject, screenOf(c.Out)), doctorTime, subject.Secrets())
	if asJSON {
		err = writeJSON(c.Out, report)
	} else {
		_, err = io.WriteString(c.Out, report.Text(widthOf(c.Out)))
	}
	if err == nil && !report.OK {
		err = errUnwell
	}
	return err
}
