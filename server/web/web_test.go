package web

import (
	"bufio"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// rawStatus sends bytes and returns the status of the response.
func rawStatus(t *testing.T, address, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer c.Close()
	_, err = io.WriteString(c, request)
	require.NoError(t, err)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
	line, err := bufio.NewReader(c).ReadString('\n')
	require.NoError(t, err)
	return strings.Fields(line)[1]
}

// TestTicketWorksOnce exchanges a ticket twice. The token stays valid.
func TestTicketWorksOnce(t *testing.T) {
	p := start(t)
	status, _ := exchange(t, p, "guess")
	require.Equal(t, 403, status, "there is no ticket yet")
	issued, err := p.NewTicket(ForProgram)
	require.NoError(t, err)
	file := issued.File
	ticket := ticketOf(t, file)
	status, token := exchange(t, p, ticket)
	require.Equal(t, 200, status)
	require.NoFileExists(t, file)
	status, text := exchange(t, p, ticket)
	require.Equal(t, 403, status)
	require.NotContains(t, text, token)
	require.NotEqual(t, token, signIn(t, p), "each tab has a session of its own")
	for authorization, status := range map[string]int{"Bearer " + token: 204, "Bearer " + ticket: 401, token: 401,
		"": 401} {
		require.Equal(t, status, send(t, p, "GET", "/session", "", "Authorization", authorization).StatusCode)
	}
}

// TestNewTicketEndsTheLast issues two tickets.
func TestNewTicketEndsTheLast(t *testing.T) {
	p := start(t)
	issued, err := p.NewTicket(ForProgram)
	require.NoError(t, err)
	file := issued.File
	first := ticketOf(t, file)
	require.Equal(t, 204, send(t, p, "POST", "/ticket", "").StatusCode)
	second := ticketOf(t, file)
	require.NotEqual(t, first, second)
	status, _ := exchange(t, p, first)
	require.Equal(t, 403, status)
	status, _ = exchange(t, p, second)
	require.Equal(t, 200, status)
}

// TestFiveWrongTicketsEndTheTicket guesses five times, and four times.
func TestFiveWrongTicketsEndTheTicket(t *testing.T) {
	p := start(t)
	for guesses, want := range map[int]int{4: 200, 5: 403} {
		issued, err := p.NewTicket(ForProgram)
		require.NoError(t, err)
		file := issued.File
		require.NoError(t, err)
		ticket := ticketOf(t, file)
		for range guesses {
			status, _ := exchange(t, p, ticket[1:])
			require.Equal(t, 403, status)
		}
		if guesses == maxWrongTickets {
			require.NoFileExists(t, file)
		}
		status, _ := exchange(t, p, ticket)
		require.Equal(t, want, status, "%d guesses", guesses)
	}
}

// TestTicketExpires lets the time of a ticket pass. A newer ticket keeps its whole time.
func TestTicketExpires(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		tickets := &tickets{file: filepath.Join(dir, "ticket.html")}
		issue := func() string {
			require.NoError(t, tickets.issue("http://127.0.0.1:1", ForProgram))
			return ticketOf(t, tickets.file)
		}
		first := issue()
		time.Sleep(ForProgram.Life() - time.Nanosecond)
		require.FileExists(t, tickets.file)
		second := issue()
		time.Sleep(ForProgram.Life() - time.Nanosecond)
		require.False(t, tickets.redeem(first))
		require.True(t, tickets.redeem(second))

		last := issue()
		time.Sleep(ForProgram.Life())
		synctest.Wait()
		require.NoFileExists(t, tickets.file)
		require.False(t, tickets.redeem(last))
	})
}

// TestSessionRejectsOtherBodies sends bodies that browsers send without asking, and invalid ones.
func TestSessionRejectsOtherBodies(t *testing.T) {
	p := start(t)
	issued, err := p.NewTicket(ForProgram)
	require.NoError(t, err)
	file := issued.File
	good := `{"ticket":"` + ticketOf(t, file) + `"}`
	for _, c := range []struct {
		status     int
		kind, body string
	}{
		{415, "", good},
		{415, "text/plain", good},
		{415, "application/x-www-form-urlencoded", good},
		{415, "multipart/form-data", good},
		{400, "application/json", ""},
		{400, "application/json", "{}"},
		{400, "application/json", `{"ticket":""}`},
		{400, "application/json", `{"Ticket":"x"}`},
		{400, "application/json", `{"ticket":7}`},
		{400, "application/json", good + good},
		{400, "application/json", strings.Repeat(" ", maxBodyBytes) + good},
	} {
		r := send(t, p, "POST", "/session", c.body, "Content-Type", c.kind)
		require.Equal(t, c.status, r.StatusCode, "%s %.40s", c.kind, c.body)
	}
	r := send(t, p, "POST", "/session", good, "Content-Type", "application/json; charset=utf-8")
	require.Equal(t, 200, r.StatusCode, "invalid requests are not guesses")
	require.Equal(t, "application/json", r.Header.Get("Content-Type"))
	require.Equal(t, "no-store", r.Header.Get("Cache-Control"))
}

