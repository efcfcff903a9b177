package e2e

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

func authFile(home string) string { return filepath.Join(home, "auth.json") }

// readAuth returns a member of auth.json.
func readAuth(t testing.TB, home, member string) gjson.Result {
	t.Helper()
	text, err := os.ReadFile(authFile(home))
	require.NoError(t, err)
	return gjson.GetBytes(text, member)
}

// visit opens an address as a browser does, and returns the status of the last page.
func visit(t testing.TB, address string) int {
	t.Helper()
	response, err := http.Get(address)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}

func account(c *apptest.Client) gjson.Result {
	c.T.Helper()
	return gjson.ParseBytes(c.Call("account/read", apptest.Object{}))
}

// login starts a login, and returns the response.
func login(c *apptest.Client, params apptest.Object) gjson.Result {
	c.T.Helper()
	return gjson.ParseBytes(c.Call("account/login/start", params))
}

// refusedTurn returns the error of a turn that cannot start.
func refusedTurn(c *apptest.Client) *apptest.RPCError {
	c.T.Helper()
	return c.CallRejected("turn/start", apptest.Object{"threadId": c.StartThread(apptest.Object{}),
		"input": apptest.TextInput("x")})
}

// cancelLogin cancels a login, and returns the status.
func cancelLogin(c *apptest.Client, begun gjson.Result) string {
	c.T.Helper()
	answer := c.Call("account/login/cancel", apptest.Object{"loginId": begun.Get("loginId").Str})
	return gjson.GetBytes(answer, "status").Str
}

// completed returns the params of account/login/completed.
func completed(c *apptest.Client) gjson.Result {
	c.T.Helper()
	return gjson.ParseBytes(c.UntilMethod("account/login/completed").Params)
}

func updated(c *apptest.Client) gjson.Result {
	c.T.Helper()
	return gjson.ParseBytes(c.UntilMethod("account/updated").Params)
}

// TestAuthFileSignsIn uses the file of the reference implementation.
func TestAuthFileSignsIn(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := s.Home(t)
	s.SignIn(t, home, nil)
	c := s.StartServer(t, home)

	require.JSONEq(t, `{"account":{"type":"chatgpt","email":"user@example.com","planType":"plus"},"userId":"user-1",
		"requiresOpenaiAuth":true,"workspaceRouting":null}`, account(c).Raw)
	status := gjson.ParseBytes(c.Call("getAuthStatus", apptest.Object{"includeToken": true}))
	require.Equal(t, "chatgpt", status.Get("authMethod").Str)
	require.Equal(t, readAuth(t, home, "tokens.access_token").Str, status.Get("authToken").Str)
	require.False(t, gjson.ParseBytes(c.Call("getAuthStatus", apptest.Object{})).Get("authToken").Exists() &&
		gjson.ParseBytes(c.Call("getAuthStatus", apptest.Object{})).Get("authToken").Str != "")

	id := c.StartThread(apptest.Object{})
	require.Equal(t, "completed", c.Turn(id, "hello").Status)
	sent := s.Requests("/v1/responses")
	require.Len(t, sent, 1)
	h := sent[0].Header
	require.Equal(t, "Bearer "+readAuth(t, home, "tokens.access_token").Str, h.Get("Authorization"))
	require.Equal(t, "acct-1", h.Get("Chatgpt-Account-Id"))
	require.Equal(t, id, h.Get("Thread-Id"))
	require.NotEmpty(t, h.Get("Originator"))
	require.Zero(t, s.Refreshes())
	models := gjson.ParseBytes(c.Call("model/list", apptest.Object{}))
	require.Equal(t, int64(272000), models.Get("data.0.contextWindow").Int())
	c.Close()
}

