//go:build reference

package interchange

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// accountRounds returns the number of refreshes of each test: ACCOUNT_ROUNDS, or 50.
func accountRounds(t *testing.T) int {
	rounds, err := strconv.Atoi(os.Getenv("ACCOUNT_ROUNDS"))
	if err != nil {
		return 50
	}
	t.Logf("%d rounds", rounds)
	return rounds
}

// sharedLogin is a login in one auth.json that both programs use.
type sharedLogin struct {
	t         *testing.T
	issuer    *apptest.Issuer
	home      string
	ours      *apptest.Client
	reference *apptest.Client
}

func newSharedLogin(t *testing.T) *sharedLogin {
	apptest.NeedsFiles(t, apptest.FilesExchange)
	s := &sharedLogin{t: t, issuer: apptest.StartIssuer(t)}
	s.home = s.issuer.Home(t, `cli_auth_credentials_store = "file"`)
	return s
}

// start starts both programs.
func (s *sharedLogin) start() {
	s.ours = s.issuer.StartServer(s.t, s.home)
	s.reference = apptest.Connect(s.t, s.issuer.Env(referenceCommand(s.t, s.home)), nil)
	s.reference.Initialize()
}

// stored returns a member of the tokens in auth.json.
func (s *sharedLogin) stored(member string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.home, "auth.json"))
	require.NoError(s.t, err)
	require.True(s.t, json.Valid(text), "a reader never sees a part of the file")
	return gjson.GetBytes(text, "tokens."+member).Str
}

// refreshed asks a program to refresh the tokens, and returns the access token that it uses then, or "".
func refreshed(c *apptest.Client) string {
	answer := c.Call("getAuthStatus", apptest.Object{"includeToken": true, "refreshToken": true})
	return gjson.GetBytes(answer, "authToken").Str
}

// refresh asks a program to refresh the tokens, and requires that it uses the stored ones then.
func (s *sharedLogin) refresh(c *apptest.Client, round int) {
	s.t.Helper()
	token := refreshed(c)
	require.Equal(s.t, s.stored("access_token"), token, "round %d", round)
}

// reused returns the number of refresh tokens that were used twice.
func (s *sharedLogin) reused() (n int) {
	for _, r := range s.issuer.Requests("/oauth/token") {
		if r.Status != 200 {
			n++
		}
	}
	return n
}

// TestReferenceSharesTheLogin lets both programs take turns while the tokens rotate. Each uses the tokens of the other.
func TestReferenceSharesTheLogin(t *testing.T) {
	s := newSharedLogin(t)
	s.issuer.SignIn(t, s.home, nil)
	s.start()
	for round := range accountRounds(t) {
		before := s.stored("refresh_token")
		s.refresh(s.ours, round)
		between := s.stored("refresh_token")
		require.NotEqual(t, before, between, "round %d", round)
		s.refresh(s.reference, round)
		require.Equal(t, between, s.stored("refresh_token"), "round %d: it uses the stored tokens", round)
		s.refresh(s.reference, round)
		require.NotEqual(t, between, s.stored("refresh_token"), "round %d", round)
		require.True(t, s.issuer.IsCurrent(s.stored("refresh_token")), "round %d", round)
	}
	require.Zero(t, s.reused())
	s.issuer.Expire()
	refreshed(s.reference)
	id := s.ours.StartThread(apptest.Object{})
	require.Equal(t, "completed", s.ours.Turn(id, "with the tokens of the other program").Status)
}

// TestReferenceRefreshesAtTheSameTime asks both programs to refresh in the same moment. The login is never lost.
func TestReferenceRefreshesAtTheSameTime(t *testing.T) {
	s := newSharedLogin(t)
	s.issuer.SignIn(t, s.home, nil)
	s.start()
	for round := range accountRounds(t) {
		var both sync.WaitGroup
		var ours string
		both.Go(func() { ours = refreshed(s.ours) })
		both.Go(func() { refreshed(s.reference) })
		both.Wait()
		require.True(t, s.issuer.IsCurrent(s.stored("refresh_token")), "round %d", round)
		require.NotEmpty(t, ours, "round %d", round)
		s.refresh(s.ours, round)
		s.refresh(s.reference, round)
	}
	t.Logf("%d refresh tokens were used by both", s.reused())
}

// TestReferenceUsesOurLogins signs in with each program, and uses and ends the login with the other.
func TestReferenceUsesOurLogins(t *testing.T) {
	s := newSharedLogin(t)
	s.start()
	for _, programs := range [][2]*apptest.Client{{s.ours, s.reference}, {s.reference, s.ours}} {
		for _, kind := range []string{"apiKey", "chatgptDeviceCode"} {
			programs[0].Call("account/login/start", apptest.Object{"type": kind, "apiKey": "sk-shared"})
			done := gjson.ParseBytes(programs[0].UntilMethod("account/login/completed").Params)
			require.True(t, done.Get("success").Bool(), done.Raw)
			programs[0].UntilMethod("account/updated")
			later := s.restart(programs[1])
			want := map[string]string{"apiKey": "apikey", "chatgptDeviceCode": "chatgpt"}[kind]
			require.Equal(t, want, gjson.GetBytes(later.Call("getAuthStatus", apptest.Object{}), "authMethod").Str)
			later.Call("account/logout", nil)
			require.NoFileExists(t, filepath.Join(s.home, "auth.json"))
		}
	}
}

// restart starts a program again, because the reference implementation reads the file at its start.
func (s *sharedLogin) restart(c *apptest.Client) *apptest.Client {
	if c == s.ours {
		return c
	}
	again := apptest.Connect(s.t, s.issuer.Env(referenceCommand(s.t, s.home)), nil)
	again.Initialize()
	return again
}
