package login_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/mcp/credentials"
	"appserver/core/effects/mcp/login"
	"appserver/test/apptest"
)

func TestLoginGivesAccess(t *testing.T) {
	r := newRig(t)
	_, err := r.get(r.logins)
	r.requireLogin(err, false)
	require.Equal(t, login.StatusNotLoggedIn, r.logins.Status(context.Background(), r.server))
	r.login()
	status, err := r.get(r.logins)
	require.NoError(t, err)
	require.NotEqual(t, http.StatusUnauthorized, status)
	require.Equal(t, login.StatusOAuth, r.logins.Status(context.Background(), r.server))

	form := r.service.Forms()[0]
	require.Equal(t, r.server.URL, form["resource"])
	require.NotEmpty(t, form["code_verifier"])
	require.True(t, strings.HasPrefix(form["redirect_uri"], "http://127.0.0.1:"), form["redirect_uri"])

	removed, err := r.logins.Logout(r.server)
	require.NoError(t, err)
	require.True(t, removed)
	_, err = r.get(r.logins)
	r.requireLogin(err, false)
}

func TestScopesAreThoseOfTheRequestThenOfTheConfigurationThenOfTheServer(t *testing.T) {
	r := newRig(t)
	r.service.Scope = "server.read"
	scope := func(given []string) string {
		a, err := r.logins.Begin(context.Background(), r.server, given, 0)
		require.NoError(t, err)
		defer a.Cancel()
		u, err := url.Parse(a.URL)
		require.NoError(t, err)
		return u.Query().Get("scope")
	}
	require.Equal(t, "server.read", scope(nil))
	r.server.Scopes = []string{"configured"}
	require.Equal(t, "configured", scope(nil))
	require.Equal(t, "a b", scope([]string{"a", "b"}))
}

func TestConfiguredClientIsUsed(t *testing.T) {
	r := newRig(t)
	r.service.AddClient("mine", "secret-of-mine")
	r.server.ClientID, r.server.ClientSecret = "mine", "secret-of-mine"
	r.login()
	require.Zero(t, r.service.Count("/register", 0))
	require.NotContains(t, r.stored(), "secret-of-mine")
	r.service.Expire()
	_, err := r.get(r.process())
	require.NoError(t, err, "the refresh has the secret of the configuration")

	r.server.ClientID = "another"
	_, err = r.get(r.process())
	r.requireLogin(err, true)
}

func TestSecretOfARegistrationServesRefreshes(t *testing.T) {
	r := newRig(t)
	r.service.Secrets = true
	r.login()
	r.service.Expire()
	_, err := r.get(r.process())
	require.NoError(t, err)
}

func TestServersWithoutRegistrationNeedAClientID(t *testing.T) {
	r := newRig(t)
	r.service.Change = func(path string, d map[string]any) { delete(d, "registration_endpoint") }
	_, err := r.logins.Begin(context.Background(), r.server, nil, 0)
	require.ErrorContains(t, err, "set client_id below [mcp_servers.docs.oauth]")
}