// TestRejectedTokensAreRefreshed refreshes the tokens when the provider answers with the status 401.
func TestRejectedTokensAreRefreshed(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := s.Home(t)
	s.SignIn(t, home, apptest.Object{"later": apptest.Object{"n": []any{1.5, nil}}})
	old := readAuth(t, home, "tokens.refresh_token").Str
	s.Expire()
	c := s.StartServer(t, home)
	id := c.StartThread(apptest.Object{})
	require.Equal(t, "completed", c.Turn(id, "hello").Status)
	require.Equal(t, 1, s.Refreshes())

	next := readAuth(t, home, "tokens.refresh_token").Str
	require.NotEqual(t, old, next)
	require.True(t, s.IsCurrent(next))
	require.JSONEq(t, `{"n":[1.5,null]}`, readAuth(t, home, "later").Raw, "members of other programs survive")
	require.Equal(t, "chatgpt", readAuth(t, home, "auth_mode").Str)
	require.Equal(t, gjson.Null, readAuth(t, home, "OPENAI_API_KEY").Type)
	info, err := os.Stat(authFile(home))
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), "only the owner reads it, also after a file of another mode")
	}
	require.Equal(t, "completed", c.Turn(id, "again").Status)
	require.Equal(t, 1, s.Refreshes(), "the new tokens are used")
	c.Close()
}

// TestEndedTokensAreRefreshedFirst refreshes an access token that has ended before a request is rejected.
func TestEndedTokensAreRefreshedFirst(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := s.Home(t)
	s.Lifetime = -time.Minute
	s.SignIn(t, home, nil)
	s.Lifetime = 0
	c := s.StartServer(t, home)
	require.Equal(t, "completed", c.Turn(c.StartThread(apptest.Object{}), "hello").Status)
	require.Len(t, s.Requests("/v1/responses"), 1)
	require.Equal(t, 1, s.Refreshes())
	c.Close()
}

// TestTokensOfOtherProgramsAreUsed uses tokens that another program has stored meanwhile, and does not refresh.
func TestTokensOfOtherProgramsAreUsed(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := s.Home(t)
	s.SignIn(t, home, nil)
	c := s.StartServer(t, home)
	id := c.StartThread(apptest.Object{})
	require.Equal(t, "completed", c.Turn(id, "one").Status)
	s.Expire()
	s.SignIn(t, home, nil)
	require.Equal(t, "completed", c.Turn(id, "two").Status)
	require.Zero(t, s.Refreshes())
	require.NoError(t, os.Remove(authFile(home)))
	require.Equal(t, gjson.Null, account(c).Get("account").Type, "another program has signed out")
	c.Close()
}

// TestRevokedLoginAsksToSignIn fails turns with words for the user, and does not repeat useless requests.
func TestRevokedLoginAsksToSignIn(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := s.Home(t)
	s.SignIn(t, home, nil)
	before, err := os.ReadFile(authFile(home))
	require.NoError(t, err)
	s.Revoke()
	c := s.StartServer(t, home)
	id := c.StartThread(apptest.Object{})
	c.BeginTurn(id, "hello")
	ended := gjson.ParseBytes(c.UntilMethod("turn/completed").Params)
	require.Equal(t, "unauthorized", ended.Get("turn.error.codexErrorInfo").Str)
	require.Contains(t, ended.Get("turn.error.message").Str, "sign in")
	require.Equal(t, gjson.Null, account(c).Get("account").Type)
	require.True(t, account(c).Get("requiresOpenaiAuth").Bool())
	require.Equal(t, "failed", c.Turn(id, "again").Status)
	require.Equal(t, 1, s.Refreshes())
	after, err := os.ReadFile(authFile(home))
	require.NoError(t, err)
	require.Equal(t, string(before), string(after), "the login is left as it is")

	s.SignIn(t, home, nil)
	require.Equal(t, "completed", c.Turn(id, "after a login").Status)
	c.Close()
}

