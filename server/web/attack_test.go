package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"appserver/server/listen"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const script = "console.log('page');\n"

// files returns the files of a small page.
func files() fstest.MapFS {
	return fstest.MapFS{
		"index.html.gz":              {Data: pack(`<!doctype html><script src="/assets/main-ABCD1234.js"></script>` + strings.Repeat(" ", 100))},
		"assets/main-ABCD1234.js.gz": {Data: pack(strings.Repeat(script, 50))},
		"assets/s-ABCD1234.css.gz":   {Data: pack("a{}")},
		"assets/licences.txt.gz":     {Data: pack("MIT")},
	}
}

// anyPort returns the address of a page on a free port.
func anyPort() Address { return Address{AddrPort: netip.MustParseAddrPort("127.0.0.1:0")} }

func pack(text string) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = io.WriteString(z, text) // a buffer takes all
	_ = z.Close()
	return out.Bytes()
}

// start returns a running page that sends each message back.
func start(t *testing.T) *Page {
	t.Helper()
	return startIn(t, t.TempDir(), anyPort())
}

// startIn returns a running page of a home.
func startIn(t *testing.T, home string, at Address) *Page {
	t.Helper()
	p, err := New(Options{Home: home, Address: at, Assets: files(),
		Serve: func(_ context.Context, c *listen.Client) error {
			for {
				message, err := c.Next()
				if err != nil {
					return err
				}
				if _, err := c.Write(append(message, '\n')); err != nil {
					return err
				}
			}
		}})
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- p.Serve() }()
	t.Cleanup(func() {
		require.NoError(t, p.Stop())
		require.NoError(t, <-served)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(t, p.Wait(ctx))
	})
	return p
}

// send sends a request to the page, with pairs of headers. The header Host sets the host.
func send(t *testing.T, p *Page, method, path, body string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, "/", strings.NewReader(body))
	r.URL.Path, r.Host = path, strings.TrimPrefix(p.URL(), "http://")
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	p.listener.ServeHTTP(w, r)
	return w.Result()
}

// text returns the content of a response.
func text(t *testing.T, r *http.Response) string {
	t.Helper()
	content, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(content)
}

// ticketOf returns the ticket in a ticket file.
func ticketOf(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	ticket, found := ticketIn(content)
	require.True(t, found)
	require.GreaterOrEqual(t, len(ticket), 26, "128 bits at least")
	return ticket
}

// exchange sends a ticket and returns the status and the token.
func exchange(t *testing.T, p *Page, ticket string) (int, string) {
	t.Helper()
	r := send(t, p, "POST", "/session", `{"ticket":"`+ticket+`"}`, "Content-Type", "application/json", "Origin", p.URL())
	return r.StatusCode, tokenIn(t, r)
}

// tokenIn returns the token in a response, or "".
func tokenIn(t *testing.T, r *http.Response) string {
	t.Helper()
	_, rest, _ := strings.Cut(text(t, r), `{"token":"`)
	token, _, _ := strings.Cut(rest, `"`)
	return token
}

// signIn returns the token for a new ticket.
func signIn(t *testing.T, p *Page) string {
	t.Helper()
	ticket, err := p.NewTicket(ForProgram)
	require.NoError(t, err)
	status, token := exchange(t, p, ticketOf(t, ticket.File))
	require.Equal(t, 200, status)
	return token
}

// paths returns requests to each part of the page.
func paths() map[string]string {
	return map[string]string{"/": "GET", "/assets/main-ABCD1234.js": "GET", "/session": "POST", "/ticket": "POST",
		"/challenge": "POST", "/devices": "POST", "/ws": "GET", "/none": "GET"}
}

// TestForeignHostsAreRejected sends Hosts that DNS rebinding and confused programs send.
func TestForeignHostsAreRejected(t *testing.T) {
	p := start(t)
	own := strings.TrimPrefix(p.URL(), "http://")
	_, port, _ := strings.Cut(own, ":")
	for path, method := range paths() {
		for _, host := range []string{"", "evil.example", "evil.example:" + port, "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:80",
			"localhost:01", "localhost:65536", "localhost:+1", "localhost:1x", "[::1]:-1", "[::1", "::1", "127.0.0.1:1:1",
			"LOCALHOST:" + port, "localhost.:" + port, "127.0.0.1.evil.example:" + port, "127.1:" + port, own + ".", own + "00",
			"127.0.0.2:" + port, "[::]:" + port, "0.0.0.0:" + port, "user@" + own, own + "/x", " " + own} {
			r := send(t, p, method, path, "", "Host", host)
			require.Equal(t, 421, r.StatusCode, "%s %q", path, host)
			require.NotContains(t, r.Header.Get("Content-Security-Policy"), "evil")
			require.Contains(t, text(t, r), p.URL())
		}
		for _, host := range []string{own, "localhost:" + port, "[::1]:" + port, "127.0.0.1", "localhost", "127.0.0.1:1",
			"localhost:65535", "[::1]:8080"} { // through tunnels
			require.NotEqual(t, 421, send(t, p, method, path, "", "Host", host).StatusCode, "%s %q", path, host)
		}
	}
}

