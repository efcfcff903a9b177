package login_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/mcp/credentials"
	"appserver/core/effects/mcp/login"
	"appserver/test/apptest"
)

// rig is a service that requires logins, and a home.
type rig struct {
	*testing.T
	service *apptest.LoginService
	home    string
	logins  *login.Logins
	server  login.Server
}

func newRig(t *testing.T) *rig {
	r := &rig{T: t, service: apptest.StartLoginService(t), home: t.TempDir()}
	r.logins = r.process()
	r.server = login.Server{Name: "docs", URL: r.service.Address()}
	return r
}

// process returns the logins as another process of the same home has them.
func (r *rig) process() *login.Logins {
	return login.New(login.Options{Store: credentials.New(r.home, credentials.File)})
}

func (r *rig) begin() *login.Attempt {
	r.Helper()
	a, err := r.logins.Begin(context.Background(), r.server, nil, 0)
	require.NoError(r, err)
	r.Cleanup(a.Cancel)
	return a
}

// visit opens an address as a browser, and returns the status and the page.
func (r *rig) visit(address string) (int, string) {
	r.Helper()
	response, err := http.Get(address)
	require.NoError(r, err)
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	require.NoError(r, err)
	return response.StatusCode, string(page)
}

// consent opens an address and returns the one that the authorization server sends the browser to.
func (r *rig) consent(address string) *url.URL {
	r.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Get(address)
	require.NoError(r, err)
	response.Body.Close()
	to, err := response.Location()
	require.NoError(r, err)
	return to
}

// login completes a login.
func (r *rig) login() {
	r.Helper()
	a := r.begin()
	status, page := r.visit(a.URL)
	require.Equal(r, http.StatusOK, status, page)
	require.NoError(r, a.Wait())
}

// get requests the MCP server with the login.
func (r *rig) get(l *login.Logins) (int, error) {
	return r.request(l, r.server.URL)
}

func (r *rig) request(l *login.Logins, address string) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	body := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	require.NoError(r, err)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	response, err := l.Transport(r.server, http.DefaultTransport).RoundTrip(q)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	return response.StatusCode, nil
}

// stored returns the file with logins, or "".
func (r *rig) stored() string {
	text, err := os.ReadFile(filepath.Join(r.home, ".credentials.json"))
	if os.IsNotExist(err) {
		return ""
	}
	require.NoError(r, err)
	return string(text)
}

func (r *rig) requireLogin(err error, again bool) {
	r.Helper()
	var required *login.RequiredError
	require.ErrorAs(r, err, &required)
	require.Equal(r, again, required.Again)
	require.Contains(r, err.Error(), "run `appserver mcp login docs`")
}
