package account

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	system "github.com/zalando/go-keyring"

	"appserver/platform/disk"
	"appserver/platform/vault"
)

func sample() *Login {
	return &Login{Mode: ChatGPT, Refreshed: time.Date(2026, 11, 28, 9, 4, 21, 143855227, time.UTC),
		Tokens: Tokens{ID: "a.b.c", Access: "d.e.f", Refresh: "refresh", AccountID: "acct", Owner: "owner",
			Issuer: "https://i", ClientID: "c"}}
}

// put stores a login.
func put(t *testing.T, s *Store, l *Login) {
	t.Helper()
	_, err := s.Update(context.Background(), func(stored *Login) (*Login, error) { return l.replacing(stored), nil })
	require.NoError(t, err)
}

func TestFileHasTheFormOfTheReferenceImplementation(t *testing.T) {
	home := t.TempDir()
	put(t, NewStore(home, vault.File), sample())
	text, err := os.ReadFile(filepath.Join(home, "auth.json"))
	require.NoError(t, err)
	require.Equal(t, `{
  "auth_mode": "chatgpt",
  "OPENAI_API_KEY": null,
  "tokens": {
    "id_token": "a.b.c",
    "access_token": "d.e.f",
    "refresh_token": "refresh",
    "oauth_provenance": {
      "issuer": "https://i",
      "client_id": "c"
    },
    "login_owner_id": "owner",
    "account_id": "acct"
  },
  "last_refresh": "2026-11-28T09:04:21.143855227Z"
}`, string(text))
	l, err := NewStore(home, vault.File).Load()
	require.NoError(t, err)
	require.True(t, l.isSame(sample()))
	require.Equal(t, sample().Refreshed, l.Refreshed)
}

func TestMembersThatAreNotKnownSurvive(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "auth.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"b":[1.50,{"<":null}],"tokens":{"id_token":"a.b.c","access_token":"x.y.z",
		"refresh_token":"r","account_id":null,"more":{"n":1e400}},"a":"é","agent_identity":"other login"}`), 0o644))
	s := NewStore(home, vault.File)
	_, err := s.Update(context.Background(), func(stored *Login) (*Login, error) {
		next := *stored
		next.Tokens.Access = "n.e.w"
		return &next, nil
	})
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, part := range []string{`1.50`, `"<": null`, `"more": {`, `1e400`, `"a": "é"`, `"n.e.w"`, "other login"} {
		require.Contains(t, string(text), part)
	}
	put(t, s, &Login{Mode: APIKey, APIKey: "sk-x"})
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), `"a": "é"`)
	for _, gone := range []string{"n.e.w", "more", "other login"} {
		require.NotContains(t, string(text), gone, "a new login replaces those before")
	}
}

func TestLinkToTheFileSurvives(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	home, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "auth.json")
	require.NoError(t, os.WriteFile(elsewhere, []byte(`{}`), 0o600))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(home, "auth.json")))
	put(t, NewStore(home, vault.File), sample())
	text, err := os.ReadFile(elsewhere)
	require.NoError(t, err)
	require.Contains(t, string(text), "refresh")
}

// withKeyring gives the store a keyring in memory.
func withKeyring(t *testing.T, mode string) *Store {
	system.MockInit()
	s := NewStore(t.TempDir(), mode)
	s.Ring.Present = func() bool { return true }
	return s
}

func TestKeyringHasTheEntryOfTheReferenceImplementation(t *testing.T) {
	for _, mode := range []string{vault.Keyring, vault.Auto} {
		s := withKeyring(t, mode)
		require.NoError(t, os.WriteFile(s.Path(), []byte(`{"OPENAI_API_KEY":"older"}`), 0o600))
		put(t, s, sample())
		require.NoFileExists(t, s.Path(), "the file does not keep an older login")
		text, err := system.Get("Codex Auth", s.Entry)
		require.NoError(t, err)
		require.Contains(t, text, `"refresh_token": "refresh"`)
		l, err := s.Load()
		require.NoError(t, err)
		require.True(t, l.isSame(sample()))
		removed, err := s.Remove(context.Background())
		require.NoError(t, err)
		require.True(t, removed)
		l, err = s.Load()
		require.NoError(t, err)
		require.Nil(t, l)
	}
	require.Equal(t, "cli|940c3f1b9c76b5b1"[:4], vault.Entry("/nowhere")[:4])
	require.Len(t, vault.Entry("/nowhere"), len("cli|")+16)
}

func TestARefreshStaysInThePlaceOfTheLogin(t *testing.T) {
	s := withKeyring(t, vault.Auto)
	text, err := sample().encode()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.Path(), text, 0o600))
	_, err = s.Update(context.Background(), func(stored *Login) (*Login, error) {
		next := *stored
		next.Tokens.Refresh = "next"
		return &next, nil
	})
	require.NoError(t, err)
	_, err = system.Get("Codex Auth", s.Entry)
	require.ErrorIs(t, err, system.ErrNotFound)
	l, err := s.Load()
	require.NoError(t, err)
	require.Equal(t, "next", l.Tokens.Refresh)
}

func TestWithoutAKeyring(t *testing.T) {
	s := NewStore(t.TempDir(), vault.Auto)
	s.Ring.Present = func() bool { return false }
	put(t, s, sample())
	require.FileExists(t, s.Path())

	s = NewStore(t.TempDir(), vault.Keyring)
	s.Ring.Present = func() bool { return false }
	_, err := s.Load()
	require.ErrorContains(t, err, "cli_auth_credentials_store")
	_, err = s.Remove(context.Background())
	require.ErrorContains(t, err, "no keyring")
	require.NoFileExists(t, s.Path())
}

// TestChangesWaitForTheLocksOfTheReferenceImplementation holds each of its locks.
func TestChangesWaitForTheLocksOfTheReferenceImplementation(t *testing.T) {
	for _, name := range []string{"auth.lock", "auth.json.lock"} {
		s := NewStore(t.TempDir(), vault.File)
		lock, err := disk.OS().Lock(filepath.Join(s.Home, name), disk.Exclusive)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
		_, err = s.Update(ctx, func(*Login) (*Login, error) { return sample(), nil })
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded, name)
		require.NoFileExists(t, s.Path())
		require.NoError(t, lock.Close())
		put(t, s, sample())
	}
}