// TestLoginWithKey stores a key, and uses it.
func TestLoginWithKey(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	s.Key = "sk-test-1234567890abcdef"
	home := s.Home(t)
	c := s.StartServer(t, home)
	require.JSONEq(t, `{"account":null,"userId":null,"requiresOpenaiAuth":true,"workspaceRouting":null}`, account(c).Raw)
	require.Contains(t, refusedTurn(c).Message, "sign in")

	require.JSONEq(t, `{"type":"apiKey"}`, login(c, apptest.Object{"type": "apiKey", "apiKey": s.Key}).Raw)
	require.JSONEq(t, `{"loginId":null,"success":true,"error":null,"onboardingEntrypoint":null}`, completed(c).Raw)
	require.JSONEq(t, `{"authMode":"apikey","planType":null,"reason":null}`, updated(c).Raw)
	text, err := os.ReadFile(authFile(home))
	require.NoError(t, err)
	require.JSONEq(t, fmt.Sprintf(`{"auth_mode":"apikey","OPENAI_API_KEY":%q}`, s.Key), string(text))
	require.JSONEq(t, `{"account":{"type":"apiKey"},"userId":null,"requiresOpenaiAuth":true,"workspaceRouting":null}`, account(c).Raw)
	id := c.StartThread(apptest.Object{})
	require.Equal(t, "completed", c.Turn(id, "hello").Status)
	require.Empty(t, s.Requests("/v1/responses")[0].Header.Get("Chatgpt-Account-Id"))
	require.Contains(t, c.CallRejected("account/rateLimits/read", nil).Message, "only ChatGPT accounts")

	s.Reject(true)
	c.BeginTurn(id, "rejected")
	ended := gjson.ParseBytes(c.UntilMethod("turn/completed").Params)
	require.Contains(t, ended.Get("turn.error.message").Str, "Sign in again")
	require.NotContains(t, ended.Raw, s.Key)
	c.Close()
}

// TestLoginInTheBrowser signs in as a user with a browser does.
func TestLoginInTheBrowser(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := s.Home(t)
	require.NoError(t, os.WriteFile(authFile(home), []byte(`{"OPENAI_API_KEY":"sk-older","other":1}`), 0o600))
	c := s.StartServer(t, home)
	begun := login(c, apptest.Object{"type": "chatgpt"})
	require.Equal(t, http.StatusOK, visit(t, begun.Get("authUrl").Str))
	require.JSONEq(t, fmt.Sprintf(`{"loginId":%q,"success":true,"error":null,"onboardingEntrypoint":null}`, begun.Get("loginId").Str),
		completed(c).Raw)
	require.JSONEq(t, `{"authMode":"chatgpt","planType":"plus","reason":null}`, updated(c).Raw)
	require.Equal(t, s.URL, readAuth(t, home, "tokens.oauth_provenance.issuer").Str)
	require.NotEmpty(t, readAuth(t, home, "tokens.login_owner_id").Str)
	require.Equal(t, int64(1), readAuth(t, home, "other").Int())
	require.Equal(t, gjson.Null, readAuth(t, home, "OPENAI_API_KEY").Type)
	require.Equal(t, "completed", c.Turn(c.StartThread(apptest.Object{}), "hello").Status)
	c.Close()
}

