package credentials

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	system "github.com/zalando/go-keyring"
)

func sample() *Login {
	return &Login{Server: "docs", URL: "https://docs.example/mcp", Issuer: "https://login.example", ClientID: "client",
		AccessToken: "access", RefreshToken: "refresh", Scopes: []string{"a", "b"}, Expires: time.UnixMilli(1795840663310)}
}

// withKeyring gives the store a keyring in memory.
func withKeyring(t *testing.T, mode string) *Store {
	system.MockInit()
	s := New(t.TempDir(), mode)
	s.keyring.Present = func() bool { return true }
	return s
}

func read(t *testing.T, s *Store) string {
	text, err := os.ReadFile(s.file.path())
	require.NoError(t, err)
	return string(text)
}

// The names are those of the reference implementation, also for characters that some encoders escape.
func TestKeysAreThoseOfTheReferenceImplementation(t *testing.T) {
	require.Equal(t, "g|08354530b81ee3de", Key("g", "http://127.0.0.1:37735/mcp"))
	require.Equal(t, "add9eb85963169728faa5e971eb76ecad77ab43b0d9087cbb9b6d48418490410.lock",
		lockName("g", "http://127.0.0.1:37735/mcp"))
	require.NotEqual(t, Key("g", "http://a/?x=1&y=<2>"), Key("g", "http://a/?x=1"))
	require.Equal(t, "g|a677503c134b7137", Key("g", "http://a/?x=1&y=<2>é"))
}

func TestFileHasTheFormOfTheReferenceImplementation(t *testing.T) {
	s := New(t.TempDir(), File)
	require.NoError(t, s.Add(sample()))
	require.JSONEq(t, `{"`+Key("docs", "https://docs.example/mcp")+`":{"server_name":"docs",
		"server_url":"https://docs.example/mcp","issuer":"https://login.example","client_id":"client",
		"access_token":"access","expires_at":1795840663310,"refresh_token":"refresh","scopes":["a","b"]}}`, read(t, s))
	info, err := os.Stat(s.file.path())
	require.NoError(t, err)
	if runtime.GOOS != "windows" { // it has no such modes
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}

	l, err := s.Load("docs", "https://docs.example/mcp")
	require.NoError(t, err)
	want := sample()
	want.place = inFile
	require.Equal(t, want, l)
}

func TestLoginOfAnotherURLIsNotFound(t *testing.T) {
	s := New(t.TempDir(), File)
	require.NoError(t, s.Add(sample()))
	l, err := s.Load("docs", "https://other.example/mcp")
	require.NoError(t, err)
	require.Nil(t, l)

	// An entry under the key of another server is not used.
	require.NoError(t, os.WriteFile(s.file.path(),
		[]byte(strings.Replace(read(t, s), Key("docs", "https://docs.example/mcp"), Key("docs", "https://evil.example/"), 1)), 0o600))
	_, err = s.Load("docs", "https://evil.example/")
	require.ErrorContains(t, err, "is of another server")
	require.NotContains(t, err.Error(), "access")
}

func TestEntriesOfOtherProgramsAreKept(t *testing.T) {
	s := New(t.TempDir(), File)
	other := `{"server_name":"x","later":{"n":[1]}}`
	require.NoError(t, os.WriteFile(s.file.path(), []byte(`{"x|1":`+other+`}`), 0o600))
	require.NoError(t, s.Add(sample()))
	var entries map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(read(t, s)), &entries))
	require.JSONEq(t, other, string(entries["x|1"]))
	removed, err := s.Remove("docs", "https://docs.example/mcp")
	require.NoError(t, err)
	require.True(t, removed)
	require.JSONEq(t, `{"x|1":`+other+`}`, read(t, s))
}

func TestFileWithoutEntriesIsRemoved(t *testing.T) {
	s := New(t.TempDir(), File)
	require.NoError(t, s.Add(sample()))
	removed, err := s.Remove("docs", "https://docs.example/mcp")
	require.NoError(t, err)
	require.True(t, removed)
	require.NoFileExists(t, s.file.path())
	removed, err = s.Remove("docs", "https://docs.example/mcp")
	require.NoError(t, err)
	require.False(t, removed)
}

