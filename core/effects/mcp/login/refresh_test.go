package login_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/core/effects/mcp/credentials"
	"appserver/core/effects/mcp/login"
	"appserver/platform/disk"
)

func (r *rig) entry() gjson.Result {
	for _, e := range gjson.Parse(r.stored()).Map() {
		return e
	}
	return gjson.Result{}
}

func TestExpiredTokensAreRefreshedBeforeTheRequest(t *testing.T) {
	r := newRig(t)
	r.service.Lifetime = 20 * time.Second // less than the leeway
	r.login()
	before := r.entry()
	r.service.Lifetime = time.Hour
	rejected := r.service.Count("/mcp", 0)
	_, err := r.get(r.process())
	require.NoError(t, err)
	require.Equal(t, 1, r.service.Count("refresh_token", 0))
	require.Equal(t, rejected+2, r.service.Count("/mcp", 0), "one request finds the authorization server, one has the new token")
	after := r.entry()
	require.NotEqual(t, before.Get("access_token").Str, after.Get("access_token").Str)
	require.NotEqual(t, before.Get("refresh_token").Str, after.Get("refresh_token").Str, "the rotated token is stored")
	require.Equal(t, before.Get("client_id").Str, after.Get("client_id").Str)
	_, err = r.get(r.logins)
	require.NoError(t, err)
}

func TestRevokedAccessTokensAreRefreshedOnce(t *testing.T) {
	r := newRig(t)
	r.login()
	r.service.Expire()
	_, err := r.get(r.logins)
	require.NoError(t, err)
	require.Equal(t, 1, r.service.Count("refresh_token", 0))
	require.Equal(t, r.server.URL, r.service.Forms()[1]["resource"])
}

func TestRejectedRefreshTokensAreRemoved(t *testing.T) {
	r := newRig(t)
	r.login()
	before := r.entry()
	r.service.Revoke()
	_, err := r.get(r.logins)
	r.requireLogin(err, true)
	require.NotContains(t, r.stored(), before.Get("access_token").Str)
	require.NotContains(t, r.stored(), before.Get("refresh_token").Str)
	require.Equal(t, login.StatusNotLoggedIn, r.logins.Status(t.Context(), r.server))
	_, err = r.get(r.process())
	r.requireLogin(err, true)
	require.Equal(t, 1, r.service.Count("refresh_token", 0), "a rejected token is not sent again")
	r.login()
	_, err = r.get(r.logins)
	require.NoError(t, err)
}

// TestReusedRefreshTokensEndTheLogin uses the first refresh token after it was replaced, as a thief would.
func TestReusedRefreshTokensEndTheLogin(t *testing.T) {
	r := newRig(t)
	r.login()
	old := r.stored()
	r.service.Expire()
	_, err := r.get(r.logins)
	require.NoError(t, err)

	thief := *r
	thief.home = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(thief.home, ".credentials.json"), []byte(old), 0o600))
	_, err = r.get(thief.process())
	r.requireLogin(err, true)
	require.Equal(t, 1, r.service.Count("reuse", 0))
	_, err = r.get(r.process())
	r.requireLogin(err, true)
}

func TestFailuresOfTheTokenEndpointKeepTheLogin(t *testing.T) {
	r := newRig(t)
	r.login()
	before := r.stored()
	r.service.Expire()
	r.service.Handle = func(w http.ResponseWriter, q *http.Request) bool {
		if q.URL.Path == "/token" {
			http.Error(w, "refresh-token-of-somebody", http.StatusServiceUnavailable)
		}
		return q.URL.Path == "/token"
	}
	_, err := r.get(r.logins)
	require.ErrorContains(t, err, "the token endpoint answered with the status 503")
	require.NotContains(t, err.Error(), "somebody")
	require.Equal(t, before, r.stored())
	r.service.Handle = nil
	_, err = r.get(r.logins)
	require.NoError(t, err)
}

// TestProcessesRefreshOnce lets several processes find an expired token at once. A second use of the refresh
// token would revoke the login.
func TestProcessesRefreshOnce(t *testing.T) {
	r := newRig(t)
	r.login()
	r.service.Expire()
	var all sync.WaitGroup
	failures := make(chan error, 20)
	for range 4 {
		l := r.process()
		for range 5 {
			all.Go(func() {
				if _, err := r.get(l); err != nil {
					failures <- err
				}
			})
		}
	}
	all.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
	require.Equal(t, 1, r.service.Count("refresh_token", 0))
	require.Zero(t, r.service.Count("reuse", 0))
}

