package web

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"appserver/platform/disk"
	"appserver/server/listen"
)

// Use is the purpose of a ticket. It decides its life.
type Use int

const (
	// ForProgram is the use of a program that redeems the ticket, or opens its file, at once.
	ForProgram Use = iota
	// ForPerson is the use of a person, who may have to copy the address and to open a tunnel first.
	ForPerson
)

// Life returns the time in which a ticket must be used.
func (u Use) Life() time.Duration {
	if u == ForPerson {
		return 10 * time.Minute
	}
	return time.Minute
}

// maxWrongTickets is the number of wrong tickets that ends the right one.
const maxWrongTickets = 5

// tickets holds the current ticket of a page, if there is one.
type tickets struct {
	file string

	mu      sync.Mutex
	check   listen.TokenCheck // nil without a ticket
	expires time.Time
	wrong   int
	timer   *time.Timer
}

// issue replaces the ticket and its file. url is the address of the page.
func (t *tickets) issue(url string, use Use) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop()
	if err := os.MkdirAll(filepath.Dir(t.file), disk.DirMode); err != nil {
		return err
	}
	ticket := rand.Text()
	if err := disk.Replace(disk.OS(), t.file, ticketDocument(url, ticket)); err != nil {
		return err
	}
	t.check, t.wrong, t.expires = listen.StaticToken([]byte(ticket)), 0, time.Now().Add(use.Life())
	t.timer = time.AfterFunc(use.Life(), t.expire)
	return nil
}

// ticketMark is before the ticket in the address of the page.
const ticketMark = "/#ticket="

// ticketDocument returns a document that leads a browser to the page. It contains only a URL of
// our own making, so nothing has to be escaped.
func ticketDocument(url, ticket string) []byte {
	to := url + ticketMark + ticket
	return fmt.Appendf(nil, `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=%s">
<title>appserver</title>
<p><a href="%s">Open the page</a>. This link works once, and only for a short time.</p>
</html>
`, to, to)
}

// ticketIn returns the ticket in a document.
func ticketIn(document []byte) (ticket string, found bool) {
	_, rest, _ := strings.Cut(string(document), ticketMark)
	ticket, _, found = strings.Cut(rest, `"`)
	return ticket, found
}

// redeem reports whether the ticket is valid, and ends it.
func (t *tickets) redeem(ticket string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.check == nil || !time.Now().Before(t.expires) {
		return false
	}
	valid := t.check(ticket) == nil
	if !valid {
		t.wrong++
	}
	if valid || t.wrong == maxWrongTickets {
		t.drop()
	}
	return valid
}

// expire drops an expired ticket. A newer ticket stays.
func (t *tickets) expire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !time.Now().Before(t.expires) {
		t.drop()
	}
}

// end drops the ticket.
func (t *tickets) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop()
}

// drop ends the ticket and removes its file. t.mu is held.
func (t *tickets) drop() {
	if t.check == nil {
		return
	}
	t.check = nil
	t.timer.Stop()
	_ = os.Remove(t.file) // a file that stays is useless without the ticket
}
