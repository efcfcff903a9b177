package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
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
	home string
	// address is the zero value without --listen.
	address web.Address
	noOpen  bool
	// ticket, devices and forget select another action than to open the page.
	ticket, devices bool
	forget          string
}

// web opens the workbench in a browser: the page of a running server of this home, or the page of a new
// server, which it runs.
func (c commands) web() cmdline.Command {
	return cmdline.Command{Name: "web", Group: groupStart, Define: c.defineWeb,
		Doc: "open the workbench, a page for browsers: of a running server of this home, or of a new one"}
}

func (c commands) defineWeb(flags *flag.FlagSet) cmdline.Run {
	call := &pageCall{Streams: c.Streams}
	c.options.DefineShared(flags)
	address := flags.String("listen", "", fmt.Sprintf("serve the page on `IP:PORT` (default: open the page of a running "+
		"server, or use port %d or a later one of 127.0.0.1)", web.DefaultPort))
	flags.BoolVar(&call.noOpen, "no-open", false, "print how to open the page, and open no browser")
	flags.BoolVar(&call.ticket, "ticket", false,
		"print an address that opens the page of a running server in any browser, once")
	flags.BoolVar(&call.devices, "devices", false, "list the remembered browsers, which need no ticket")
	flags.StringVar(&call.forget, "forget", "",
		"forget the remembered browser with this `NAME` or id, or all, and end its sessions")
	return func([]string) error {
		chosen := map[string]bool{}
		flags.Visit(func(f *flag.Flag) { chosen[f.Name] = true })
		if err := call.check(chosen, *address); err != nil {
			return err
		}
		if err := c.options.CheckPageOnly(); err != nil {
			return err
		}
		return call.run(c.options)
	}
}

// check rejects flags that contradict each other, and reads the address.
func (c *pageCall) check(chosen map[string]bool, address string) error {
	if chosen["forget"] && c.forget == "" {
		return app.UsageError{Err: errors.New("--forget needs a name, an id or all")}
	}
	if err := checkActions(chosen); err != nil {
		return err
	}
	if address != "" {
		at, err := web.ParseAddress(address)
		if err != nil {
			return app.UsageError{Err: fmt.Errorf("--listen: %w", err)}
		}
		c.address = at
	}
	if c.ticket && c.address.IsValid() && c.address.Port() == 0 {
		return app.UsageError{Err: errors.New("--ticket is for a running server, which has a port: name it, or leave out --listen")}
	}
	return nil
}

func (c *pageCall) run(o *app.Options) (err error) {
	c.home, err = app.CodexHome()
	switch {
	case err != nil:
		return err
	case c.devices:
		return c.listDevices()
	case c.forget != "":
		return c.forgetDevices()
	}
	var running []web.Ticket
	if !c.address.IsValid() || c.address.Port() != 0 { // port 0 asks for a new server
		if running, err = web.RequestTickets(context.Background(), c.home, c.address, c.use()); err != nil {
			return err
		}
	}
	switch {
	case len(running) > 1:
		return severalPages(running)
	case c.ticket:
		return c.printTicket(running)
	case len(running) == 1:
		return c.openRunning(running[0])
	}
	return c.serve(o)
}

// checkActions rejects flags that contradict each other.
func checkActions(chosen map[string]bool) error {
	for _, pair := range [][2]string{{"ticket", "devices"}, {"ticket", "forget"}, {"devices", "forget"}, {"ticket", "no-open"},
		{"devices", "no-open"}, {"forget", "no-open"}, {"devices", "listen"}, {"forget", "listen"}} {
		if chosen[pair[0]] && chosen[pair[1]] {
			return app.UsageError{Err: fmt.Errorf("--%s cannot be used with --%s", pair[1], pair[0])}
		}
	}
	return nil
}

// use returns the use of a ticket. One whose address is printed is for a person.
func (c *pageCall) use() web.Use {
	if c.ticket || isTerminal(c.Out) {
		return web.ForPerson
	}
	return web.ForProgram
}

