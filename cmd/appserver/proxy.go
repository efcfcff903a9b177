package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"

	"appserver/server/listen"
)

// proxy copies bytes between standard input and output and a server's socket, until the server ends
// the connection. Clients that reach this machine by ssh use it to speak WebSocket.
func proxy(args []string, s streams, o *options) error {
	flags := flag.NewFlagSet("proxy", flag.ContinueOnError)
	flags.SetOutput(s.err)
	o.defineConfig(flags)
	path := flags.String("sock", "", "the `PATH` of the socket (default: that of --listen unix://)")
	if err := flags.Parse(args); err != nil {
		return usage(err)
	}
	if flags.NArg() > 0 {
		return usageError{fmt.Errorf("unexpected argument %q", flags.Arg(0))}
	}
	home, err := codexHome()
	if err != nil {
		return err
	}
	address, err := listen.Parse("unix://"+*path, home)
	if err != nil {
		return usageError{err}
	}
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: address.Path, Net: "unix"})
	if err != nil {
		return fmt.Errorf("no server answers at %s (appserver --listen unix://PATH starts one): %w", address.Path, err)
	}
	defer c.Close()
	return splice(c, s)
}

// splice ends with the server's side; the end of the input is passed on.
func splice(c *net.UnixConn, s streams) error {
	sent := make(chan error, 1)
	go func() {
		_, err := io.Copy(c, s.in)
		sent <- errors.Join(err, c.CloseWrite())
	}()
	_, err := io.Copy(s.out, c)
	select {
	case e := <-sent:
		err = errors.Join(err, e)
	default: // the input may never end
	}
	return err
}
