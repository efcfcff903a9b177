package providerkey

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	system "github.com/zalando/go-keyring"

	"appserver/platform/vault"
)

const (
	key   = "gsk-1234567890abcdef"
	other = "gsk-abcdef1234567890"
	groq  = "https://api.groq.com/openai/v1"
)

func set(t *testing.T, s *Store, provider, address, key string) {
	t.Helper()
	require.NoError(t, s.Set(context.Background(), provider, address, key, false))
}

func get(t *testing.T, s *Store, provider, address string) string {
	t.Helper()
	found, err := s.Key(provider, address)
	require.NoError(t, err)
	return found
}

func read(t *testing.T, home string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home, fileName))
	require.NoError(t, err)
	return string(text)
}

func TestKeyIsStoredForItsOwnerAlone(t *testing.T) {
	home := t.TempDir()
	set(t, New(home, vault.File), "groq", groq, " "+key+"\n")
	require.JSONEq(t, `{"keys":{"groq":{"key":"`+key+`","origin":"https://api.groq.com"}}}`, read(t, home))
	info, err := os.Stat(filepath.Join(home, fileName))
	require.NoError(t, err)
	if runtime.GOOS != "windows" { // it has no such modes
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	require.Equal(t, key, get(t, New(home, vault.File), "groq", groq))
	require.Empty(t, get(t, New(home, vault.File), "openrouter", groq), "a key belongs to one provider")
	require.Empty(t, get(t, New(t.TempDir(), vault.File), "groq", groq))
}

func TestKeyIsForTheOriginOfItsProvider(t *testing.T) {
	s := New(t.TempDir(), vault.File)
	set(t, s, "groq", groq, key)
	for _, same := range []string{"https://api.groq.com", "https://API.GROQ.com:443/other?x=1", "https://u:p@api.groq.com./v1"} {
		require.Equal(t, key, get(t, s, "groq", same), same)
	}
	for _, moved := range []string{"http://api.groq.com/openai/v1", "https://api.groq.com:8443/openai/v1", "https://api.groq.com.evil.example",
		"https://evil.example/api.groq.com", "https://api.groq.com@evil.example/", "https://groq.com"} {
		found, err := s.Key("groq", moved)
		require.Empty(t, found, moved)
		unusable := new(UnusableError)
		require.ErrorAs(t, err, &unusable, moved)
		require.ErrorContains(t, err, "was typed for https://api.groq.com")
		require.ErrorContains(t, err, "appserver login --provider groq")
		require.NotContains(t, err.Error(), key)
	}
	_, err := s.Key("groq", "file:///x")
	require.Error(t, err)
	set(t, s, "groq", "https://gateway.example", other)
	require.Equal(t, other, get(t, s, "groq", "https://gateway.example/v1"), "the user has typed it again")
}

func TestKeysToHostsWithoutEncryptionNeedConsent(t *testing.T) {
	s := New(t.TempDir(), vault.File)
	for _, open := range []string{"http://box.local:8000/v1", "http://192.168.1.7/v1", "http://localhost.evil.example", "http://[2001:db8::1]/v1"} {
		err := s.Set(context.Background(), "box", open, key, false)
		refused := new(OpenError)
		require.ErrorAs(t, err, &refused, open)
		require.NotContains(t, err.Error(), key)
		require.NoError(t, s.Set(context.Background(), "box", open, key, true))
		require.Equal(t, key, get(t, s, "box", open))
	}
	for _, near := range []string{"http://127.0.0.1:8000/v1", "http://localhost/v1", "http://[::1]:1234/v1", "http://127.9.9.9"} {
		set(t, s, "box", near, key)
	}
}

func TestTextsThatAreNoKeysAreRefused(t *testing.T) {
	s := New(t.TempDir(), vault.File)
	for _, text := range []string{"", "  ", "sEcReT key", "sEcReT\nX-Evil: 1", `"sEcReT"`, "sEcReT\x1b[2J", "sEcReTé", "sEcReT\x00",
		strings.Repeat("sEcReT", MaxKey)} {
		err := s.Set(context.Background(), "groq", groq, text, false)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "sEcReT")
	}
	require.Error(t, s.Set(context.Background(), "", groq, key, false))
	require.Error(t, s.Set(context.Background(), strings.Repeat("n", 300), groq, key, false))
	require.NoFileExists(t, s.vault.Path())
}

func TestMembersOfOtherVersionsSurvive(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, fileName), []byte(`{"later":[1.50,{"<":null}],
		"keys":{"a":{"key":"a-key-1234567890","origin":"https://a.example","more":1e400},"b":{"sealed":"x"},"c":7}}`), 0o644))
	s := New(home, vault.File)
	set(t, s, "a", "https://a.example", key)
	set(t, s, "d", "https://d.example", other)
	text := read(t, home)
	for _, part := range []string{`1.50`, `"<": null`, `"more": 1e400`, `"sealed": "x"`, `"c": 7`, key, other} {
		require.Contains(t, text, part)
	}
	require.NotContains(t, text, "a-key-1234567890")
	_, err := s.Key("b", "https://b.example")
	require.ErrorContains(t, err, "cannot be read")
	removed, err := s.Remove(context.Background(), "b")
	require.NoError(t, err)
	require.True(t, removed)
	removed, err = s.Remove(context.Background(), "b")
	require.NoError(t, err)
	require.False(t, removed)
	require.Contains(t, read(t, home), `"c": 7`)
}

