package e2e

import (
	"bufio"
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// TestForcedMethodsRestrictLogins refuses other ways to sign in, and does not use other logins.
func TestForcedMethodsRestrictLogins(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	key := apptest.Object{"type": "apiKey", "apiKey": "sk-x"}
	for _, test := range []struct {
		rule, file string
		refused    []apptest.Object
	}{
		{`forced_login_method = "api"`, "", []apptest.Object{{"type": "chatgpt"}, {"type": "chatgptDeviceCode"},
			{"type": "chatgptAuthTokens", "accessToken": "a.b.c", "chatgptAccountId": "acct-1"}}},
		{`forced_login_method = "chatgpt"`, `{"OPENAI_API_KEY":"sk-x"}`, []apptest.Object{key}},
		{`forced_chatgpt_workspace_id = ["acct-2", "acct-3"]`, "", []apptest.Object{
			{"type": "chatgptAuthTokens", "accessToken": "a.b.c", "chatgptAccountId": "acct-1"}}},
	} {
		home := s.Home(t, test.rule)
		s.SignIn(t, home, nil)
		if test.file != "" {
			require.NoError(t, os.WriteFile(authFile(home), []byte(test.file), 0o600))
		}
		before, err := os.ReadFile(authFile(home))
		require.NoError(t, err)
		c := s.StartServer(t, home)
		require.Equal(t, gjson.Null, account(c).Get("account").Type, test.rule)
		require.Contains(t, refusedTurn(c).Message, "forced_", test.rule)
		for _, params := range test.refused {
			require.Contains(t, c.CallRejected("account/login/start", params).Message, "forced_", test.rule)
		}
		after, err := os.ReadFile(authFile(home))
		require.NoError(t, err)
		require.Equal(t, string(before), string(after), "the login is left as it is")
		c.Close()
	}
}

// TestForcedWorkspaceRefusesOthers asks the issuer for the workspace, and refuses tokens of another one.
func TestForcedWorkspaceRefusesOthers(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := s.Home(t, `forced_chatgpt_workspace_id = "acct-2"`)
	c := s.StartServer(t, home)
	begun := login(c, apptest.Object{"type": "chatgpt"})
	require.Contains(t, begun.Get("authUrl").Str, "allowed_workspace_id=acct-2")
	visit(t, begun.Get("authUrl").Str)
	require.Contains(t, completed(c).Get("error").Str, "acct-1")
	require.NoFileExists(t, authFile(home))

	s.Workspace = "acct-2"
	visit(t, login(c, apptest.Object{"type": "chatgpt"}).Get("authUrl").Str)
	require.True(t, completed(c).Get("success").Bool())
	require.Equal(t, "completed", c.Turn(c.StartThread(apptest.Object{}), "hello").Status)
	c.Close()
}

// withoutConsent returns a home that moves the vendor's addresses, and does not permit their hosts.
func withoutConsent(t *testing.T, s *apptest.Issuer) string {
	home := s.Home(t)
	text, err := os.ReadFile(filepath.Join(home, "config.toml"))
	require.NoError(t, err)
	var kept []string
	for _, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, "account_hosts") {
			kept = append(kept, line)
		}
	}
	apptest.WriteConfig(t, home, strings.Join(kept, "\n"))
	return home
}

// TestTokensGoToPermittedHostsOnly sends no token to a changed address, until the user names its host.
func TestTokensGoToPermittedHostsOnly(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := withoutConsent(t, s)
	s.SignIn(t, home, nil)
	c := s.StartServer(t, home)
	id := c.StartThread(apptest.Object{})
	c.BeginTurn(id, "hello")
	ended := c.UntilMethod("turn/completed")
	message := gjson.GetBytes(ended.Params, "turn.error.message").Str
	require.Contains(t, message, s.Host())
	require.Contains(t, message, "account_hosts")
	require.Equal(t, `"unauthorized"`, codexErrorInfo(ended))
	require.Contains(t, c.CallRejected("account/rateLimits/read", nil).Message, "account_hosts")
	require.Contains(t, c.CallRejected("account/login/start", apptest.Object{"type": "chatgpt"}).Message, "account_hosts")
	require.Contains(t, c.CallRejected("account/login/start", apptest.Object{"type": "chatgptDeviceCode"}).Message, "account_hosts")
	c.Call("account/read", apptest.Object{"refreshToken": true})
	for _, path := range []string{"/v1/responses", "/v1/models", "/oauth/token", "/oauth/revoke", "/backend-api/wham/usage",
		"/api/accounts/deviceauth/usercode"} {
		require.Empty(t, s.Requests(path), path)
	}

	c.Call("config/value/write", apptest.Object{"keyPath": "account_hosts", "value": []string{s.Host()}, "mergeStrategy": "replace"})
	require.Equal(t, "completed", c.Turn(id, "permitted").Status)
	c.Close()
}