func TestUnreadableFilesAreErrorsWithoutTheirContent(t *testing.T) {
	for _, text := range []string{"sEcReT", `["sEcReT"]`, `{"` + Key("docs", "https://docs.example/mcp") + `":{"client_id":["sEcReT"]}}`} {
		s := New(t.TempDir(), File)
		require.NoError(t, os.WriteFile(s.file.path(), []byte(text), 0o600))
		_, err := s.Load("docs", "https://docs.example/mcp")
		require.Error(t, err)
		require.NotContains(t, err.Error(), "sEcReT")
		require.Contains(t, err.Error(), "log in again")
	}
}

func TestAutoPrefersTheKeyring(t *testing.T) {
	s := withKeyring(t, Auto)
	require.NoError(t, s.file.save(sample()))
	require.NoError(t, s.Add(sample()))
	require.NoFileExists(t, s.file.path(), "the file does not keep an older login")
	text, err := system.Get("Codex MCP Credentials", Key("docs", "https://docs.example/mcp"))
	require.NoError(t, err)
	require.JSONEq(t, `{"server_name":"docs","url":"https://docs.example/mcp","issuer":"https://login.example",
		"client_id":"client","expires_at":1795840663310,"token_response":{"access_token":"access","token_type":"bearer",
		"refresh_token":"refresh","scope":"a b"}}`, text)
	l, err := s.Load("docs", "https://docs.example/mcp")
	require.NoError(t, err)
	require.Equal(t, "refresh", l.RefreshToken)
	removed, err := s.Remove("docs", "https://docs.example/mcp")
	require.NoError(t, err)
	require.True(t, removed)
}

func TestARefreshStaysInThePlaceOfTheLogin(t *testing.T) {
	s := withKeyring(t, Auto)
	require.NoError(t, s.file.save(sample()))
	l, err := s.Load("docs", "https://docs.example/mcp")
	require.NoError(t, err)
	l.RefreshToken = "next"
	require.NoError(t, s.Save(l))
	require.Contains(t, read(t, s), `"next"`)
	_, err = system.Get("Codex MCP Credentials", Key("docs", "https://docs.example/mcp"))
	require.ErrorIs(t, err, system.ErrNotFound)
}

func TestWithoutAKeyringAutoUsesTheFile(t *testing.T) {
	s := New(t.TempDir(), Auto)
	s.keyring.Present = func() bool { return false }
	require.NoError(t, s.Add(sample()))
	require.FileExists(t, s.file.path())
	removed, err := s.Remove("docs", "https://docs.example/mcp")
	require.NoError(t, err)
	require.True(t, removed)
}

func TestADemandedKeyringThatIsMissingIsAnError(t *testing.T) {
	s := New(t.TempDir(), Keyring)
	s.keyring.Present = func() bool { return false }
	for _, err := range []error{s.Add(sample()), second(s.Load("docs", "u")), second(s.Remove("docs", "u"))} {
		require.ErrorContains(t, err, "no keyring of the system answers")
	}
	require.NoFileExists(t, s.file.path())
}

func second[T any](_ T, err error) error { return err }

// A bus accepts the connection and says nothing.
func TestASilentKeyringDoesNotBlock(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "bus")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+socket)
	s := New(t.TempDir(), Auto)
	s.keyring.Limit = 50 * time.Millisecond
	require.NoError(t, s.Add(sample()))
	began := time.Now()
	for range 100 {
		_, err = s.Load("docs", "https://docs.example/mcp")
		require.NoError(t, err)
	}
	require.Less(t, time.Since(began), 2*time.Second, "a silent keyring is not asked for each request")
}

func TestLocksExcludeOthersOfTheSameLogin(t *testing.T) {
	home := t.TempDir()
	a, b := New(home, File), New(home, File)
	lock, err := a.Lock(context.Background(), "docs", "u")
	require.NoError(t, err)
	other, err := b.Lock(context.Background(), "docs", "v")
	require.NoError(t, err)
	require.NoError(t, other.Close())
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	_, err = b.Lock(ctx, "docs", "u")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, lock.Close())
	lock, err = b.Lock(context.Background(), "docs", "u")
	require.NoError(t, err)
	require.NoError(t, lock.Close())
}