// TestAssetsAreCachedByTheirNames checks types, caching and compression.
func TestAssetsAreCachedByTheirNames(t *testing.T) {
	p := start(t)
	for _, c := range []struct{ path, kind, cache string }{
		{"/", "text/html; charset=utf-8", "no-store"},
		{"/assets/main-ABCD1234.js", "text/javascript; charset=utf-8", cacheForever},
		{"/assets/s-ABCD1234.css", "text/css; charset=utf-8", cacheForever},
		{"/assets/licences.txt", "text/plain; charset=utf-8", "no-store"},
	} {
		plain := send(t, p, "GET", c.path, "")
		require.Equal(t, 200, plain.StatusCode)
		require.Equal(t, c.kind, plain.Header.Get("Content-Type"))
		require.Equal(t, c.cache, plain.Header.Get("Cache-Control"), c.path)
		require.Equal(t, "Accept-Encoding", plain.Header.Get("Vary"))
		require.Empty(t, plain.Header.Get("Content-Encoding"))
		short := send(t, p, "GET", c.path, "", "Accept-Encoding", "br, gzip")
		require.Equal(t, "gzip", short.Header.Get("Content-Encoding"), c.path)
		got, err := gzip.NewReader(short.Body)
		require.NoError(t, err)
		content, err := io.ReadAll(got)
		require.NoError(t, err)
		require.Equal(t, text(t, plain), string(content))
	}
	for accepts, want := range map[string]bool{"gzip": true, "deflate, gzip;q=0.5": true, "gzip; q=1": true, "": false,
		"gzip;q=0": false, "gzip; q=0.000": false, "xgzip": false, "identity": false} {
		require.Equal(t, want, acceptsGzip(http.Header{"Accept-Encoding": {accepts}}), accepts)
	}
	require.Equal(t, "404", rawStatus(t, strings.TrimPrefix(p.URL(), "http://"),
		"HEAD /none HTTP/1.1\r\nHost: "+strings.TrimPrefix(p.URL(), "http://")+"\r\n\r\n"))
}

// TestNewRejectsIncompletePages checks the errors that users read.
func TestNewRejectsIncompletePages(t *testing.T) {
	o := Options{Home: t.TempDir(), Address: anyPort(), Assets: fstest.MapFS{}}
	_, err := New(o)
	require.ErrorContains(t, err, "index.html is missing")
	o.Assets = fstest.MapFS{"index.html.gz": {Data: pack("")}, "x.exe.gz": {}}
	_, err = New(o)
	require.ErrorContains(t, err, "x.exe has no content type")
	o.Assets = files()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	o.Address = Address{AddrPort: netip.MustParseAddrPort(taken.Addr().String())}
	_, err = New(o)
	require.EqualError(t, err, "cannot serve the page: "+taken.Addr().String()+
		" is used by another program: choose another port, or port 0 for a free one")
	o.Address = anyPort()
	o.Home = filepath.Join(os.DevNull, "home")
	_, err = New(o)
	require.ErrorContains(t, err, "cannot serve the page")
}

// TestParseAddress accepts loopback addresses only.
func TestParseAddress(t *testing.T) {
	for address, want := range map[string]string{"127.0.0.1:0": "127.0.0.1:0", "[::1]:80": "[::1]:80",
		"127.1.2.3:4": "127.1.2.3:4", "[::ffff:127.0.0.1]:1": "127.0.0.1:1"} {
		at, err := ParseAddress(address)
		require.NoError(t, err)
		require.Equal(t, want, at.String())
		require.False(t, at.Fallback)
	}
	for address, want := range map[string]string{"127.0.0.1": "127.0.0.1:20510", "::1": "[::1]:20510", "[::1]": "[::1]:20510"} {
		at, err := ParseAddress(address)
		require.NoError(t, err)
		require.Equal(t, want, at.AddrPort.String())
		require.True(t, at.Fallback)
	}
	for address, message := range map[string]string{"": "expected IP:PORT", "4500": "expected IP:PORT",
		"localhost:1": "expected IP:PORT", "[127.0.0.1": "expected IP:PORT", "127.0.0.1:": "expected IP:PORT", "[::1%lo]:1": "expected IP:PORT",
		"::1%lo": "expected IP:PORT", "0.0.0.0": "other machines can reach it", "0.0.0.0:1": "other machines can reach it", "[::]:1": "other machines can reach it",
		"192.0.2.1:1": "other machines can reach it"} {
		_, err := ParseAddress(address)
		require.ErrorContains(t, err, message)
	}
}

