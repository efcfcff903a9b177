package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"time"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cmdline"
	"appserver/server/web"
)

// openTime is the time in which a program that opens a browser reports its failure.
const openTime = 5 * time.Second

// pageCall is a running web command.
type pageCall struct {
	app.Streams
	// address is the zero value without --listen.
	address netip.AddrPort
	noOpen  bool
}

// web opens the workbench in a browser: the page of a running server of this home, or the page of a new
// server, which it runs.
func (c commands) web() cmdline.Command {
	return cmdline.Command{Name: "web", Group: groupStart,
		Doc: "open the workbench, a page for browsers: of a running server of this home, or of a new one",
		Define: func(flags *flag.FlagSet) cmdline.Run {
			c.options.DefineShared(flags)
			call := &pageCall{Streams: c.Streams}
			address := flags.String("listen", "",
				"serve the page on `IP:PORT` (default: open the page of a running server, or use a free port of 127.0.0.1)")
			flags.BoolVar(&call.noOpen, "no-open", false, "print the file to open, and open no browser")
			return func([]string) error {
				if err := call.check(*address, c.options); err != nil {
					return err
				}
				return call.open(c.options)
			}
		}}
}

func (c *pageCall) check(address string, o *app.Options) error {
	if address != "" {
		at, err := web.ParseAddress(address)
		if err != nil {
			return app.UsageError{Err: fmt.Errorf("--listen: %w", err)}
		}
		c.address = at
	}
	return o.CheckPageOnly()
}

// open opens the page of a running server, or of a new one.
func (c *pageCall) open(o *app.Options) error {
	home, err := app.CodexHome()
	if err != nil {
		return err
	}
	var running []web.Ticket
	if !c.address.IsValid() || c.address.Port() != 0 { // port 0 asks for a new server
		if running, err = web.RequestTickets(context.Background(), home, c.address); err != nil {
			return err
		}
	}
	switch len(running) {
	case 0:
		return c.serve(o)
	case 1:
		return c.openRunning(running[0])
	}
	return severalPages(running)
}

// serve runs a new server.
func (c *pageCall) serve(o *app.Options) error {
	at := c.address
	if !at.IsValid() {
		at = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0)
	}
	return app.ServePage(c.Streams, o, at, func(p *web.Page) error {
		file, err := p.NewTicket()
		if err != nil {
			return err
		}
		c.show(file, func(err error) {
			if err != nil {
				fmt.Fprintf(c.Err, "appserver: %v\n", err)
			}
		})
		return c.print(web.Ticket{URL: p.URL(), File: file}, "The server runs until you stop it with Ctrl+C.")
	})
}

// openRunning opens the page of a running server.
func (c *pageCall) openRunning(t web.Ticket) error {
	opened := make(chan error, 1)
	c.show(t.File, func(err error) { opened <- err })
	if err := c.print(t, "The server was running already, so other flags have no effect."); err != nil {
		return err
	}
	select {
	case err := <-opened:
		return err
	case <-time.After(openTime): // some programs end with the browser
		return nil
	}
}

// print prints the page and its file. It prints no secret, because terminals and logs keep it.
func (c *pageCall) print(t web.Ticket, note string) error {
	_, err := fmt.Fprintf(c.Out, "page: %s\nfile: %s\nOpen the file in a browser within a minute. It works once.\n%s\n",
		t.URL, t.File, note)
	return err
}

// show opens the file in a browser, and calls done with the error. A goroutine waits for the program that
// opens it; a new session keeps Ctrl+C from the browser.
func (c *pageCall) show(file string, done func(error)) {
	if c.noOpen {
		done(nil)
		return
	}
	cmd := browser(file)
	go func() {
		err := cmd.Run()
		if err != nil {
			err = fmt.Errorf("cannot open a browser (%s: %w): open the file yourself, or use --no-open", cmd.Args[0], plainCause(err))
		}
		done(err)
	}()
}

// plainCause returns the error without the name of the program.
func plainCause(err error) error {
	if e := new(exec.Error); errors.As(err, &e) {
		return e.Err
	}
	return err
}

func severalPages(running []web.Ticket) error {
	var urls []string
	for _, t := range running {
		urls = append(urls, t.URL)
	}
	return fmt.Errorf("%d servers of this home have a page: select one by --listen IP:PORT, or start another one by --listen 127.0.0.1:0:\n  %s",
		len(running), strings.Join(urls, "\n  "))
}
