package httpclient_test

import (
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"appserver/platform/httpclient"
	"appserver/test/apptest"
)

const (
	host   = "models.example.test"
	secret = "user:pa55word"
)

// get sends a request with an environment.
func get(t *testing.T, env map[string]string, address string) (body string, err error) {
	t.Helper()
	transport := httpclient.New(func(name string) string { return env[name] }).Transport()
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	answer, err := transport.RoundTrip(r)
	if err != nil {
		require.NotContains(t, err.Error(), "pa55word")
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return string(text), nil
}

// ok answers each request.
func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }

func TestCertificatesOfVariablesAreTrusted(t *testing.T) {
	a := apptest.NewAuthority(t)
	at := "https://" + a.ServeTLS(t, "127.0.0.1", http.HandlerFunc(ok))
	content, err := os.ReadFile(a.File)
	require.NoError(t, err)
	block, _ := pem.Decode(content)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	more := append(block.Bytes[:len(block.Bytes):len(block.Bytes)], 0x30, 0x03, 1, 1, 0xFF) // data of OpenSSL
	trusted := pem.EncodeToMemory(&pem.Block{Type: "TRUSTED CERTIFICATE", Bytes: more})
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("no key")})
	folder := filepath.Dir(a.File)
	for name, env := range map[string]map[string]string{
		"own":                  {"CODEX_CA_CERTIFICATE": a.File},
		"file":                 {"SSL_CERT_FILE": " " + a.File + "\n"},
		"folder":               {"SSL_CERT_DIR": t.TempDir() + string(filepath.ListSeparator) + folder},
		"own before file":      {"CODEX_CA_CERTIFICATE": a.File, "SSL_CERT_FILE": file("wrong", "x")},
		"line ends of Windows": {"SSL_CERT_FILE": file("crlf", strings.ReplaceAll(string(content), "\n", "\r\n"))},
		"comments, other parts": {"SSL_CERT_FILE": file("all", "\uFEFF# a comment\n"+string(key)+"subject=a\n"+
			string(content)+"end")},
		"of OpenSSL": {"SSL_CERT_FILE": file("trusted", string(trusted))},
		"binary":     {"SSL_CERT_FILE": file("der", string(block.Bytes))},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := get(t, env, at)
			require.NoError(t, err)
			require.Equal(t, "ok", body)
		})
	}
	_, err = get(t, nil, at)
	require.ErrorAs(t, err, new(x509.UnknownAuthorityError))
}

func TestCertificatesThatCannotBeReadFailRequests(t *testing.T) {
	a := apptest.NewAuthority(t)
	at := "https://" + a.ServeTLS(t, "127.0.0.1", http.HandlerFunc(ok))
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	require.NoError(t, os.WriteFile(text, []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), 0o600))
	for _, c := range []struct {
		env     map[string]string
		message []string
	}{
		{map[string]string{"CODEX_CA_CERTIFICATE": dir + "/none", "SSL_CERT_FILE": a.File},
			[]string{"CODEX_CA_CERTIFICATE", dir + "/none"}},
		{map[string]string{"SSL_CERT_FILE": text}, []string{"SSL_CERT_FILE", text, "has no certificate"}},
		{map[string]string{"SSL_CERT_FILE": dir}, []string{"SSL_CERT_FILE", dir, "not a regular file"}},
		{map[string]string{"SSL_CERT_DIR": dir}, []string{"SSL_CERT_DIR", dir}},
	} {
		_, err := get(t, c.env, at)
		var setup *httpclient.SetupError
		require.ErrorAs(t, err, &setup)
		require.False(t, setup.Temporary())
		for _, part := range c.message {
			require.ErrorContains(t, err, part)
		}
	}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &http.Server{Handler: http.HandlerFunc(ok), ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(plain) }()
	defer s.Close()
	_, err = get(t, map[string]string{"SSL_CERT_FILE": text}, "http://"+plain.Addr().String())
	require.NoError(t, err, "requests without TLS need no certificates")
}