// TestKeysGoToPermittedHostsOnly holds for keys that are stored as well.
func TestKeysGoToPermittedHostsOnly(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := withoutConsent(t, s)
	require.NoError(t, os.WriteFile(authFile(home), []byte(`{"OPENAI_API_KEY":"sk-stored-123456"}`), 0o600))
	c := s.StartServer(t, home)
	require.Contains(t, c.Turn(c.StartThread(apptest.Object{}), "hello").Error.Message, "account_hosts")
	require.Empty(t, s.Requests("/v1/responses"))
	c.Close()
}

// TestProxiesNeedConsent sends no token through a proxy that the user has not named.
func TestProxiesNeedConsent(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := s.Home(t)
	s.SignIn(t, home, nil)
	cmd := s.Env(apptest.ServerCommand(t, home, "-c", "compat.turn_completed_floor_ms=0",
		"-c", "openai_base_url=https://api.openai.com/v1"))
	cmd.Env = append(cmd.Env, "HTTPS_PROXY="+s.URL)
	c := apptest.StartProcess(t, cmd)
	c.Initialize()
	require.Equal(t, "chatgpt", account(c).Get("account.type").Str)
	c.Call("config/value/write", apptest.Object{"keyPath": "account_hosts", "value": []string{"other.example"}, "mergeStrategy": "replace"})
	message := c.Turn(c.StartThread(apptest.Object{}), "hello").Error.Message
	require.Contains(t, message, "proxy "+s.Host())
	require.Contains(t, message, "account_hosts")
	c.Close()
}

// TestProjectsGiveNoConsent ignores the key in the configuration of a trusted project.
func TestProjectsGiveNoConsent(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := withoutConsent(t, s)
	s.SignIn(t, home, nil)
	project := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(project, ".codex"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(project, ".codex", "config.toml"),
		[]byte("account_hosts = [\""+s.Host()+"\"]\nforced_login_method = \"api\"\n"), 0o600))
	text, err := os.ReadFile(filepath.Join(home, "config.toml"))
	require.NoError(t, err)
	apptest.WriteConfig(t, home, string(text)+"[projects.\""+project+"\"]\ntrust_level = \"trusted\"\n")
	c := s.StartServer(t, home)
	id := c.StartThread(apptest.Object{"cwd": project, "config": apptest.Object{"account_hosts": []string{s.Host()}}})
	require.Contains(t, c.Turn(id, "hello").Error.Message, "account_hosts")
	require.Contains(t, strings.Join(c.Warnings(), "\n"), "account_hosts has no effect on a thread")
	require.Equal(t, "chatgpt", account(c).Get("account.type").Str)
	require.Empty(t, s.Requests("/v1/responses"))
	c.Close()
}

// TestServersOfAHomeRefreshOnce lets two servers use the login while its tokens end. No refresh token is used twice.
func TestServersOfAHomeRefreshOnce(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := s.Home(t)
	s.SignIn(t, home, apptest.Object{"kept": true})
	const rounds = 10
	clients := []*apptest.Client{s.StartServer(t, home), s.StartServer(t, home)}
	ids := []string{clients[0].StartThread(apptest.Object{}), clients[1].StartThread(apptest.Object{})}
	for round := range rounds {
		s.Expire()
		var all sync.WaitGroup
		ended := make([]string, len(clients))
		for i, c := range clients {
			c.BeginTurn(ids[i], "hello")
			all.Go(func() { ended[i] = c.AwaitTurn().Status })
		}
		all.Wait()
		require.Equal(t, []string{"completed", "completed"}, ended, round)
	}
	for _, r := range s.Requests("/oauth/token") {
		require.Equal(t, 200, r.Status, "a refresh token was used twice")
	}
	require.Equal(t, rounds, s.Refreshes())
	require.True(t, s.IsCurrent(readAuth(t, home, "tokens.refresh_token").Str))
	require.True(t, readAuth(t, home, "kept").Bool())
	for _, c := range clients {
		c.Close()
	}
}

