package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/netip"
	"os"
	"syscall"

	"appserver/platform/disk"
	"appserver/platform/osfile"
	"appserver/server/listen"
)

// Options configures a Page.
type Options struct {
	// Home is the home of the server. Ticket files are below it.
	Home string
	// Address is a loopback address. Port number 0 selects a free port.
	Address netip.AddrPort
	// Assets has index.html and the other files of the page.
	Assets fs.FS
	// Serve runs the connection of one client.
	Serve func(context.Context, *listen.Client) error
	// Intake is as in listen.Options.
	Intake *listen.Intake
}

// Page serves the workbench. New binds the port; Serve serves the requests.
type Page struct {
	listener *listen.Listener
	assets   map[string]*asset
	guard    guard
	token    string
	check    listen.TokenCheck
	tickets  *tickets
	record   record
}

// ParseAddress parses IP:PORT. The address must be a loopback address.
func ParseAddress(text string) (netip.AddrPort, error) {
	at, err := netip.ParseAddrPort(text)
	switch {
	case err != nil || at.Addr().Zone() != "":
		return at, fmt.Errorf("invalid address %q of the page; expected IP:PORT, for example 127.0.0.1:4500", text)
	case !at.Addr().IsLoopback():
		return at, fmt.Errorf(
			"refusing to serve the page on %s: other machines can reach it; use 127.0.0.1:PORT and an SSH tunnel", at)
	}
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port()), nil
}

// New binds the port and records the page in the home.
func New(o Options) (*Page, error) {
	assets, err := loadAssets(o.Assets)
	if err != nil {
		return nil, err
	}
	token := rand.Text()
	p := &Page{assets: assets, token: token, check: listen.StaticToken([]byte(token))}
	p.listener, err = listen.New(listen.Options{
		Address: listen.Address{Port: o.Address}, Admit: p.admit, Serve: o.Serve, Intake: o.Intake})
	if osfile.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%s is used by another program: choose another port, or port 0 for a free one", o.Address)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot serve the page: %w", err)
	}
	at, err := netip.ParseAddrPort(p.listener.Addr().String())
	if err == nil {
		p.guard = newGuard(at)
		p.record = record{home: o.Home, address: at}
		p.tickets = &tickets{file: p.record.ticketFile()}
		err = p.record.write()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot serve the page: %w", err), p.listener.Stop())
	}
	return p, nil
}

// URL returns the address of the page.
func (p *Page) URL() string { return p.record.url() }

// Serve serves requests until Stop. It returns nil after Stop.
func (p *Page) Serve() error { return p.listener.Serve() }

// Stop stops accepting requests and removes the files of the page from the home. Clients stay
// connected.
func (p *Page) Stop() error {
	p.tickets.end()
	err := os.Remove(p.record.path())
	if disk.IsNotExist(err) {
		err = nil
	}
	return errors.Join(err, p.listener.Stop())
}

// Wait waits until all clients have disconnected, or until ctx ends.
func (p *Page) Wait(ctx context.Context) error { return p.listener.Wait(ctx) }

// NewTicket writes a ticket file and returns its path. It ends the ticket before.
func (p *Page) NewTicket() (file string, err error) {
	if err := p.tickets.issue(p.URL()); err != nil {
		return "", fmt.Errorf("cannot write the ticket of the page: %w", err)
	}
	return p.tickets.file, nil
}

// admit answers all requests except those of clients with the token.
func (p *Page) admit(w http.ResponseWriter, r *http.Request) (subprotocol string, ok bool) {
	p.guard.setHeaders(w.Header(), r.Host)
	if status, err := p.guard.check(r); err != nil {
		http.Error(w, err.Error(), status)
		return "", false
	}
	switch r.URL.Path {
	case "/ws":
		return p.admitClient(w, r)
	case "/session":
		if allow(w, r, http.MethodPost, http.MethodGet) {
			p.serveSession(w, r)
		}
	case "/ticket":
		if allow(w, r, http.MethodPost) {
			p.serveTicket(w)
		}
	default:
		file := p.assets[r.URL.Path]
		if file == nil {
			http.Error(w, "not found", http.StatusNotFound)
		} else if allow(w, r, http.MethodGet, http.MethodHead) {
			file.serve(w, r)
		}
	}
	return "", false
}