// TestBrowserLoginsThatFail reports the reason, and leaves the login before as it is.
func TestBrowserLoginsThatFail(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := s.Home(t)
	s.SignIn(t, home, nil)
	before := readAuth(t, home, "tokens.refresh_token").Str
	c := s.StartServer(t, home)

	s.Deny = "access_denied"
	begun := login(c, apptest.Object{"type": "chatgpt"})
	require.Equal(t, http.StatusBadRequest, visit(t, begun.Get("authUrl").Str))
	end := completed(c)
	require.False(t, end.Get("success").Bool())
	require.Contains(t, end.Get("error").Str, "refused")
	require.NotContains(t, end.Get("error").Str, "\x1b")
	s.Deny = ""

	begun = login(c, apptest.Object{"type": "chatgpt"})
	redirect := gjson.Get(fmt.Sprintf("%q", begun.Get("authUrl").Str), "@this").Str
	redirect = redirect[strings.Index(redirect, "redirect_uri=")+len("redirect_uri="):]
	redirect = strings.NewReplacer("%3A", ":", "%2F", "/").Replace(redirect[:strings.IndexByte(redirect+"&", '&')])
	require.Equal(t, http.StatusBadRequest, visit(t, redirect+"?state=wrong&code=x"), "a page of somebody else")
	replaced := login(c, apptest.Object{"type": "chatgpt"})
	ends := 0
	for _, m := range c.Seen {
		end, id := gjson.ParseBytes(m.Params), begun.Get("loginId").Str
		if m.Method == "account/login/completed" && end.Get("loginId").Str == id {
			require.Contains(t, end.Get("error").Str, "replaced")
			ends++
		}
	}
	require.Equal(t, 1, ends)

	require.Equal(t, "notFound", cancelLogin(c, begun))
	require.Equal(t, "canceled", cancelLogin(c, replaced))
	require.Equal(t, before, readAuth(t, home, "tokens.refresh_token").Str)
	c.Close()
}

// TestLoginWithDeviceCode signs in with a code.
func TestLoginWithDeviceCode(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	s.Pending = 1
	home := s.Home(t)
	c := s.StartServer(t, home)
	begun := login(c, apptest.Object{"type": "chatgptDeviceCode"})
	require.Equal(t, "ABCD-EFGH", begun.Get("userCode").Str)
	require.Equal(t, s.URL+"/codex/device", begun.Get("verificationUrl").Str)
	require.True(t, completed(c).Get("success").Bool())
	require.Equal(t, "chatgpt", updated(c).Get("authMode").Str)
	require.Equal(t, "chatgpt", account(c).Get("account.type").Str)
	c.Close()
}

// TestDeviceLoginOutlivesShortProblems continues while the issuer has a problem, and ends if it stays.
func TestDeviceLoginOutlivesShortProblems(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	s.Failing = 2
	c := s.StartServer(t, s.Home(t))
	login(c, apptest.Object{"type": "chatgptDeviceCode"})
	require.True(t, completed(c).Get("success").Bool())
	c.Close()

	s = apptest.StartIssuer(t)
	s.Failing = 1 << 20
	c = s.StartServer(t, s.Home(t))
	login(c, apptest.Object{"type": "chatgptDeviceCode"})
	require.Contains(t, completed(c).Get("error").Str, "status 503")
	c.Close()
}

// TestClientGivesTokens keeps tokens of a client in memory, and asks it for others.
func TestClientGivesTokens(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := s.Home(t)
	c := s.StartServer(t, home)
	_, first, _ := s.Issue()
	params := apptest.Object{"type": "chatgptAuthTokens", "accessToken": first, "chatgptAccountId": "acct-1", "chatgptPlanType": "pro"}
	require.JSONEq(t, `{"type":"chatgptAuthTokens"}`, login(c, params).Raw)
	require.JSONEq(t, `{"authMode":"chatgptAuthTokens","planType":"pro","reason":null}`, updated(c).Raw)
	require.NoFileExists(t, authFile(home))
	require.Contains(t, c.CallRejected("account/login/start", apptest.Object{"type": "apiKey", "apiKey": "sk-x"}).Message, "account/logout")

	s.Expire()
	_, second, _ := s.Issue()
	asked := 0
	c.OnRequest = func(m apptest.Message) any {
		asked++
		require.Equal(t, "account/chatgptAuthTokens/refresh", m.Method)
		require.JSONEq(t, `{"reason":"unauthorized","previousAccountId":"acct-1"}`, string(m.Params))
		return apptest.Object{"accessToken": second, "chatgptAccountId": "acct-1", "chatgptPlanType": nil}
	}
	require.Equal(t, "completed", c.Turn(c.StartThread(apptest.Object{}), "hello").Status)
	require.Equal(t, 1, asked)
	require.Equal(t, "plus", account(c).Get("account.planType").Str, "the plan of the token")
	c.Call("account/logout", nil)
	require.Equal(t, gjson.Null, updated(c).Get("authMode").Type)
	require.Empty(t, s.Requests("/oauth/revoke"), "the tokens are the client's")
	c.Close()
}

