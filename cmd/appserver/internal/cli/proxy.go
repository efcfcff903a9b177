package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cmdline"
	"appserver/server/listen"
)

// proxy copies bytes between standard input and output and the socket of a server, until the server
// closes the connection. Clients use it over ssh to connect by WebSocket.
func (c commands) proxy() cmdline.Command {
	return cmdline.Command{Name: "proxy", Doc: "connect standard input and output to the Unix socket of a server",
		Group: groupProtocol, Define: func(flags *flag.FlagSet) cmdline.Run {
			c.options.DefineConfig(flags)
			path := flags.String("sock", "", "connect to the socket at `PATH` (default: the socket of --listen unix://)")
			return func([]string) error { return c.connect(*path) }
		}}
}

func (c commands) connect(path string) error {
	home, err := app.CodexHome()
	if err != nil {
		return err
	}
	address, err := listen.Parse("unix://"+path, home)
	if err != nil {
		return app.UsageError{Err: err}
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: address.Path, Net: "unix"})
	if err != nil {
		return fmt.Errorf("cannot connect to %s: %w; start a server with appserver --listen unix://PATH", address.Path, err)
	}
	defer conn.Close()
	return splice(conn, c.Streams)
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