// TestMetadataThatCannotBeTrustedAreRefused changes one document in each case.
func TestMetadataThatCannotBeTrustedAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		path, member string
		value        any
		want         string
	}{
		"resource of another server":  {"oauth-protected-resource", "resource", "https://other.example/mcp", "are of the resource https://other.example/mcp"},
		"resource beside the server":  {"oauth-protected-resource", "resource", "SELF/mc", "are of the resource"},
		"no authorization server":     {"oauth-protected-resource", "authorization_servers", []string{}, "offers no login"},
		"another issuer":              {"oauth-authorization-server", "issuer", "https://other.example", "so they are not used"},
		"no issuer":                   {"oauth-authorization-server", "issuer", "", "so they are not used"},
		"no S256":                     {"oauth-authorization-server", "code_challenge_methods_supported", []string{"plain"}, "does not support PKCE with S256"},
		"no challenge method":         {"oauth-authorization-server", "code_challenge_methods_supported", []string{}, "does not support PKCE with S256"},
		"script to open":              {"oauth-authorization-server", "authorization_endpoint", "javascript:alert(1)", "authorization_endpoint"},
		"file to open":                {"oauth-authorization-server", "authorization_endpoint", "file:///etc/passwd", "authorization_endpoint"},
		"plain HTTP":                  {"oauth-authorization-server", "token_endpoint", "http://example.com/token", "does not use https"},
		"no token endpoint":           {"oauth-authorization-server", "token_endpoint", "", "token_endpoint"},
		"private address":             {"oauth-authorization-server", "token_endpoint", "https://10.0.0.1/token", "loopback, private or link-local"},
		"address of cloud metadata":   {"oauth-protected-resource", "authorization_servers", []string{"https://169.254.169.254"}, "loopback, private or link-local"},
		"mapped address":              {"oauth-protected-resource", "authorization_servers", []string{"https://[::ffff:192.168.0.1]"}, "loopback, private or link-local"},
		"issuer with a user":          {"oauth-protected-resource", "authorization_servers", []string{"https://a@b.example"}, "has a user name"},
		"issuer with another scheme":  {"oauth-protected-resource", "authorization_servers", []string{"ftp://b.example"}, "does not use https"},
		"issuer that is not a string": {"oauth-protected-resource", "authorization_servers", "x", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.service.Change = func(path string, d map[string]any) {
				if strings.Contains(path, c.path) {
					d[c.member] = c.value
					if text, ok := c.value.(string); ok {
						d[c.member] = strings.Replace(text, "SELF", r.service.URL, 1)
					}
				}
			}
			a, err := r.logins.Begin(context.Background(), r.server, nil, 0)
			if c.want == "" { // the document counts as missing, and the server is its own authorization server
				require.NoError(t, err)
				a.Cancel()
				return
			}
			require.ErrorContains(t, err, c.want)
			require.Zero(t, r.service.Count("/register", 0))
		})
	}
}

func TestUndeclaredChallengeMethodsAreAccepted(t *testing.T) {
	r := newRig(t)
	r.service.Change = func(_ string, d map[string]any) { delete(d, "code_challenge_methods_supported") }
	r.login()
}

func TestOpenIDConfigurationIsAFallback(t *testing.T) {
	r := newRig(t)
	r.service.Handle = func(w http.ResponseWriter, q *http.Request) bool {
		switch q.URL.Path {
		case "/.well-known/oauth-authorization-server":
			http.NotFound(w, q)
			return true
		case "/.well-known/openid-configuration":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":%[2]q,"token_endpoint":%[3]q,"registration_endpoint":%[4]q}`,
				r.service.URL, r.service.URL+"/authorize", r.service.URL+"/token", r.service.URL+"/register")
			return true
		}
		return false
	}
	r.login()
}

// TestMetadataOfTheRootAreFound serves no metadata at the path of the server, and no challenge names them.
func TestMetadataOfTheRootAreFound(t *testing.T) {
	r := newRig(t)
	r.service.Handle = func(w http.ResponseWriter, q *http.Request) bool {
		switch {
		case q.URL.Path == "/mcp" && q.Method == http.MethodGet:
			w.WriteHeader(http.StatusUnauthorized)
			return true
		case q.URL.Path == "/.well-known/oauth-protected-resource/mcp":
			http.NotFound(w, q)
			return true
		case q.URL.Path == "/.well-known/oauth-protected-resource":
			fmt.Fprintf(w, `{"resource":%q,"authorization_servers":[%[1]q]}`, r.service.URL)
			return true
		}
		return false
	}
	a := r.begin()
	u, err := url.Parse(a.URL)
	require.NoError(t, err)
	require.Equal(t, r.service.URL, u.Query().Get("resource"))
}

func TestServersWithoutMetadataOfferNoLogin(t *testing.T) {
	r := newRig(t)
	r.service.Handle = func(w http.ResponseWriter, q *http.Request) bool {
		http.NotFound(w, q)
		return true
	}
	_, err := r.logins.Begin(context.Background(), r.server, nil, 0)
	require.ErrorContains(t, err, "no login is offered")
	require.Equal(t, login.StatusUnsupported, r.logins.Status(context.Background(), r.server))
	r.service.Close()
	require.Equal(t, login.StatusUnknown, r.logins.Status(context.Background(), r.server))
}