// TestLogoutRevokesTheTokens removes the file.
func TestLogoutRevokesTheTokens(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := s.Home(t)
	s.SignIn(t, home, nil)
	refresh := readAuth(t, home, "tokens.refresh_token").Str
	c := s.StartServer(t, home)
	require.JSONEq(t, `{}`, string(c.Call("account/logout", nil)))
	require.JSONEq(t, `{"authMode":null,"planType":null,"reason":null}`, updated(c).Raw)
	require.NoFileExists(t, authFile(home))
	require.False(t, s.IsCurrent(refresh))
	require.True(t, account(c).Get("requiresOpenaiAuth").Bool())
	c.Close()
}

// TestEphemeralLoginsAreInMemoryOnly reads and writes no file.
func TestEphemeralLoginsAreInMemoryOnly(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := s.Home(t, `cli_auth_credentials_store = "ephemeral"`)
	s.SignIn(t, home, nil)
	c := s.StartServer(t, home)
	require.Equal(t, gjson.Null, account(c).Get("account").Type, "the file is not read")
	before := readAuth(t, home, "tokens.refresh_token").Str
	visit(t, login(c, apptest.Object{"type": "chatgpt"}).Get("authUrl").Str)
	require.True(t, completed(c).Get("success").Bool())
	s.Expire()
	require.Equal(t, "completed", c.Turn(c.StartThread(apptest.Object{}), "hello").Status)
	require.Equal(t, before, readAuth(t, home, "tokens.refresh_token").Str)
	c.Close()
	c = s.StartServer(t, home)
	require.Equal(t, gjson.Null, account(c).Get("account").Type)
	c.Close()
}

// TestDamagedAuthFileIsKept states the problem, and replaces and removes nothing.
func TestDamagedAuthFileIsKept(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	for _, text := range []string{`{"auth_mode":"chatgpt","tokens":{"access_token":"sEcReT`, `["sEcReT"]`, "", `{"OPENAI_API_KEY":5}`} {
		home := s.Home(t)
		require.NoError(t, os.WriteFile(authFile(home), []byte(text), 0o600))
		c := s.StartServer(t, home)
		require.Equal(t, gjson.Null, account(c).Get("account").Type)
		refused := c.CallRejected("account/login/start", apptest.Object{"type": "apiKey", "apiKey": "sk-x"})
		require.Contains(t, refused.Message, "auth.json is damaged")
		require.Contains(t, refused.Message, "move it away")
		require.NotContains(t, refused.Message, "sEcReT")
		require.Contains(t, c.CallRejected("account/logout", nil).Message, "is damaged")
		require.Contains(t, refusedTurn(c).Message, "is damaged")
		c.Close()
		kept, err := os.ReadFile(authFile(home))
		require.NoError(t, err)
		require.Equal(t, text, string(kept))
	}
}

// TestOtherKindsOfLoginsAreNamed leaves a login that this program cannot use as it is.
func TestOtherKindsOfLoginsAreNamed(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := s.Home(t)
	require.NoError(t, os.WriteFile(authFile(home), []byte(`{"auth_mode":"agentIdentity","agent_identity":"a.b.c"}`), 0o600))
	c := s.StartServer(t, home)
	require.Equal(t, gjson.Null, account(c).Get("account").Type)
	require.Contains(t, refusedTurn(c).Message, "agentIdentity")
	require.Equal(t, "a.b.c", readAuth(t, home, "agent_identity").Str)
	c.Close()
}

