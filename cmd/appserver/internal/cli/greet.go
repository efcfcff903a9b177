package cli

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cmdline"
)

// greet explains a server that waits on a terminal to the person who started it. Clients connect pipes, and get
// nothing.
func greet(s app.Streams, p *cmdline.Program) {
	if in, ok := s.In.(*os.File); !ok || !term.IsTerminal(int(in.Fd())) {
		return
	}
	var forms []string
	for _, name := range []string{"web", "exec", "login"} {
		if form, ok := p.Form(name); ok {
			forms = append(forms, form)
		}
	}
	fmt.Fprintf(s.Err, "appserver: waiting for a client on standard input, which speaks JSON-RPC. Ctrl+C ends it.\n"+
		"appserver: to use it yourself, run %s; appserver --help lists all commands.\n", strings.Join(forms, " or "))
}
