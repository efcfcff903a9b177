package peer_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"appserver/server/peer"
	"appserver/test/apptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	secret = "0123456789abcdef0123456789abcdef"
	hour   = time.Hour
)

// options returns the options of a port on this machine with a certificate of an authority.
func options(t *testing.T, a *apptest.Authority) peer.Options {
	cert, key := a.Issue(t, "127.0.0.1", -hour, hour)
	return peer.Options{Listen: "wss://127.0.0.1:0", Secret: secret, Variable: "FLEET", Cert: cert, Key: key, CA: a.File}
}

// echo returns each message.
func echo(_ context.Context, link *peer.Link) error {
	for {
		message, err := link.Next()
		if err != nil {
			return err
		}
		if _, err = link.Write(append(message, '\n')); err != nil {
			return err
		}
	}
}

// serve opens a port and serves it until the test ends. Its links return each message.
func serve(t *testing.T, o peer.Options) *peer.Port { return serveBy(t, o, peer.Service{Link: echo}) }

func serveBy(t *testing.T, o peer.Options, by peer.Service) *peer.Port {
	p, err := peer.Open(o)
	require.NoError(t, err)
	l, err := p.Listen(by)
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- l.Serve() }()
	t.Cleanup(func() {
		require.NoError(t, l.Stop())
		require.NoError(t, <-served)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		require.NoError(t, l.Wait(ctx))
	})
	return p
}

// dial opens a link until the test ends.
func dial(t *testing.T, from, to *peer.Port) *peer.Link {
	link, err := from.Dial(t.Context(), to.Address())
	require.NoError(t, err)
	t.Cleanup(link.Close)
	return link
}

// exchange sends a message over a link to an echo.
func exchange(t *testing.T, link *peer.Link, message string) {
	_, err := link.Write([]byte(message + "\n"))
	require.NoError(t, err)
	got, err := link.Next()
	require.NoError(t, err)
	require.Equal(t, message, string(got))
}

// TestNodesExchangeMessagesWithTLS links two ports in both directions.
func TestNodesExchangeMessagesWithTLS(t *testing.T) {
	a := apptest.NewAuthority(t)
	one, two := serve(t, options(t, a)), serve(t, options(t, a))
	require.True(t, one.Encrypted())
	require.Regexp(t, `^wss://127\.0\.0\.1:\d+$`, one.Address())
	there, back := dial(t, one, two), dial(t, two, one)
	exchange(t, there, "hello")
	exchange(t, back, strings.Repeat("long ", 2<<20))
	accepted, dialed := one.Links()
	require.Equal(t, []int64{1, 1}, []int64{accepted, dialed})
	there.Close()
	there.Close()
	_, dialed = one.Links()
	require.Zero(t, dialed)
}

// TestTrustedNetworksNeedNoCertificate links two ports without TLS.
func TestTrustedNetworksNeedNoCertificate(t *testing.T) {
	o := peer.Options{Listen: "ws://127.0.0.1:0", Secret: secret}
	one, two := serve(t, o), serve(t, o)
	require.False(t, one.Encrypted())
	exchange(t, dial(t, one, two), "hello")
	_, err := serve(t, options(t, apptest.NewAuthority(t))).Dial(t.Context(), one.Address())
	require.ErrorContains(t, err, "the address has no TLS", "the secret is not sent without TLS")
}

// TestTheAddressForOtherNodesCanDiffer listens on all addresses.
func TestTheAddressForOtherNodesCanDiffer(t *testing.T) {
	o := peer.Options{Listen: "ws://0.0.0.0:0", Address: "ws://node-a:4600", Secret: secret}
	require.Equal(t, "ws://node-a:4600", serve(t, o).Address())
}

// TestStrangersAreRejected dials with another secret, and accepts no certificate of another authority or
// for another host.
func TestStrangersAreRejected(t *testing.T) {
	a := apptest.NewAuthority(t)
	port := serve(t, options(t, a))
	other := options(t, a)
	other.Secret = strings.Repeat("x", 32)
	_, err := serve(t, other).Dial(t.Context(), port.Address())
	require.ErrorIs(t, err, peer.ErrSecret)
	require.ErrorContains(t, err, "fleet.secret_env")
	_, err = serve(t, options(t, apptest.NewAuthority(t))).Dial(t.Context(), port.Address())
	require.ErrorContains(t, err, "certificate is not accepted")
	require.ErrorContains(t, err, "fleet.ca")
	_, err = port.Dial(t.Context(), strings.Replace(port.Address(), "127.0.0.1", "localhost", 1))
	require.ErrorContains(t, err, "certificate is not accepted")
	var failed *peer.DialError
	_, err = port.Dial(t.Context(), "wss://127.0.0.1:1")
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "wss://127.0.0.1:1", failed.Address)
}

