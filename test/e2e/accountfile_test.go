package e2e

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/posix"
)

// TestAuthFilesOfOtherKindsHangNothing finds something at auth.json that is no file of a login. Requests end with
// words, and what is there stays.
func TestAuthFilesOfOtherKindsHangNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such files")
	}
	t.Parallel()
	s := apptest.StartIssuer(t)
	with := func(text string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	for name, place := range map[string]func(path string) error{
		"folder":        func(path string) error { return os.Mkdir(path, 0o700) },
		"FIFO":          func(path string) error { return posix.Mkfifo(path, 0o600) },
		"link to self":  func(path string) error { return os.Symlink(filepath.Base(path), path) },
		"endless":       func(path string) error { return os.Symlink("/dev/zero", path) },
		"not readable":  func(path string) error { return os.Symlink("/proc/1/mem", path) },
		"huge":          with(strings.Repeat(" ", 64<<20)),
		"deeply nested": with(strings.Repeat(`{"a":[`, 150_000)),
		"a null":        with("null"),
		"wrong types":   with(`{"tokens":[1],"auth_mode":{}}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := s.Home(t)
			require.NoError(t, place(authFile(home)))
			before, err := os.Lstat(authFile(home))
			require.NoError(t, err)
			c := s.StartServer(t, home)
			require.Equal(t, gjson.Null, account(c).Get("account").Type)
			refused := c.CallRejected("account/login/start", apptest.Object{"type": "apiKey", "apiKey": "sk-x"})
			require.Contains(t, refused.Message, "auth.json")
			c.CallRejected("account/logout", nil)
			refusedTurn(c)
			c.Close()
			after, err := os.Lstat(authFile(home))
			require.NoError(t, err)
			require.Equal(t, before.Mode(), after.Mode())
			require.Equal(t, before.Size(), after.Size())
		})
	}
}

// TestFileOfAnotherIssuerSendsItNothing has tokens of an issuer that the user has not permitted.
func TestFileOfAnotherIssuerSendsItNothing(t *testing.T) {
	t.Parallel()
	s, other := apptest.StartIssuer(t), apptest.StartIssuer(t)
	home := s.Home(t)
	id, access, refresh := s.Issue()
	s.Expire()
	for _, issuer := range []string{other.URL, other.URL + "/x?y=", "https://auth.openai.com@" + other.Host(),
		"http://user:pass@" + s.Host(), "//" + other.Host(), "file:///etc/passwd", "\x00", "https://auth.openai.com.evil.example"} {
		s.WriteAuth(t, home, apptest.Object{"auth_mode": "chatgpt", "tokens": apptest.Object{"id_token": id,
			"access_token": access, "refresh_token": refresh, "account_id": "acct-1",
			"oauth_provenance": apptest.Object{"issuer": issuer, "client_id": "x"}}})
		c := apptest.StartServer(t, home) // without the variables that select the issuer
		c.Initialize()
		failed := c.Turn(c.StartThread(apptest.Object{}), "hello")
		require.Equal(t, "failed", failed.Status, issuer)
		require.NotContains(t, failed.Error.Message, "user:pass")
		c.Call("account/logout", nil)
		c.Close()
		require.NoFileExists(t, authFile(home))
	}
	for _, path := range []string{"/oauth/token", "/oauth/revoke", "/x"} {
		require.Empty(t, other.Requests(path))
		require.Empty(t, s.Requests(path))
	}
}
