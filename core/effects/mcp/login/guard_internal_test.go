package login

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"appserver/platform/httpclient"

	"github.com/stretchr/testify/require"
)

func TestAServerOfTheInternetCannotNameInternalAddresses(t *testing.T) {
	l := New(Options{})
	g, err := l.guardOf(Server{Name: "docs", URL: "https://mcp.example/mcp"})
	require.NoError(t, err)
	for _, address := range []string{"http://127.0.0.1/", "https://127.0.0.1/", "https://localhost/", "https://LOCALHOST./",
		"https://10.1.2.3/", "https://172.16.0.1/", "https://192.168.1.1/", "https://169.254.169.254/latest", "https://100.64.0.1/",
		"https://0.0.0.0/", "https://[::1]/", "https://[::]/", "https://[fe80::1]/", "https://[fe80::1%25eth0]/", "https://[fd00::1]/",
		"https://[::ffff:127.0.0.1]/", "https://[64:ff9b::7f00:1]/", "https://[2002:7f00:1::]/", "https://224.0.0.1/",
		"http://example.com/", "javascript:alert(1)", "file:///x", "https:opaque", "https://user:pass@example.com/", "//example.com", ""} {
		_, err := g.check(address)
		require.Error(t, err, address)
	}
	for _, address := range []string{"https://example.com/", "https://8.8.8.8/", "https://[2606:4700::1]/", "https://mcp.example:8443/x"} {
		_, err := g.check(address)
		require.NoError(t, err, address)
	}
}

// TestNamesThatResolveToInternalAddressesAreNotRequested uses a name that the check by text accepts.
func TestNamesThatResolveToInternalAddressesAreNotRequested(t *testing.T) {
	_, err := dialPublic(t.Context(), "tcp", "localhost:1")
	require.ErrorContains(t, err, "loopback, private or link-local")
	l := New(Options{HTTP: httpclient.New(func(string) string { return "" }).Transport()})
	g, err := l.guardOf(Server{Name: "docs", URL: "https://mcp.example/mcp"})
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://127.0.0.1.nip.invalid/", nil)
	require.NoError(t, err)
	_, err = g.RoundTrip(r)
	require.Error(t, err)
}

func TestInternalRangesHaveTheirBorders(t *testing.T) {
	for text, internal := range map[string]bool{"100.63.255.255": false, "100.64.0.0": true, "100.127.255.255": true,
		"100.128.0.0": false, "172.15.0.1": false, "172.31.0.1": true, "172.32.0.1": false, "0.1.2.3": true, "1.0.0.1": false} {
		require.Equal(t, internal, isInternal(netip.MustParseAddr(text)), text)
	}
}

func TestCleanedTextsHaveNoControlCharacters(t *testing.T) {
	require.Equal(t, "a [31mb c", clean("a\x1b[31mb\r\nc\x00"))
	require.Equal(t, "a b", clean("a\u202eb"), "characters that change the direction are removed")
	require.Equal(t, "a\uFFFDb", clean("a\xffb"))
	require.LessOrEqual(t, len(clean(strings.Repeat("é", 1000))), maxText+len("…"))
}

func TestResourcesCoverTheirServer(t *testing.T) {
	for resource, want := range map[string]bool{"https://a.example/x/mcp": true, "https://a.example/x/mcp/": true,
		"https://a.example/x": true, "https://a.example": true, "https://a.example/": true, "https://A.example:443/x/mcp": true,
		"https://a.example/x/mc": false, "https://a.example/x/mcp/y": false, "http://a.example/x/mcp": false,
		"https://b.example/x/mcp": false, "https://a.example:444/x/mcp": false, "https://u@a.example/x/mcp": false,
		"https://a.example/x/mcp#f": false, "https://a.example/x/mcp?q": false, "": false} {
		u, err := http.NewRequest(http.MethodGet, "https://a.example/x/mcp", nil)
		require.NoError(t, err)
		require.Equal(t, want, covers(resource, u.URL), resource)
	}
}

// The ids are those of the reference implementation.
func TestCallbackIDsAreThoseOfTheReferenceImplementation(t *testing.T) {
	require.Equal(t, "9biCUt7SMRWF", callbackID("http://127.0.0.1:9/mcp"))
}