// TestOtherRequestsGetNoLink sends requests of HTTP to a port.
func TestOtherRequestsGetNoLink(t *testing.T) {
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") })
	o := peer.Options{Listen: "ws://127.0.0.1:0", Secret: secret}
	port := serveBy(t, o, peer.Service{Link: echo, Metrics: metrics})
	url := "http" + strings.TrimPrefix(port.Address(), "ws")
	for _, c := range []struct {
		path, header, value string
		status              int
		body                string
	}{
		{"/metrics", "Accept", "*/*", 200, "up 1"},
		{"/metrics", "Origin", "http://evil", 403, "Origin"},
		{"/healthz", "Accept", "*/*", 200, ""},
		{"/", "Accept", "*/*", 401, "secret"},
		{"/", "Authorization", "Bearer " + secret + "x", 401, "secret"},
		{"/", "Authorization", "Bearer " + secret, 426, "WebSocket"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+c.path, nil)
		require.NoError(t, err)
		request.Header.Set(c.header, c.value)
		request.Close = true
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, errors.Join(err, answer.Body.Close()))
		require.Equal(t, c.status, answer.StatusCode, "%s %s", c.path, c.value)
		require.Contains(t, string(body), c.body)
	}
}

// TestARenewedCertificateNeedsNoRestart replaces the files of a certificate while a port is open.
func TestARenewedCertificateNeedsNoRestart(t *testing.T) {
	old, renewed := apptest.NewAuthority(t), apptest.NewAuthority(t)
	o := options(t, old)
	port, client := serve(t, o), serve(t, options(t, renewed))
	_, err := client.Dial(t.Context(), port.Address())
	require.ErrorContains(t, err, "certificate is not accepted")
	cert, key := renewed.Issue(t, "127.0.0.1", -hour, hour)
	require.NoError(t, errors.Join(os.Rename(cert, o.Cert), os.Rename(key, o.Key)))
	exchange(t, dial(t, client, port), "hello")
}

// TestUnusableOptionsAreRefused names the key, the cause and the next action.
func TestUnusableOptionsAreRefused(t *testing.T) {
	a := apptest.NewAuthority(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, taken.Close()) }()
	certificate := func(host string, from, until time.Duration) func(*peer.Options) {
		return func(o *peer.Options) { o.Cert, o.Key = a.Issue(t, host, from, until) }
	}
	for name, c := range map[string]struct {
		change func(*peer.Options)
		want   string
	}{
		"no URL":          {func(o *peer.Options) { o.Listen = "10.0.0.7:4600" }, "fleet.listen: .*not an address.*wss://HOST:PORT"},
		"a page":          {func(o *peer.Options) { o.Listen = "https://10.0.0.7:4600" }, "fleet.listen: .*not an address"},
		"a path":          {func(o *peer.Options) { o.Listen = "wss://10.0.0.7:4600/x" }, "fleet.listen: .*not an address"},
		"no port":         {func(o *peer.Options) { o.Listen = "wss://10.0.0.7" }, "fleet.listen: .*has no port"},
		"all addresses":   {func(o *peer.Options) { o.Listen = "wss://0.0.0.0:4600" }, "fleet.address: other nodes cannot dial"},
		"no host":         {func(o *peer.Options) { o.Listen = "wss://:4600" }, "fleet.address: other nodes cannot dial"},
		"no real address": {func(o *peer.Options) { o.Address = "wss://[::]:4600" }, "fleet.address: other nodes cannot dial"},
		"a plain address": {func(o *peer.Options) { o.Address = "ws://127.0.0.1:4600" }, "fleet.address: .*uses TLS"},
		"port 0":          {func(o *peer.Options) { o.Address = "wss://127.0.0.1:0" }, "fleet.address: .*has no port"},
		"no secret":       {func(o *peer.Options) { o.Secret = "" }, "fleet.secret_env: .*FLEET is not set.*openssl"},
		"a short secret":  {func(o *peer.Options) { o.Secret = secret[1:] }, "fleet.secret_env: .*31 characters"},
		"no certificate":  {func(o *peer.Options) { o.Cert = "" }, "fleet.cert: no file is set"},
		"no key":          {func(o *peer.Options) { o.Key = "" }, "fleet.key: no file is set"},
		"a missing file":  {func(o *peer.Options) { o.Key += "x" }, "fleet.key: the file cannot be read"},
		"another pair":    {func(o *peer.Options) { o.Key = options(t, a).Key }, "fleet.cert: .*not a certificate and its key"},
		"expired":         {certificate("127.0.0.1", -hour, -time.Minute), "fleet.cert: the certificate expired.*renew"},
		"not yet valid":   {certificate("127.0.0.1", time.Minute, hour), "fleet.cert: .*not valid before.*clock"},
		"another host":    {certificate("node-b", -hour, hour), "fleet.cert: .*not for the host 127.0.0.1"},
		"no authorities":  {func(o *peer.Options) { o.CA += "x" }, "fleet.ca: the file cannot be read"},
		"a key for them":  {func(o *peer.Options) { o.CA = o.Key }, "fleet.ca: .*has no certificate"},
		"another one":     {func(o *peer.Options) { o.CA = apptest.NewAuthority(t).File }, "fleet.cert: no authority in .* has signed"},
		"those of the OS": {func(o *peer.Options) { o.CA = "" }, "fleet.cert: no authority of the system.*fleet.ca"},
		"useless files":   {func(o *peer.Options) { o.Listen = "ws://127.0.0.1:0" }, "fleet.listen: .*has no TLS, but fleet.cert"},
		"a taken port":    {func(o *peer.Options) { o.Listen = "wss://" + taken.Addr().String() }, "fleet.listen: .*cannot be bound.*another port"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, a)
			c.change(&o)
			_, err := peer.Open(o)
			var refused *peer.OptionError
			require.ErrorAs(t, err, &refused)
			require.Regexp(t, c.want, err.Error())
		})
	}
}