// TestResponsesAreBounded sends metadata without an end.
func TestResponsesAreBounded(t *testing.T) {
	r := newRig(t)
	r.service.Handle = func(w http.ResponseWriter, q *http.Request) bool {
		if !strings.HasPrefix(q.URL.Path, "/.well-known/") {
			return false
		}
		_, _ = w.Write([]byte(`{"resource":"`))
		for chunk := strings.Repeat("x", 1<<16); ; {
			if _, err := w.Write([]byte(chunk)); err != nil {
				return true
			}
		}
	}
	_, err := r.logins.Begin(context.Background(), r.server, nil, 0)
	require.ErrorContains(t, err, "too large")
}

func TestRedirectsToOtherHostsAreNotFollowed(t *testing.T) {
	r := newRig(t)
	other := apptest.StartLoginService(t)
	for _, path := range []string{"/.well-known/oauth-protected-resource/mcp", "/register", "/token"} {
		r.service.Handle = func(w http.ResponseWriter, q *http.Request) bool {
			if q.URL.Path == path {
				http.Redirect(w, q, other.URL+path, http.StatusTemporaryRedirect)
			}
			return q.URL.Path == path
		}
		a, err := r.logins.Begin(context.Background(), r.server, nil, 0)
		if err == nil {
			r.visit(a.URL)
			err = a.Wait()
		}
		require.Error(t, err, path)
		require.Zero(t, other.Count(path, 0))
	}
}

func TestPlainHTTPElsewhereGetsNoLogin(t *testing.T) {
	r := newRig(t)
	r.server.URL = "http://mcp.example/mcp"
	_, err := r.logins.Begin(context.Background(), r.server, nil, 0)
	require.ErrorContains(t, err, "does not use https")
}

func TestAConfiguredTokenExcludesALogin(t *testing.T) {
	r := newRig(t)
	r.server.Headers = map[string]string{"authorization": "Bearer x"}
	_, err := r.logins.Begin(context.Background(), r.server, nil, 0)
	require.ErrorContains(t, err, "has a token in its configuration")
	require.Equal(t, login.StatusBearerToken, r.logins.Status(context.Background(), r.server))
}

func TestRefusalsAreShownCleaned(t *testing.T) {
	r := newRig(t)
	r.service.Deny = "access_denied"
	a := r.begin()
	status, page := r.visit(a.URL)
	require.Equal(t, http.StatusBadRequest, status)
	require.NotContains(t, page, "refused", "nothing of the address is on the page")
	err := a.Wait()
	require.ErrorContains(t, err, "access_denied: the user <b>refused</b> [31m")
	require.NotContains(t, err.Error(), "\x1b")
	require.Empty(t, r.stored())
}

// TestStolenAndForeignCodesAreRejected brings addresses of other logins to an attempt, which then continues.
func TestStolenAndForeignCodesAreRejected(t *testing.T) {
	r := newRig(t)
	a := r.begin()
	other := *r
	other.home = t.TempDir()
	other.logins = other.process()
	b := other.begin()
	stolen := r.consent(b.URL).Query().Get("code")

	at, err := url.Parse(a.Redirect)
	require.NoError(t, err)
	for name, query := range map[string]string{"no state": "code=" + stolen, "wrong state": "state=x&code=" + stolen,
		"error without state": "error=access_denied", "state of another login": r.consent(b.URL).RawQuery,
		"two codes": "code=a&" + r.consent(a.URL).RawQuery, "nothing": ""} {
		at.RawQuery = query
		status, page := r.visit(at.String())
		require.Equal(t, http.StatusBadRequest, status, name)
		require.NotContains(t, page, stolen)
	}
	at.Path += "x"
	status, _ := r.visit(at.String())
	require.Equal(t, http.StatusNotFound, status)
	require.Empty(t, r.stored())

	status, page := r.visit(a.URL)
	require.Equal(t, http.StatusOK, status, page)
	require.NoError(t, a.Wait(), "the attempt continued")
}

// TestCodeOfAnotherSessionDoesNotFitTheVerifier puts a code of another login into the address of this one.
func TestCodeOfAnotherSessionDoesNotFitTheVerifier(t *testing.T) {
	r := newRig(t)
	a := r.begin()
	other := *r
	other.home = t.TempDir()
	other.logins = other.process()
	stolen := r.consent(other.begin().URL).Query().Get("code")
	to := r.consent(a.URL)
	query := to.Query()
	query.Set("code", stolen)
	to.RawQuery = query.Encode()
	status, page := r.visit(to.String())
	require.Equal(t, http.StatusBadRequest, status)
	require.NotContains(t, page, "alert")
	err := a.Wait()
	require.ErrorContains(t, err, "invalid_grant")
	require.NotContains(t, err.Error(), "\x1b")
	require.NotContains(t, err.Error(), stolen)
	require.Equal(t, 1, r.service.Count("mismatch", 0))
	require.Empty(t, r.stored())
}