func TestDamagedFileIsKept(t *testing.T) {
	for _, text := range []string{`{"keys":{"groq":{"key":"sEcReT`, `["sEcReT"]`, "", `{"keys":["sEcReT"]}`, `null`,
		`{"later":"` + strings.Repeat("sEcReT", 200_000) + `"}`} {
		home := t.TempDir()
		path := filepath.Join(home, fileName)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		s := New(home, vault.File)
		_, err := s.Key("groq", groq)
		errs := []error{err, s.Set(context.Background(), "groq", groq, key, false)}
		_, err = s.Remove(context.Background(), "groq")
		for _, err := range append(errs, err) {
			require.ErrorContains(t, err, fileName+" is damaged")
			require.ErrorContains(t, err, "move it away")
			require.NotContains(t, err.Error(), "sEcReT")
			require.NotContains(t, err.Error(), key)
		}
		require.Equal(t, text, read(t, home))
	}
}

func TestKeysOfOtherProcessesAreSeen(t *testing.T) {
	home, noticed := t.TempDir(), 0
	server, command := New(home, vault.File), New(home, vault.File)
	server.Changed = func() { noticed++ }
	require.Empty(t, get(t, server, "groq", groq))
	set(t, command, "groq", groq, key)
	require.Equal(t, key, get(t, server, "groq", groq))
	require.Equal(t, key, get(t, server, "groq", groq))
	require.Equal(t, 1, noticed)
	require.EqualValues(t, 1, server.Changes())
	_, err := command.Remove(context.Background(), "groq")
	require.NoError(t, err)
	require.Empty(t, get(t, server, "groq", groq))
	require.Equal(t, 2, noticed)
	require.Equal(t, []string{key}, server.Secrets(), "a removed key stays a secret")
	set(t, server, "groq", groq, other)
	require.Equal(t, 2, noticed, "its own changes are known")
	require.EqualValues(t, 3, server.Changes())
}

func TestTwoProcessesLoseNoKey(t *testing.T) {
	home := t.TempDir()
	var all sync.WaitGroup
	for _, name := range strings.Fields("a b c d e f g h") {
		all.Go(func() { _ = New(home, vault.File).Set(context.Background(), name, groq, key+name, false) })
	}
	all.Wait()
	for _, name := range strings.Fields("a b c d e f g h") {
		require.Equal(t, key+name, get(t, New(home, vault.File), name, groq))
	}
}

func TestNumberOfKeysIsBounded(t *testing.T) {
	s := New(t.TempDir(), vault.Ephemeral)
	for i := range maxKeys {
		set(t, s, strings.Repeat("n", i/128+1)+string(rune('a'+i%128)), groq, key)
	}
	require.ErrorContains(t, s.Set(context.Background(), "last", groq, key, false), "delete one first")
}

func TestKeysInTheKeyring(t *testing.T) {
	for _, mode := range []string{vault.Keyring, vault.Auto} {
		system.MockInit()
		home := t.TempDir()
		s := New(home, mode)
		s.vault.Ring.Present = func() bool { return true }
		set(t, s, "groq", groq, key)
		require.NoFileExists(t, s.vault.Path())
		text, err := system.Get("Appserver Provider Keys", s.vault.Entry)
		require.NoError(t, err)
		require.Contains(t, text, key)
		require.Equal(t, key, get(t, s, "groq", groq))
		removed, err := s.Remove(context.Background(), "groq")
		require.NoError(t, err)
		require.True(t, removed)
		require.Empty(t, get(t, s, "groq", groq))
	}
}

func TestWithoutAKeyring(t *testing.T) {
	s := New(t.TempDir(), vault.Auto)
	s.vault.Ring.Present = func() bool { return false }
	set(t, s, "groq", groq, key)
	require.FileExists(t, s.vault.Path())
	s = New(t.TempDir(), vault.Keyring)
	s.vault.Ring.Present = func() bool { return false }
	require.ErrorContains(t, s.Set(context.Background(), "groq", groq, key, false), "cli_auth_credentials_store")
	require.NoFileExists(t, s.vault.Path())
}

func TestEphemeralKeysAreInMemory(t *testing.T) {
	home := t.TempDir()
	s := New(home, vault.Ephemeral)
	set(t, s, "groq", groq, key)
	require.Equal(t, key, get(t, s, "groq", groq))
	entries, err := os.ReadDir(home)
	require.NoError(t, err)
	require.Empty(t, entries)
	require.Empty(t, get(t, New(home, vault.Ephemeral), "groq", groq))
}