// plainServer returns the address of a server without TLS.
func plainServer(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &http.Server{Handler: http.HandlerFunc(ok), ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return l.Addr().String()
}

func TestProxiesOfVariablesAreUsed(t *testing.T) {
	a := apptest.NewAuthority(t)
	plain, encrypted := plainServer(t), a.ServeTLS(t, host, http.HandlerFunc(ok))
	with := func(to, user string) *apptest.Proxy {
		p := apptest.NewProxy(t, map[string]string{host: to})
		p.User = user
		return p
	}
	for _, c := range []struct {
		name, scheme, user, variable, form string
		more                               map[string]string
		direct                             bool
	}{
		{name: "HTTP", scheme: "http", variable: "HTTP_PROXY", form: "http://%"},
		{name: "HTTP in lower case", scheme: "http", variable: "http_proxy", form: "http://%"},
		{name: "without a scheme", scheme: "http", variable: "HTTP_PROXY", form: "%"},
		{name: "blanks and a line end", scheme: "http", variable: "HTTP_PROXY", form: " http://%\r\n"},
		{name: "all for HTTP", scheme: "http", variable: "ALL_PROXY", form: "http://%"},
		{name: "HTTPS", scheme: "https", variable: "HTTPS_PROXY", form: "http://%"},
		{name: "HTTPS with a user", scheme: "https", user: secret, variable: "https_proxy", form: "http://user:pa55word@%"},
		{name: "HTTP with a user", scheme: "http", user: secret, variable: "HTTP_PROXY", form: "http://user:pa55word@%"},
		{name: "all for HTTPS", scheme: "https", variable: "all_proxy", form: "%"},
		{name: "SOCKS for HTTP", scheme: "http", variable: "ALL_PROXY", form: "socks5://%"},
		{name: "SOCKS for HTTPS", scheme: "https", variable: "ALL_PROXY", form: "socks5h://%"},
		{name: "SOCKS with a user", scheme: "https", user: secret, variable: "HTTPS_PROXY", form: "socks5://user:pa55word@%"},
		{name: "own before all", scheme: "https", variable: "HTTPS_PROXY", form: "http://%",
			more: map[string]string{"ALL_PROXY": "http://127.0.0.1:1"}},
		{name: "other scheme", scheme: "http", variable: "HTTPS_PROXY", form: "http://%", direct: true},
		{name: "NO_PROXY", scheme: "http", variable: "ALL_PROXY", form: "socks5://%", direct: true,
			more: map[string]string{"NO_PROXY": "a.test,.example.test"}},
		{name: "no_proxy for an invalid proxy", scheme: "http", variable: "HTTP_PROXY", form: "ftp://%", direct: true,
			more: map[string]string{"no_proxy": "*"}},
		{name: "a program of a web server", scheme: "http", variable: "HTTP_PROXY", form: "http://%", direct: true,
			more: map[string]string{"REQUEST_METHOD": "GET"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := with(map[string]string{"http": plain, "https": encrypted}[c.scheme], c.user)
			env := map[string]string{c.variable: strings.ReplaceAll(c.form, "%", p.Address), "CODEX_CA_CERTIFICATE": a.File}
			for name, value := range c.more {
				env[name] = value
			}
			body, err := get(t, env, c.scheme+"://"+host)
			if c.direct {
				require.ErrorAs(t, err, new(*net.DNSError))
				require.Empty(t, p.Asked())
				return
			}
			require.NoError(t, err)
			require.Equal(t, "ok", body)
			port := map[string]string{"http": ":80", "https": ":443"}[c.scheme]
			require.Equal(t, []string{host + port}, p.Asked())
			transport := httpclient.New(func(name string) string { return env[name] }).Transport()
			require.Equal(t, p.Address+" of "+c.variable, transport.Via(&url.URL{Scheme: c.scheme, Host: host}))
		})
	}
}

func TestLoopbackAddressesUseNoProxy(t *testing.T) {
	p := apptest.NewProxy(t, nil)
	at := plainServer(t)
	for _, address := range []string{"http://" + at, "http://localhost" + at[strings.LastIndex(at, ":"):]} {
		body, err := get(t, map[string]string{"HTTP_PROXY": p.Address, "ALL_PROXY": "socks5://" + p.Address}, address)
		require.NoError(t, err)
		require.Equal(t, "ok", body)
	}
	require.Empty(t, p.Asked())
}

func TestErrorsNameTheProxy(t *testing.T) {
	p := apptest.NewProxy(t, nil)
	p.User = secret
	refusing := apptest.NewProxy(t, nil)
	refusing.Refuse = http.StatusServiceUnavailable
	socks := apptest.NewProxy(t, map[string]string{})
	dead := "127.0.0.1:1"
	for _, c := range []struct {
		name, variable, value, scheme, proxy string
		status                               int
		temporary                            bool
	}{
		{"no user", "HTTPS_PROXY", "http://other:pa55word2@" + p.Address, "https", p.Address, 407, false},
		{"no user, HTTP", "HTTP_PROXY", "http://" + p.Address, "http", p.Address, 407, false},
		{"refused", "ALL_PROXY", "http://" + secret + "@" + refusing.Address, "https", refusing.Address, 503, true},
		{"not running", "HTTPS_PROXY", "http://" + secret + "@" + dead, "https", dead, 0, true},
		{"not running, HTTP", "HTTP_PROXY", "http://" + secret + "@" + dead, "http", dead, 0, true},
		{"not running, SOCKS", "ALL_PROXY", "socks5://" + secret + "@" + dead, "https", dead, 0, true},
		{"refused, SOCKS", "ALL_PROXY", "socks5://" + secret + "@" + socks.Address, "https", socks.Address, 0, true},
		{"no user, SOCKS", "ALL_PROXY", "socks5h://" + p.Address, "http", p.Address, 0, true},
		{"TLS with a proxy without it", "HTTPS_PROXY", "https://" + secret + "@" + socks.Address, "https", socks.Address, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := get(t, map[string]string{c.variable: c.value}, c.scheme+"://"+host)
			var failed *httpclient.ProxyError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, c.proxy, failed.Proxy)
			require.Equal(t, c.status, failed.Status)
			require.Equal(t, c.temporary, failed.Temporary())
			require.ErrorContains(t, err, "the proxy "+c.proxy+" of "+c.variable)
			require.Contains(t, failed.Advice(), "check ")
		})
	}
}