// TestTokensAreDurableBeforeTheirUse makes the home read-only, so that new tokens cannot be stored.
func TestTokensAreDurableBeforeTheirUse(t *testing.T) {
	r := newRig(t)
	r.login()
	r.service.Expire()
	l := r.process()
	_, err := l.Store.Load(r.server.Name, r.server.URL)
	require.NoError(t, err)
	// A folder in place of the temporary file lets each write fail, also for root.
	require.NoError(t, os.MkdirAll(filepath.Join(r.home, ".credentials.json.tmp", "x"), 0o700))
	used := r.service.Count("/mcp", 0)
	_, err = r.get(l)
	require.ErrorContains(t, err, "the new tokens cannot be stored")
	require.Equal(t, used+2, r.service.Count("/mcp", 0), "no request has the new token")
}

func TestTokensOfAnotherIssuerAreNotSentToANewOne(t *testing.T) {
	r := newRig(t)
	r.login()
	path := filepath.Join(r.home, ".credentials.json")
	require.NoError(t, os.WriteFile(path,
		[]byte(strings.Replace(r.stored(), `"issuer":"`+r.service.URL, `"issuer":"https://first.example`, 1)), 0o600))
	r.service.Expire()
	_, err := r.get(r.process())
	require.ErrorContains(t, err, "https://first.example issued the login")
	require.Zero(t, r.service.Count("refresh_token", 0))
}

func TestTooFewScopesAreStated(t *testing.T) {
	r := newRig(t)
	r.server.Scopes = []string{"read"}
	r.login()
	r.service.Scope = "write"
	_, err := r.get(r.logins)
	var scopes *login.ScopeError
	require.ErrorAs(t, err, &scopes)
	require.ErrorContains(t, err, "run `appserver mcp login docs --scopes write`")
	require.Zero(t, r.service.Count("refresh_token", 0))
}

// TestTokensGoToTheirServerOnly sends requests for the origin of another server, and for another server of the
// same name.
func TestTokensGoToTheirServerOnly(t *testing.T) {
	r := newRig(t)
	r.login()
	other := newRig(t)
	seen := ""
	other.service.Handle = func(w http.ResponseWriter, q *http.Request) bool {
		seen += q.Header.Get("Authorization")
		return false
	}
	_, err := r.request(r.logins, other.service.Address())
	require.NoError(t, err)
	r.server.URL = other.service.Address()
	_, err = r.get(r.logins)
	r.requireLogin(err, false)
	require.Empty(t, seen)
}

func TestErrorsHaveNoTokens(t *testing.T) {
	r := newRig(t)
	r.login()
	entry := r.entry()
	r.service.Expire()
	r.service.Handle = func(w http.ResponseWriter, q *http.Request) bool {
		if q.URL.Path != "/token" {
			return false
		}
		_ = q.ParseForm()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_request","token":"` + q.PostForm.Get("refresh_token") + `"}`))
		return true
	}
	_, err := r.get(r.logins)
	require.ErrorContains(t, err, "invalid_request")
	for _, secret := range []string{entry.Get("access_token").Str, entry.Get("refresh_token").Str} {
		require.NotEmpty(t, secret)
		require.NotContains(t, err.Error(), secret)
	}
}

// TestKeyringFailuresAreStated demands a keyring that is missing.
func TestKeyringFailuresAreStated(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
	r := newRig(t)
	_, err := r.get(login.New(login.Options{Store: credentials.New(r.home, credentials.Keyring)}))
	require.ErrorContains(t, err, "cannot be read")
	require.False(t, errors.As(err, new(*login.RequiredError)))
	require.Equal(t, login.StatusUnknown,
		login.New(login.Options{Store: credentials.New(r.home, credentials.Keyring)}).Status(t.Context(), r.server))
}

// fullDisk is a disk on which no file can be made while full is set. It overrides OpenFile.
type fullDisk struct {
	disk.FS
	full atomic.Bool
}

// OpenFile rejects files for writing, other than locks.
func (d *fullDisk) OpenFile(name string, flag int, perm os.FileMode) (disk.File, error) {
	if d.full.Load() && flag&os.O_CREATE != 0 && !strings.HasSuffix(name, ".lock") {
		return nil, errors.New("no space left on device")
	}
	return d.FS.OpenFile(name, flag, perm)
}

// TestTokensOfARefreshSurviveAFullDisk: the authorization server accepts a refresh token once, so tokens that could not
// be stored are stored by the next request.
func TestTokensOfARefreshSurviveAFullDisk(t *testing.T) {
	r := newRig(t)
	d := &fullDisk{FS: disk.OS()}
	r.logins = login.New(login.Options{Store: credentials.New(r.home, credentials.File).On(d)})
	r.login()
	r.service.Expire()
	d.full.Store(true)
	for range 2 {
		_, err := r.get(r.logins)
		require.ErrorContains(t, err, "no space left")
	}
	d.full.Store(false)
	_, err := r.get(r.logins)
	require.NoError(t, err)
	require.Equal(t, 1, r.service.Count("refresh_token", 0))
	_, err = r.get(r.process())
	require.NoError(t, err, "other processes have the tokens")
}