// TestRawRequestsPassTheHostCheck sends requests that net/http handles in special ways.
func TestRawRequestsPassTheHostCheck(t *testing.T) {
	p := start(t)
	own := strings.TrimPrefix(p.URL(), "http://")
	for _, c := range []struct{ request, status string }{
		{"OPTIONS * HTTP/1.1\r\nHost: evil.example\r\n\r\n", "421"},
		{"OPTIONS * HTTP/1.1\r\nHost: " + own + "\r\n\r\n", "404"},
		{"GET http://evil.example/ HTTP/1.1\r\nHost: " + own + "\r\n\r\n", "421"},
		{"GET / HTTP/1.0\r\n\r\n", "421"},
		{"GET / HTTP/1.1\r\nHost: " + own + "\r\nHost: evil.example\r\n\r\n", "400"},
		{"CONNECT evil.example:80 HTTP/1.1\r\nHost: " + own + "\r\n\r\n", "421"},
		{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "421"},
	} {
		require.Equal(t, c.status, rawStatus(t, own, c.request), "%q", c.request)
	}
}

// TestForeignOriginsAreRejected sends requests of other web pages.
func TestForeignOriginsAreRejected(t *testing.T) {
	p := start(t)
	token := signIn(t, p)
	own := strings.TrimPrefix(p.URL(), "http://")
	_, port, _ := strings.Cut(own, ":")
	for path, method := range paths() {
		for _, origin := range []string{"http://evil.example", "null", "", "https://" + own, "http://" + own + "/",
			"http://127.0.0.1", "http://127.0.0.1:1", "http://localhost:" + port, "http://" + own + ".evil.example",
			"HTTP://" + own, "file://", "http://" + own + " http://evil.example"} {
			r := send(t, p, method, path, `{"ticket":"x"}`, "Origin", origin, "Content-Type", "application/json",
				"Sec-WebSocket-Protocol", "appserver.v1, bearer."+token)
			require.Equal(t, 403, r.StatusCode, "%s %q", path, origin)
			require.Empty(t, r.Header.Get("Access-Control-Allow-Origin"))
		}
		if path == "/ticket" {
			require.NoFileExists(t, p.tickets.file, "a foreign page made a ticket")
		}
		for _, host := range []string{"localhost:1", "127.0.0.1:1", "127.0.0.1"} {
			r := send(t, p, method, path, "", "Host", host, "Origin", p.URL())
			require.Equal(t, 403, r.StatusCode, "%s: a tunnel is an address of its own", host)
			r = send(t, p, method, path, "", "Origin", "http://"+host)
			require.Equal(t, 403, r.StatusCode, "%s: another local page is a foreign page", host)
			require.NotEqual(t, 403, send(t, p, method, path, "", "Host", host, "Origin", "http://"+host).StatusCode)
		}
		r := send(t, p, method, path, "", "Origin", p.URL(), "Origin", "http://evil.example")
		require.Equal(t, 403, r.StatusCode, "the second Origin counts as well")
		require.NotEqual(t, 403, send(t, p, method, path, "", "Origin", p.URL()).StatusCode, path)
	}
}

// TestOtherMethodsAreRejected sends all methods to all paths.
func TestOtherMethodsAreRejected(t *testing.T) {
	p := start(t)
	allowed := map[string]string{"/": "GET, HEAD", "/assets/main-ABCD1234.js": "GET, HEAD", "/session": "POST, GET",
		"/ticket": "POST", "/challenge": "POST", "/devices": "GET, POST, DELETE", "/ws": "GET"}
	for path, list := range allowed {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "get"} {
			r := send(t, p, method, path, "")
			if strings.Contains(list, method) {
				require.NotEqual(t, 405, r.StatusCode, "%s %s", method, path)
				continue
			}
			require.Equal(t, 405, r.StatusCode, "%s %s", method, path)
			require.Equal(t, list, r.Header.Get("Allow"))
		}
	}
}

// TestPathsOutsideOfThePageAreNotFound tries to reach other files.
func TestPathsOutsideOfThePageAreNotFound(t *testing.T) {
	p := start(t)
	own := strings.TrimPrefix(p.URL(), "http://")
	for _, path := range []string{"/index.html", "/assets", "/assets/", "/assets/../index.html", "/../../etc/passwd",
		"/assets/../../../../etc/passwd", "/assets/..%2f..%2fetc/passwd", "/assets/%2e%2e/%2e%2e/etc/passwd",
		"/assets//main-ABCD1234.js", "//evil.example/", "/assets/main-ABCD1234.js/", "/assets/main-ABCD1234.js%00",
		`/assets/..\..\etc\passwd`, "/ws/", "/session/", "/SESSION", "/readyz", "/healthz", "/none"} {
		require.Equal(t, "404", rawStatus(t, own, "GET "+path+" HTTP/1.1\r\nHost: "+own+"\r\n\r\n"), path)
	}
}

