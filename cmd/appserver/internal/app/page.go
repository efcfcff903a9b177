package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"

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
func ServePage(s Streams, o *Options, at netip.AddrPort, opened func(*web.Page) error) error {
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
}
