package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"appserver/platform/disk"
	"appserver/platform/httpclient"
	"appserver/platform/osfile"
)

const (
	// recordSuffix ends the names of the files that name running pages.
	recordSuffix = ".page"
	// ticketSuffix ends the names of ticket files. Browsers need it.
	ticketSuffix = ".html"
	// requestTimeout limits a request to a running page.
	requestTimeout = 2 * time.Second
)

// record is the file by which commands of the same user find a running page. Its content is the
// address. A killed server leaves it behind.
type record struct {
	home    string
	address netip.AddrPort
}

// dir returns the folder of the files of all pages in a home.
func dir(home string) string { return filepath.Join(home, "appserver-web") }

// name returns a part of file names for the address, without the characters of IPv6.
func (r record) name() string {
	return filepath.Join(dir(r.home), strings.NewReplacer("[", "", "]", "", ":", "_").Replace(r.address.String()))
}

func (r record) path() string       { return r.name() + recordSuffix }
func (r record) ticketFile() string { return r.name() + ticketSuffix }
func (r record) url() string        { return "http://" + newGuard(r.address).own }

func (r record) write() error {
	if err := os.MkdirAll(dir(r.home), disk.DirMode); err != nil {
		return err
	}
	_ = os.Remove(r.ticketFile()) // of a killed server at the same address
	return disk.Replace(disk.OS(), r.path(), []byte(r.address.String()+"\n"))
}

// remove removes the files of a dead server.
func (r record) remove() {
	_ = os.Remove(r.ticketFile())
	_ = os.Remove(r.path())
}

// RequestTickets asks the running pages of a home for ticket files: the page at an address, those of an IP address at
// any port if it has Fallback, or all pages if the address is the zero value. It removes the records of dead servers.
func RequestTickets(ctx context.Context, home string, at Address, use Use) ([]Ticket, error) {
	all, err := records(home)
	if err != nil {
		return nil, err
	}
	var tickets []Ticket
	for _, r := range all {
		other := at.Addr() != r.address.Addr() || !at.Fallback && at.Port() != r.address.Port()
		if at.IsValid() && other {
			continue
		}
		switch err := r.requestTicket(ctx, use); {
		case err == nil:
			tickets = append(tickets, Ticket{r.url(), r.ticketFile()})
		case !mayLive(err):
			r.remove()
		}
	}
	return tickets, nil
}

// mayLive reports whether a server that gave no ticket may be alive: it is busy or has a full disk, or this process
// could not connect for another reason than that nothing listens.
func mayLive(err error) bool {
	var dialed *net.OpError
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errNoTicket) ||
		errors.As(err, &dialed) && !osfile.Is(err, syscall.ECONNREFUSED)
}

// Addresses returns the addresses of the pages of a home, some of which may be those of dead servers. It asks none.
func Addresses(home string) (list []netip.AddrPort, err error) {
	all, err := records(home)
	for _, r := range all {
		list = append(list, r.address)
	}
	return list, err
}

// records returns the files that name running pages.
func records(home string) (list []record, err error) {
	paths, err := filepath.Glob(filepath.Join(escapeGlob(dir(home)), "*"+recordSuffix))
	if err != nil {
		return nil, fmt.Errorf("cannot search for running pages: %w", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // its server has just ended
		}
		address, err := ParseAddress(strings.TrimSpace(string(text)))
		if r := (record{home, address.AddrPort}); err == nil && !address.Fallback && r.path() == path {
			list = append(list, r)
		}
	}
	return list, nil
}

// escapeGlob quotes the special characters of a pattern.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// errNoTicket means that a page is there and cannot write a ticket, for example because the disk is full.
var errNoTicket = errors.New("the page cannot write a ticket")

// requestTicket asks the page to write a new ticket file.
func (r record) requestTicket(ctx context.Context, use Use) error {
	_ = os.Remove(r.ticketFile()) // so that an old file is not taken for the new one
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	url := r.url() + "/ticket"
	if use == ForPerson {
		url += "?" + printedQuery
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return err
	}
	response, err := httpclient.Direct(nil, nil).RoundTrip(request) // follows no redirect
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if response.StatusCode == http.StatusInternalServerError {
		return errNoTicket
	}
	if response.StatusCode != http.StatusNoContent {
		return fmt.Errorf("%s has no page: %s", r.url(), response.Status)
	}
	_, err = os.Lstat(r.ticketFile())
	return err
}