// TestEveryResponseHasSecurityHeaders checks successful and rejected requests.
func TestEveryResponseHasSecurityHeaders(t *testing.T) {
	p := start(t)
	own := strings.TrimPrefix(p.URL(), "http://")
	_, port, _ := strings.Cut(own, ":")
	for path, method := range paths() {
		for host, named := range map[string]string{own: own, "localhost:" + port: "localhost:" + port,
			"127.0.0.1:1":  "127.0.0.1:1",
			"evil.example": own, "localhost:1;": own} {
			h := send(t, p, method, path, "", "Host", host).Header
			require.Equal(t, "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ws://"+named+
				"; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "+
				"require-trusted-types-for 'script'; trusted-types 'none'", h.Get("Content-Security-Policy"), path)
			require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"))
			require.Equal(t, "DENY", h.Get("X-Frame-Options"))
			require.Equal(t, "no-referrer", h.Get("Referrer-Policy"))
			require.Equal(t, "same-origin", h.Get("Cross-Origin-Opener-Policy"))
			require.Equal(t, "same-origin", h.Get("Cross-Origin-Resource-Policy"))
			require.Empty(t, h.Values("Set-Cookie"), "cookies are shared between ports")
			require.Empty(t, h.Values("Access-Control-Allow-Origin"))
			if !strings.HasPrefix(path, "/assets/") || named != host {
				require.Equal(t, "no-store", h.Get("Cache-Control"), path)
			}
		}
	}
}

// TestWebSocketRequiresToken dials with wrong subprotocols and tokens.
func TestWebSocketRequiresToken(t *testing.T) {
	p := start(t)
	token := signIn(t, p)
	for _, c := range []struct {
		status    int
		protocols []string
	}{
		{401, nil},
		{401, []string{"appserver.v1"}},
		{401, []string{"appserver.v1", "bearer."}},
		{401, []string{"appserver.v1", "bearer." + token + "x"}},
		{401, []string{"appserver.v1", "bearer." + token[1:]}},
		{401, []string{"appserver.v1", "bearer." + strings.ToLower(token)}},
		{401, []string{"appserver.v1", token}},
		{401, []string{"appserver.v1", "BEARER." + token}},
		{400, []string{"bearer." + token}},
		{400, []string{"appserver.v2", "bearer." + token}},
		{400, []string{"appserver.v1bearer." + token, "bearer." + token}},
	} {
		_, r, err := websocket.Dial(t.Context(), p.URL()+"/ws", &websocket.DialOptions{Subprotocols: c.protocols})
		require.Error(t, err, "%q", c.protocols)
		require.Equal(t, c.status, r.StatusCode, "%q", c.protocols)
		require.NotContains(t, r.Header.Get("Sec-WebSocket-Protocol"), "bearer")
	}
	for _, url := range []string{"/ws?token=" + token, "/ws#" + token, "/"} {
		_, _, err := websocket.Dial(t.Context(), p.URL()+url, &websocket.DialOptions{
			HTTPHeader: http.Header{"Authorization": {"Bearer " + token}, "Cookie": {"token=" + token}}})
		require.Error(t, err, "%s: the token travels in no other way", url)
	}
	r := send(t, p, "GET", "/ws", "", "Sec-WebSocket-Protocol", "appserver.v1, bearer."+token)
	require.Equal(t, 426, r.StatusCode, "the request has no upgrade")
}

// TestWebSocketSelectsOnlyTheVersion echoes a message of two tabs with one token.
func TestWebSocketSelectsOnlyTheVersion(t *testing.T) {
	p := start(t)
	token := signIn(t, p)
	for range 2 {
		ws, r, err := websocket.Dial(t.Context(), p.URL()+"/ws", &websocket.DialOptions{
			Subprotocols: []string{"appserver.v1", "bearer." + token}, HTTPHeader: http.Header{"Origin": {p.URL()}}})
		require.NoError(t, err)
		require.Equal(t, []string{"appserver.v1"}, r.Header.Values("Sec-WebSocket-Protocol"))
		require.NoError(t, ws.Write(t.Context(), websocket.MessageText, []byte("hello")))
		_, got, err := ws.Read(t.Context())
		require.NoError(t, err)
		require.Equal(t, "hello", string(got))
		defer ws.CloseNow()
	}
}

// TestFilesOfThePageArePrivate checks the modes of the folder and its files, and that they are
// removed.
func TestFilesOfThePageArePrivate(t *testing.T) {
	home := t.TempDir()
	p, err := New(Options{Home: home, Address: anyPort(), Assets: files()})
	require.NoError(t, err)
	ticket, err := p.NewTicket(ForPerson)
	require.NoError(t, err)
	file := ticket.File
	token := p.sessions.open("")
	folder, err := os.Stat(filepath.Dir(file))
	require.NoError(t, err)
	require.Equal(t, "drwx------", folder.Mode().String())
	entries, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	require.Len(t, entries, 2)
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		require.Equal(t, "-rw-------", info.Mode().String(), e.Name())
		content, err := os.ReadFile(filepath.Join(filepath.Dir(file), e.Name()))
		require.NoError(t, err)
		require.NotContains(t, string(content), token)
	}
	require.NoError(t, p.Stop())
	entries, err = os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	require.Empty(t, entries)
	require.NoError(t, p.Stop(), "twice does no harm")
}
