package web

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/netip"
	"os"

	"appserver/platform/disk"
	"appserver/server/listen"
)

// Options configures a Page.
type Options struct {
	// Home is the home of the server. Ticket files are below it.
	Home string
	// Address is a loopback address. Port number 0 selects a free port.
	Address Address
	// Assets has index.html and the other files of the page.
	Assets fs.FS
	// Serve runs the connection of one client.
	Serve func(context.Context, *listen.Client) error
	// Intake is as in listen.Options.
	Intake *listen.Intake
}

// Page serves the workbench. New binds the port; Serve serves the requests.
type Page struct {
	listener   *listen.Listener
	assets     map[string]*asset
	guard      guard
	tickets    *tickets
	challenges *challenges
	devices    devices
	sessions   *sessions
	record     record
	wanted     Address
}

// New binds the port and records the page in the home.
func New(o Options) (*Page, error) {
	assets, err := loadAssets(o.Assets)
	if err != nil {
		return nil, err
	}
	p := &Page{assets: assets, devices: devices{o.Home}, challenges: newChallenges(), wanted: o.Address}
	p.sessions = newSessions(p.devices.revoked)
	p.listener, err = o.Address.bind(listen.Options{Admit: p.admit, Intake: o.Intake,
		Serve: func(ctx context.Context, c *listen.Client) error { return p.sessions.serve(ctx, c, o.Serve) }})
	if err != nil {
		return nil, err
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

// FallbackNote returns why the page has another address than it was started for, or "".
func (p *Page) FallbackNote() string {
	if !p.wanted.Fallback || p.record.address == p.wanted.AddrPort {
		return ""
	}
	return fmt.Sprintf("Port %d is used by another program. Browsers keep drafts and keys for each port.", p.wanted.Port())
}

// Serve serves requests until Stop. It returns nil after Stop.
func (p *Page) Serve() error { return p.listener.Serve() }

// Stop stops accepting requests and removes the files of the page from the home. Clients stay
// connected.
func (p *Page) Stop() error {
	p.tickets.end()
	p.sessions.stop()
	err := os.Remove(p.record.path())
	if disk.IsNotExist(err) {
		err = nil
	}
	return errors.Join(err, p.listener.Stop())
}

// Wait waits until all clients have disconnected, or until ctx ends.
func (p *Page) Wait(ctx context.Context) error { return p.listener.Wait(ctx) }

// NewTicket writes a ticket file. It ends the ticket before.
func (p *Page) NewTicket(use Use) (Ticket, error) {
	if err := p.tickets.issue(p.URL(), use); err != nil {
		return Ticket{}, fmt.Errorf("cannot write the ticket of the page: %w", err)
	}
	return Ticket{p.URL(), p.tickets.file}, nil
}

// admit answers all requests except those of clients with the token.
func (p *Page) admit(w http.ResponseWriter, r *http.Request) (subprotocol string, ok bool) {
	p.guard.setHeaders(w.Header(), r.Host)
	if status, err := p.guard.check(r); err != nil {
		http.Error(w, err.Error(), status)
		return "", false
	}
	if r.Header.Get("Service-Worker") != "" {
		serveRemovedWorker(w)
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
			p.serveTicket(w, r)
		}
	case "/challenge":
		if allow(w, r, http.MethodPost) {
			p.serveChallenge(w, r)
		}
	case "/devices":
		if allow(w, r, http.MethodGet, http.MethodPost, http.MethodDelete) {
			p.serveDevices(w, r)
		}
	default:
		file := p.assets[assetPath(r.URL.Path)]
		if file == nil {
			http.Error(w, "not found", http.StatusNotFound)
		} else if allow(w, r, http.MethodGet, http.MethodHead) {
			file.serve(w, r)
		}
	}
	return "", false
}
