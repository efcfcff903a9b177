package remote

import (
	"context"
	"iter"
	"net"
	"net/http"
	"os"

	"github.com/coder/websocket"

	"appserver/platform/httpclient"
	"appserver/server/listen"
	"appserver/server/web"
)

// dialers returns functions that connect to the running servers of a home. It requests tickets of pages
// only if the server on the control socket is not the wanted one, because a ticket replaces the one that a
// browser may be about to use.
func dialers(ctx context.Context, home string) iter.Seq[dialer] {
	return func(yield func(dialer) bool) {
		if address, err := listen.Parse("unix://", home); err == nil {
			if _, err := os.Stat(address.Path); err == nil && !yield(dialSocket(address.Path)) {
				return
			}
		}
		for _, path := range listen.SharedPaths(home) {
			if !yield(dialSocket(path)) {
				return
			}
		}
		tickets, err := web.RequestTickets(ctx, home, web.Address{}, web.ForProgram)
		if err != nil {
			return
		}
		for _, ticket := range tickets {
			if !yield(dialPage(ticket)) {
				return
			}
		}
	}
}

type dialer func(context.Context) (*websocket.Conn, error)

func dialSocket(path string) dialer {
	return func(ctx context.Context) (*websocket.Conn, error) {
		transport := httpclient.Direct(nil, func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		})
		defer transport.CloseIdleConnections()
		conn, _, err := websocket.Dial(ctx, "ws://localhost/",
			&websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
		return conn, err
	}
}

func dialPage(ticket web.Ticket) dialer {
	return func(ctx context.Context) (*websocket.Conn, error) {
		url, protocols, err := ticket.Redeem(ctx)
		if err != nil {
			return nil, err
		}
		conn, _, err := websocket.Dial(ctx, url,
			&websocket.DialOptions{HTTPClient: &http.Client{Transport: httpclient.Direct(nil, nil)}, Subprotocols: protocols})
		return conn, err
	}
}