func TestInvalidProxiesFailRequests(t *testing.T) {
	for _, value := range []string{"::::", "ftp://user:pa55word@p:1", "http://", "http://user:pa55word@p:port", "socks4://p:1"} {
		_, err := get(t, map[string]string{"ALL_PROXY": value}, "https://"+host)
		var setup *httpclient.SetupError
		require.ErrorAs(t, err, &setup, value)
		require.ErrorContains(t, err, "the environment variable ALL_PROXY is not the address of a proxy")
	}
}

// TestTransportsOfAnEnvironmentAreIndependent: their first requests can be sent at once. The race detector checks it.
func TestTransportsOfAnEnvironmentAreIndependent(t *testing.T) {
	address := "http://" + plainServer(t)
	e := httpclient.New(func(string) string { return "" })
	var all sync.WaitGroup
	for range 4 {
		transport := e.Transport()
		t.Cleanup(transport.CloseIdleConnections)
		all.Go(func() {
			res, err := (&http.Client{Transport: transport}).Get(address)
			if assert.NoError(t, err) {
				assert.NoError(t, res.Body.Close())
			}
		})
	}
	all.Wait()
}

// TestProxiesHaveTheirPort names the port that is connected, and no user.
func TestProxiesHaveTheirPort(t *testing.T) {
	for value, want := range map[string]string{
		"http://proxy.test": "proxy.test:80", "https://proxy.test": "proxy.test:443", "socks5://proxy.test": "proxy.test:1080",
		"socks5h://proxy.test": "proxy.test:1080", "proxy.test": "proxy.test:80", "proxy.test:3128": "proxy.test:3128",
		"https://user:pa55word@proxy.test": "proxy.test:443", "http://[2001:db8::1]": "[2001:db8::1]:80",
		"https://[2001:db8::1]:8443": "[2001:db8::1]:8443",
	} {
		env := map[string]string{"HTTPS_PROXY": value}
		at, variable, err := httpclient.New(func(name string) string { return env[name] }).Transport().
			ProxyOf(&url.URL{Scheme: "https", Host: host})
		require.NoError(t, err)
		require.Equal(t, []string{want, "HTTPS_PROXY"}, []string{at, variable}, value)
	}
}