// printTicket prints the address alone on standard output, for scripts too.
func (c *pageCall) printTicket(running []web.Ticket) error {
	if len(running) == 0 {
		at := "this home"
		if c.address.IsValid() {
			at += " at " + c.address.String()
		}
		return fmt.Errorf("no running server of %s has a page: start one with appserver web", at)
	}
	address, err := running[0].TakeAddress()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(c.Out, address); err != nil {
		return err
	}
	_, err = fmt.Fprint(c.Err, onceNote+"\n"+tunnelNote(running[0].URL))
	return err
}

// onceNote follows the address with a ticket.
const onceNote = "Open this address in a browser within 10 minutes. It works once: keep it to yourself."

// serve runs a new server.
func (c *pageCall) serve(o *app.Options) error {
	at := c.address
	if !at.IsValid() {
		at = web.DefaultAddress()
	}
	return app.ServePage(c.Streams, o, at, func(p *web.Page) error {
		ticket, err := p.NewTicket(c.use())
		if err != nil {
			return err
		}
		note := "The server runs until you stop it with Ctrl+C."
		if moved := p.FallbackNote(); moved != "" {
			note = moved + "\n" + note
		}
		return c.openPage(ticket, note, func(err error) {
			if err != nil {
				fmt.Fprintf(c.Err, "appserver: %v\n", err)
			}
		})
	})
}

// openRunning opens the page of a running server.
func (c *pageCall) openRunning(t web.Ticket) error {
	opened := make(chan error, 1)
	err := c.openPage(t, "The server was running already, so other flags have no effect.", func(err error) { opened <- err })
	if err != nil {
		return err
	}
	select {
	case err := <-opened:
		return err
	case <-time.After(openTime): // some programs end with the browser
		return nil
	}
}

// openPage prints how to open the page, and opens it in a browser. It calls done with the error of that.
func (c *pageCall) openPage(t web.Ticket, note string, done func(error)) error {
	text, err := c.describe(t)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(c.Out, "page: %s\n%s%s\n", t.URL, text, note); err != nil {
		return err
	}
	c.open(t.File, done)
	return nil
}

// describe returns the address with the ticket for a terminal. For other outputs, which programs may log, it returns
// the file that has it.
func (c *pageCall) describe(t web.Ticket) (string, error) {
	if !isTerminal(c.Out) {
		return fmt.Sprintf("file: %s\nOpen the file in a browser within a minute. It works once. appserver web --ticket prints an address.\n", t.File), nil
	}
	take, text := t.Address, "Your browser opens it now, which uses the address up. appserver web --ticket prints another one.\n"
	if c.noOpen {
		take, text = t.TakeAddress, onceNote+" appserver web --ticket prints another one.\n"
	}
	address, err := take()
	return fmt.Sprintf("open: %s\n%s%s", address, text, tunnelNote(t.URL)), err
}

// tunnelNote returns the command of a tunnel to the page, if the user is at another machine.
func tunnelNote(url string) string {
	if os.Getenv("SSH_CONNECTION") == "" {
		return ""
	}
	at := strings.TrimPrefix(url, "http://")
	port := at[strings.LastIndex(at, ":")+1:]
	return fmt.Sprintf("On your own machine, first run ssh -N -L %s:%s HOST. Another local port works as well: change it in the address.\n", port, at)
}

// open opens the file in a browser, and calls done with the error. A goroutine waits for the program that
// opens it; a new session keeps Ctrl+C from the browser.
func (c *pageCall) open(file string, done func(error)) {
	if c.noOpen {
		done(nil)
		return
	}
	cmd := browser(file)
	go func() {
		err := cmd.Run()
		if err != nil {
			err = fmt.Errorf("cannot open a browser (%s: %w): %s", cmd.Args[0], plainCause(err), c.byHand())
		}
		done(err)
	}()
}

// byHand returns the action of the user if no program opens the page.
func (c *pageCall) byHand() string {
	if isTerminal(c.Out) {
		return "open the address above yourself, or use --no-open"
	}
	return "open the file yourself, or use --no-open"
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