// TestGuardAllowsBrowsersOnPort80 checks the hosts without a port, which browsers send there.
func TestGuardAllowsBrowsersOnPort80(t *testing.T) {
	at80 := newGuard(netip.MustParseAddrPort("127.0.0.1:80"))
	require.Equal(t, "127.0.0.1", at80.own)
	require.True(t, at80.allows("127.0.0.1"))
	require.False(t, at80.allows("127.0.0.1:80"))
	require.Equal(t, "[::1]:4500", newGuard(netip.MustParseAddrPort("[::1]:4500")).own)
	require.True(t, newGuard(netip.MustParseAddrPort("127.1.2.3:4500")).allows("127.1.2.3:4500"))
}

// TestRequestTicketsFindsRunningPages starts two pages in a home, and leaves files of dead ones.
func TestRequestTicketsFindsRunningPages(t *testing.T) {
	p, other := start(t), start(t)
	home := p.record.home
	require.NoError(t, other.record.write()) // in its own home
	found, err := RequestTickets(t.Context(), home, Address{}, ForProgram)
	require.NoError(t, err)
	require.Equal(t, []Ticket{{p.URL(), p.tickets.file}}, found)
	status, _ := exchange(t, p, ticketOf(t, found[0].File))
	require.Equal(t, 200, status)

	found, err = RequestTickets(t.Context(), home, Address{AddrPort: netip.MustParseAddrPort("127.0.0.1:1")}, ForProgram)
	require.NoError(t, err)
	require.Empty(t, found, "no page has this address")
	found, err = RequestTickets(t.Context(), t.TempDir(), Address{}, ForProgram)
	require.NoError(t, err)
	require.Empty(t, found)
}

// TestPageThatCannotWriteATicketStays does not take a page for dead that has a problem with the disk.
func TestPageThatCannotWriteATicketStays(t *testing.T) {
	p := start(t)
	home := p.record.home
	require.NoError(t, os.MkdirAll(filepath.Join(p.record.ticketFile(), "in the way"), 0o700))
	found, err := RequestTickets(t.Context(), home, Address{}, ForProgram)
	require.NoError(t, err)
	require.Empty(t, found)
	require.NoError(t, os.RemoveAll(p.record.ticketFile()))
	found, err = RequestTickets(t.Context(), home, Address{}, ForProgram)
	require.NoError(t, err)
	require.Len(t, found, 1)

	require.NoError(t, os.Remove(found[0].File))
	_, err = found[0].TakeAddress()
	require.ErrorContains(t, err, "run appserver web --ticket again", "another command has taken it")
}

// TestRequestTicketsTrustsNoOtherProgram answers like a page at the address of a dead server.
func TestRequestTicketsTrustsNoOtherProgram(t *testing.T) {
	home := t.TempDir()
	answer := http.StatusNoContent
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "http://evil.example/")
		w.WriteHeader(answer)
	}))
	defer s.Close()
	dead := record{home, netip.MustParseAddrPort(strings.TrimPrefix(s.URL, "http://"))}
	for _, answer = range []int{204, 200, 307, 404} {
		require.NoError(t, dead.write())
		require.NoError(t, os.WriteFile(dead.ticketFile(), ticketDocument(dead.url(), "old"), 0o600))
		found, err := RequestTickets(t.Context(), home, Address{}, ForProgram)
		require.NoError(t, err)
		require.Empty(t, found, "a browser would be sent to a foreign program")
		require.NoFileExists(t, dead.ticketFile())
		require.NoFileExists(t, dead.path())
	}
	require.NoError(t, dead.write())
	late, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	_, err := RequestTickets(late, home, Address{}, ForProgram)
	require.NoError(t, err)
	require.FileExists(t, dead.path(), "a busy server is not dead")
	require.NoError(t, os.WriteFile(filepath.Join(dir(home), "x.page"), []byte("127.0.0.1:1\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir(home), "y.page"), []byte("192.0.2.1:1\n"), 0o600))
	s.Close()
	found, err := RequestTickets(t.Context(), home, Address{}, ForProgram)
	require.NoError(t, err)
	require.Empty(t, found)
	require.NoFileExists(t, dead.path())
}

// TestDefaultPortFallsBack starts pages at the default port, or at the next ones if programs use it.
func TestDefaultPortFallsBack(t *testing.T) {
	taken, err := net.Listen("tcp", DefaultAddress().AddrPort.String())
	if err == nil { // otherwise another program uses the port already
		defer taken.Close()
	}
	a := startIn(t, t.TempDir(), DefaultAddress())
	b := startIn(t, t.TempDir(), DefaultAddress())
	require.NotEqual(t, a.URL(), b.URL())
	for _, p := range []*Page{a, b} {
		require.Greater(t, p.record.address.Port(), uint16(DefaultPort))
		require.Contains(t, p.FallbackNote(), "Port 20510 is used by another program.")
	}
	require.Empty(t, start(t).FallbackNote())
}