func TestIssuersAreNotMixedUp(t *testing.T) {
	for name, c := range map[string]struct{ issuer, want string }{
		"another issuer":  {"https://evil.example", "the response is of the authorization server https://evil.example"},
		"missing issuer":  {"", "does not name it"},
		"expected issuer": {"SELF", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.service.Issuer = "declared"
			a := r.begin()
			r.service.Issuer = strings.Replace(c.issuer, "SELF", r.service.URL, 1)
			r.visit(a.URL)
			if c.want == "" {
				require.NoError(t, a.Wait())
				return
			}
			require.ErrorContains(t, a.Wait(), c.want)
			require.Zero(t, r.service.Count("/token", 0), "the code is not sent")
		})
	}
}

func TestALoginEndsAfterItsTime(t *testing.T) {
	r := newRig(t)
	a, err := r.logins.Begin(context.Background(), r.server, nil, 2*time.Second) // long enough to begin on a slow machine
	require.NoError(t, err)
	require.ErrorContains(t, a.Wait(), "timed out")
	at, err := url.Parse(a.Redirect)
	require.NoError(t, err)
	_, err = net.Dial("tcp", at.Host)
	require.Error(t, err, "the port is closed")
}

func TestALoginCanBeCancelled(t *testing.T) {
	r := newRig(t)
	a := r.begin()
	a.Cancel()
	require.ErrorContains(t, a.Wait(), "cancelled")
	ctx, cancel := context.WithCancel(context.Background())
	b, err := r.logins.Begin(ctx, r.server, nil, 0)
	require.NoError(t, err)
	cancel()
	require.ErrorContains(t, b.Wait(), "cancelled")
}

func TestANewerLoginReplacesAnOlderOne(t *testing.T) {
	r := newRig(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r.server.CallbackPort = l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())
	a := r.begin()
	r.login()
	require.ErrorContains(t, a.Wait(), "replaced by a newer one")
}

func TestAPortInUseIsAnError(t *testing.T) {
	r := newRig(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	r.server.CallbackPort = l.Addr().(*net.TCPAddr).Port
	_, err = r.logins.Begin(context.Background(), r.server, nil, 0)
	require.ErrorContains(t, err, "set another mcp_oauth_callback_port")
	require.Zero(t, r.service.Count("/register", 0))
}

// TestConfiguredCallbackURLs compares the paths with those of the reference implementation.
func TestConfiguredCallbackURLs(t *testing.T) {
	r := newRig(t)
	r.server.CallbackURL = "https://relay.example/oauth/callback"
	a := r.begin()
	require.True(t, strings.HasPrefix(a.Redirect, "https://relay.example/oauth/callback/"), a.Redirect)
	r.server.ExactCallback = true
	require.Equal(t, "https://relay.example/oauth/callback", r.begin().Redirect)
	r.server.CallbackURL = "http://127.0.0.1/callback/x"
	require.Regexp(t, `^http://127\.0\.0\.1:[0-9]+/callback/x$`, r.begin().Redirect)
	r.server.CallbackURL = "custom://x"
	_, err := r.logins.Begin(context.Background(), r.server, nil, 0)
	require.ErrorContains(t, err, "callback URL must use https")
}

func TestAPastedAddressCompletesALogin(t *testing.T) {
	r := newRig(t)
	a := r.begin()
	require.Error(t, a.Accept("https://elsewhere.example/?code=x"))
	require.NoError(t, a.Accept(" "+r.consent(a.URL).String()+"\n"))
	require.NoError(t, a.Wait())
}

func TestADemandedKeyringIsNotReplacedByAFile(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
	r := newRig(t)
	r.logins = login.New(login.Options{Store: credentials.New(r.home, credentials.Keyring)})
	a := r.begin()
	r.visit(a.URL)
	require.ErrorContains(t, a.Wait(), "the login cannot be stored")
	require.Empty(t, r.stored())
}