// TestCommandsSignInAndOut uses the command line, also under the name of the reference implementation.
func TestCommandsSignInAndOut(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	for _, program := range []string{asCodex(t), must(apptest.Binary())} {
		home := s.Home(t)
		run := func(input string, args ...string) (output string, status int) {
			cmd := s.Env(apptest.ProcessCommand(t, home, program, args...))
			cmd.Stdin, cmd.Stderr = strings.NewReader(input), nil
			text, _ := cmd.CombinedOutput()
			return string(text), cmd.ProcessState.ExitCode()
		}
		expect := func(words string, status int, input string, args ...string) {
			t.Helper()
			text, code := run(input, args...)
			require.Equal(t, status, code, text)
			require.Contains(t, text, words)
			require.NotContains(t, text, "sk-piped-1234567890")
		}
		expect("not logged in", 1, "", "login", "status")
		expect("Not logged in", 0, "", "logout")
		expect("no API key", 1, " \n", "login", "--with-api-key")
		expect("is no API key", 1, strings.Repeat("k", 1<<20), "login", "--with-api-key")
		require.NoFileExists(t, authFile(home))
		expect("Successfully logged in", 0, "sk-piped-1234567890abcdef\n", "login", "--with-api-key")
		require.Equal(t, "sk-piped-1234567890abcdef", readAuth(t, home, "OPENAI_API_KEY").Str)
		expect("Logged in using an API key - ***cdef", 0, "", "login", "status")
		expect("visible to other programs", 2, "", "login", "--api-key", "sk-arg")
		expect("ABCD-EFGH", 0, "", "login", "--device-auth")
		require.Equal(t, "chatgpt", readAuth(t, home, "auth_mode").Str)
		expect("Logged in using ChatGPT", 0, "", "login", "status")
		expect("Successfully logged out", 0, "", "logout")
		require.NoFileExists(t, authFile(home))
		expect("account_hosts", 1, "", "login", "--device-auth", "--experimental_issuer", "https://issuer.example")
		expect("account/login/start", 1, "sk-piped-1234567890abcdef", "-c", "cli_auth_credentials_store=ephemeral", "login", "--with-api-key")
		require.NoFileExists(t, authFile(home))
		require.NoError(t, os.WriteFile(authFile(home), []byte("{"), 0o600))
		expect("is damaged", 1, "", "login", "status")
		expect("is damaged", 1, "", "logout")
		require.FileExists(t, authFile(home))
	}
}

// TestTokensAreNowhereElse scans everything that the server writes, after requests that failed and echoed tokens.
func TestTokensAreNowhereElse(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	s.Key = "sk-secret-1234567890abcdef"
	home := s.Home(t)
	s.SignIn(t, home, nil)
	cmd := s.Env(apptest.ServerCommand(t, home, "-c", "compat.turn_completed_floor_ms=0", "--log-level", "debug",
		"-c", "sandbox_mode=danger-full-access", "-c", "approval_policy=never"))
	log, err := os.CreateTemp(t.TempDir(), "log")
	require.NoError(t, err)
	cmd.Stderr = log
	c := apptest.StartProcess(t, cmd)
	var lines bytes.Buffer
	c.OnLine = func(direction, line string) {
		if direction == "<-" {
			lines.WriteString(line + "\n")
		}
	}
	c.Initialize()
	id := c.StartThread(apptest.Object{})
	c.Turn(id, "fine")
	c.Call("thread/shellCommand", apptest.Object{"threadId": id, "command": "env; cat /proc/$PPID/cmdline"})
	c.AwaitTurn()
	s.Expire()
	c.Turn(id, "refreshed")
	s.Reject(true)
	c.Turn(id, "rejected after the refresh")
	s.Revoke()
	c.Turn(id, "revoked")
	c.CallRejected("account/rateLimits/read", nil)
	c.Call("account/read", apptest.Object{"refreshToken": true})
	login(c, apptest.Object{"type": "apiKey", "apiKey": s.Key})
	c.Turn(id, "a key that is rejected")
	c.Call("server/diagnostics", apptest.Object{})
	c.Call("config/read", apptest.Object{"includeLayers": true})
	c.Close()

	texts := map[string][]byte{"messages": lines.Bytes()}
	require.NoError(t, filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && path != authFile(home) {
			texts[path], err = os.ReadFile(path)
		}
		return err
	}))
	texts["log"], err = os.ReadFile(log.Name())
	require.NoError(t, err)
	secrets := s.Secrets()
	require.Greater(t, len(secrets), 6)
	for name, text := range texts {
		for _, secret := range secrets {
			require.False(t, bytes.Contains(text, []byte(secret)), "%s has a secret that begins with %.12s", name, secret)
		}
	}
}

