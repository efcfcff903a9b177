package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"appserver/server"
	"appserver/server/listen"
	"appserver/server/web"
	assets "appserver/web"
)

// CheckPageOnly rejects flags that select another transport than the page.
func (o *Options) CheckPageOnly() error {
	if !o.transport.isStdio() || o.transport.web != "" {
		return UsageError{Err: errors.New("appserver web serves the page only: use appserver --listen URL --web IP:PORT for both")}
	}
	return nil
}

// ServePage does the same as Serve, with the page as the only transport. It calls opened when the
// port is open, before the first request.
func ServePage(s Streams, o *Options, at web.Address, opened func(*web.Page) error) error {
	o.transport.web, o.transport.pageOnly = at.String(), true
	return serve(s, o, opened)
}

// openPage opens the port of the page.
func (t *transport) openPage(srv *server.Server, home string) (*web.Page, error) {
	at, err := web.ParseAddress(t.web)
	if err != nil {
		return nil, UsageError{Err: err}
	}
	return web.New(web.Options{Home: home, Address: at, Assets: assets.Assets(), Intake: t.intake,
		Serve: func(ctx context.Context, c *listen.Client) error { return srv.ServeTransport(ctx, c) }})
}

// announcePage prints the address of a page beside another transport.
func announcePage(to io.Writer, p *web.Page) {
	fmt.Fprintf(to, "appserver web\n  page: %s\n  open it: appserver web\n", p.URL())
	if note := p.FallbackNote(); note != "" {
		fmt.Fprintf(to, "  %s\n", note)
	}
}

// WithWebAddress adds the default address to the flag --web if it has no value: at the end of the arguments, before
// another flag, and before a command, whose name has neither a digit, a dot nor a colon.
func WithWebAddress(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if (arg == "--web" || arg == "-web") && !startsWithValue(args[i+1:]) {
			args[i] += "=" + web.DefaultAddress().String()
		}
	}
	return args
}

func startsWithValue(args []string) bool {
	return len(args) > 0 && (args[0] == "" || args[0][0] != '-' && strings.ContainsAny(args[0], "0123456789.:"))
}