// TestLimitsAreReadFromTheBackend reads limits, and reports those of responses.
func TestLimitsAreReadFromTheBackend(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := s.Home(t)
	s.SignIn(t, home, nil)
	s.Expire()
	s.Limits = map[string]string{"X-Codex-Primary-Used-Percent": "12.5", "X-Codex-Primary-Window-Minutes": "300",
		"X-Codex-Primary-Reset-At": "1795857670", "X-Codex-Other-Primary-Used-Percent": "7",
		"X-Codex-Credits-Has-Credits": "true", "X-Codex-Credits-Unlimited": "false", "X-Codex-Credits-Balance": "10"}
	c := s.StartServer(t, home)
	limits := gjson.ParseBytes(c.Call("account/rateLimits/read", nil))
	require.Equal(t, 1, s.Refreshes(), "rejected tokens are refreshed here as well")
	require.JSONEq(t, `{"limitId":"codex","limitName":null,"primary":{"usedPercent":42,"windowDurationMins":300,"resetsAt":1795856761},
		"secondary":null,"credits":{"hasCredits":true,"unlimited":false,"balance":"5"},"planType":"plus","rateLimitReachedType":null,
		"normalModelSlug":null,"individualLimit":null,"spendControlReached":null}`, limits.Get("rateLimits").Raw)
	require.Equal(t, int64(42), limits.Get("rateLimitsByLimitId.other.primary.usedPercent").Int())

	c.BeginTurn(c.StartThread(apptest.Object{}), "hello")
	reported := gjson.ParseBytes(c.UntilMethod("account/rateLimits/updated").Params)
	require.JSONEq(t, `{"limitId":"codex","limitName":null,"primary":{"usedPercent":13,"windowDurationMins":300,"resetsAt":1795857670},
		"secondary":null,"credits":{"hasCredits":true,"unlimited":false,"balance":"10"},"planType":null,"rateLimitReachedType":null,
		"normalModelSlug":null,"individualLimit":null,"spendControlReached":null}`, reported.Get("rateLimits").Raw)
	c.AwaitTurn()
	c.Close()
}

// TestProvidersCanRequireTheAccount authorizes requests to another provider by the login, if the user permits its host.
func TestProvidersCanRequireTheAccount(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := s.Home(t, `model_provider = "mine"`, "[model_providers.mine]", `base_url = "`+s.URL+`/v1"`, `requires_openai_auth = true`)
	s.SignIn(t, home, nil)
	c := s.StartServer(t, home)
	require.Equal(t, "chatgpt", account(c).Get("account.type").Str)
	require.Equal(t, "completed", c.Turn(c.StartThread(apptest.Object{}), "hello").Status)
	c.Close()
}

// TestKeyOfTheEnvironmentNeedsNoLogin keeps the key of the environment in use while the user is signed out.
func TestKeyOfTheEnvironmentNeedsNoLogin(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	s.Key = "sk-env-1234567890abcdef"
	home := s.Home(t)
	cmd := s.Env(apptest.ServerCommand(t, home, "-c", "compat.turn_completed_floor_ms=0"))
	cmd.Env = append(cmd.Env, "OPENAI_API_KEY="+s.Key)
	c := apptest.StartProcess(t, cmd)
	c.Initialize()
	require.JSONEq(t, `{"account":null,"userId":null,"requiresOpenaiAuth":false,"workspaceRouting":null}`, account(c).Raw)
	id := c.StartThread(apptest.Object{})
	require.Equal(t, "completed", c.Turn(id, "hello").Status)
	s.SignIn(t, home, nil)
	require.Equal(t, "completed", c.Turn(id, "with the login").Status)
	sent := s.Requests("/v1/responses")
	require.Equal(t, "Bearer "+s.Key, sent[0].Header.Get("Authorization"))
	require.Equal(t, "acct-1", sent[1].Header.Get("Chatgpt-Account-Id"))
	c.Close()
}

// codexErrorInfo returns the code of the error of a turn.
func codexErrorInfo(m apptest.Message) string {
	var p struct {
		Turn struct {
			Error struct{ CodexErrorInfo json.RawMessage }
		}
	}
	_ = json.Unmarshal(m.Params, &p)
	return string(p.Turn.Error.CodexErrorInfo)
}