// TestWordsOfTheIssuerHaveNoSecrets shows the reason of an issuer that repeats a token or a code, without these.
func TestWordsOfTheIssuerHaveNoSecrets(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := s.Home(t)
	s.SignIn(t, home, nil)
	s.Expire()
	cmd := s.Env(apptest.ServerCommand(t, home, "-c", "compat.turn_completed_floor_ms=0", "--log-level", "debug"))
	log, err := os.CreateTemp(t.TempDir(), "log")
	require.NoError(t, err)
	cmd.Stderr = log
	c := apptest.StartProcess(t, cmd)
	c.Initialize()
	var secrets []string
	for _, refusal := range []func(string) any{
		func(secret string) any { return apptest.Object{"error": apptest.Object{"message": "WRONG " + secret}} },
		func(secret string) any { return apptest.Object{"error": apptest.Object{"code": "WRONG " + secret}} },
		func(secret string) any { return apptest.Object{"error": "WRONG " + secret} },
		func(secret string) any { return apptest.Object{"error": "x", "error_description": "WRONG " + secret} },
		func(secret string) any { return apptest.Object{"code": "WRONG " + secret} },
	} {
		s.Refuse(func(secret string) any {
			secrets = append(secrets, secret)
			return refusal(secret)
		})
		c.Call("account/read", apptest.Object{"refreshToken": true})
		visit(t, login(c, apptest.Object{"type": "chatgpt"}).Get("authUrl").Str)
		reason := completed(c).Get("error").Str
		require.Contains(t, strings.ToLower(reason), "wrong [redacted]")
		require.Len(t, secrets, 2)
		text, err := os.ReadFile(log.Name())
		require.NoError(t, err)
		require.Contains(t, strings.ToLower(string(text)), "wrong [redacted]")
		for _, secret := range secrets {
			require.NotContains(t, strings.ToLower(reason+string(text)), strings.ToLower(secret))
		}
		secrets = nil
	}
	c.Close()
}

// TestLogoutRevokesTheLoginBelowThatOfAClient ends the stored login as well, as the file is removed.
func TestLogoutRevokesTheLoginBelowThatOfAClient(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := s.Home(t)
	s.SignIn(t, home, nil)
	stored := readAuth(t, home, "tokens.refresh_token").Str
	c := s.StartServer(t, home)
	_, given, _ := s.Issue()
	login(c, apptest.Object{"type": "chatgptAuthTokens", "accessToken": given, "chatgptAccountId": "acct-1"})
	c.Call("account/logout", nil)
	require.NoFileExists(t, authFile(home))
	require.False(t, s.IsCurrent(stored))
	for _, r := range s.Requests("/oauth/revoke") {
		require.NotContains(t, r.Body, given, "the tokens of the client are not ours to revoke")
	}
	c.Close()
}

// TestRefusedLoginsEndNoOther keeps a login that waits, if one after it is refused.
func TestRefusedLoginsEndNoOther(t *testing.T) {
	t.Parallel()
	s := apptest.StartIssuer(t)
	home := s.Home(t)
	c := s.StartServer(t, home)
	begun := login(c, apptest.Object{"type": "chatgpt"})
	for _, refused := range []apptest.Object{{"type": "chatgptAuthTokens", "accessToken": "no JWT", "chatgptAccountId": "acct-1"},
		{"type": "apiKey", "apiKey": " "}, {"type": "apiKey", "apiKey": "two words"}} {
		c.CallRejected("account/login/start", refused)
	}
	require.Equal(t, http.StatusOK, visit(t, begun.Get("authUrl").Str))
	require.True(t, completed(c).Get("success").Bool())
	c.Close()
}

// TestInterruptEndsEachLogin ends the command in each place where it waits.
func TestInterruptEndsEachLogin(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot interrupt another process")
	}
	t.Parallel()
	s := apptest.StartIssuer(t)
	s.Pending = 1 << 20
	for _, way := range []struct {
		flag, prompt string
	}{{"--with-api-key", "Reading API key"}, {"--device-auth", "ABCD-EFGH"}} {
		home := s.Home(t)
		cmd := s.Env(apptest.ProcessCommand(t, home, must(apptest.Binary()), "login", way.flag))
		input, err := cmd.StdinPipe()
		require.NoError(t, err)
		output, theirs, err := os.Pipe()
		require.NoError(t, err)
		cmd.Stdout, cmd.Stderr = theirs, theirs
		require.NoError(t, cmd.Start())
		require.NoError(t, theirs.Close())
		lines := bufio.NewScanner(output)
		for lines.Scan() && !strings.Contains(lines.Text(), way.prompt) {
		}
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case err := <-ended:
			require.Error(t, err)
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			t.Fatalf("login %s waits after an interrupt", way.flag)
		}
		require.NoFileExists(t, authFile(home))
		_, _ = input.Close(), output.Close()
	}
}
