package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"

	"appserver/cmd/appserver/internal/app"
	"appserver/server/listen"
)

// Proxy copies bytes between standard input and output and the socket of a server, until the server
// closes the connection. Clients use it over ssh to connect by WebSocket.
func Proxy(args []string, s app.Streams, o *app.Options) error {
	flags := flag.NewFlagSet("proxy", flag.ContinueOnError)
	o.DefineConfig(flags)
	path := flags.String("sock", "", "connect to the socket at `PATH` (default: the socket of --listen unix://)")
	if err := app.ParseFlags(flags, args, s, "proxy [flags]\n\nConnects standard input and output to the Unix socket of a server."); err != nil {
		return err
	}
	home, err := app.CodexHome()
	if err != nil {
		return err
	}
	address, err := listen.Parse("unix://"+*path, home)
	if err != nil {
		return app.UsageError{Err: err}
	}
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: address.Path, Net: "unix"})
	if err != nil {
		return fmt.Errorf("cannot connect to %s: %w; start a server with appserver --listen unix://PATH", address.Path, err)
	}
	defer c.Close()
	return splice(c, s)
}

// splice copies in both directions until the server closes its side. At the end of the input it closes
// the connection for writing.
func splice(c *net.UnixConn, s app.Streams) error {
	sent := make(chan error, 1)
	go func() {
		_, err := io.Copy(c, s.In)
		sent <- errors.Join(err, c.CloseWrite())
	}()
	_, err := io.Copy(s.Out, c)
	select {
	case e := <-sent:
		err = errors.Join(err, e)
	default: // the input may never end
	}
	return err
}
