package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/config"
	"appserver/protocol"
)

// writeFile writes config.toml of a home.
func writeFile(t *testing.T, home, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600))
}

// needUser is an error that ends only when the user acts.
type needUser struct{ error }

// NeedsUser reports that the user must act.
func (needUser) NeedsUser() bool { return true }

// TestKeyThatCounts: the typed key counts first. A typed key that cannot be used is a reason only if nothing else
// counts.
func TestKeyThatCounts(t *testing.T) {
	env := map[string]string{"SET": "env-key", "QUOTED": `"env-key"`}
	moved, damaged := needUser{errors.New("typed for another host")}, errors.New("the file is damaged")
	for name, test := range map[string]struct {
		table, stored string
		storedErr     error
		want, source  string
		reason        string
	}{
		"typed before a variable":           {`env_key = "SET"`, "typed", nil, "typed", protocol.KeyStored, ""},
		"typed before a variable in quotes": {`env_key = "QUOTED"`, "typed", nil, "typed", protocol.KeyStored, ""},
		"typed before a token":              {`experimental_bearer_token = "file"`, "typed", nil, "typed", protocol.KeyStored, ""},
		"a variable before a token": {"env_key = \"SET\"\nexperimental_bearer_token = \"file\"", "", nil, "env-key",
			protocol.KeyEnvironment, ""},
		"a token":                           {`experimental_bearer_token = "file"`, "", nil, "file", protocol.KeyConfiguration, ""},
		"a token before an unset variable":  {"env_key = \"UNSET\"\nexperimental_bearer_token = \"file\"", "", nil, "file", protocol.KeyConfiguration, ""},
		"a header of a variable":            {`env_http_headers = { api-key = "SET" }`, "", nil, "", protocol.KeyEnvironment, ""},
		"a header":                          {`http_headers = { Authorization = "Bearer x" }`, "", nil, "", protocol.KeyConfiguration, ""},
		"a header that is no key":           {`http_headers = { X-Title = "x" }`, "", nil, "", protocol.KeyNone, ""},
		"a moved provider with a variable":  {`env_key = "SET"`, "", moved, "env-key", protocol.KeyEnvironment, ""},
		"a moved provider without a key":    {"", "", moved, "", protocol.KeyNone, "another host"},
		"a damaged file, a variable":        {`env_key = "SET"`, "", damaged, "env-key", protocol.KeyEnvironment, ""},
		"a damaged file, an unset variable": {`env_key = "UNSET"`, "", damaged, "", protocol.KeyNone, "is damaged"},
		"a damaged file, no key needed":     {"", "", damaged, "", protocol.KeyNone, ""},
	} {
		home := t.TempDir()
		writeFile(t, home, "[model_providers.mine]\nbase_url = \"https://a.example/v1\"\n"+test.table)
		c, err := config.Load(config.Source{Home: home, Getenv: func(name string) string { return env[name] },
			Ports: config.Ports{StoredKey: func(provider, address string) (string, error) {
				require.Equal(t, "https://a.example/v1", address)
				return test.stored, test.storedErr
			}}})
		require.NoError(t, err, name)
		p, err := c.Provider("mine")
		require.NoError(t, err)
		key, err := c.KeyOf(p)
		require.Equal(t, test.want, key.Value, name)
		require.Equal(t, test.stored != "", key.Stored, name)
		shown, _ := c.Summary("mine")
		require.Equal(t, test.source, shown.KeySource, name)
		if test.reason != "" {
			require.ErrorContains(t, err, test.reason, name)
			require.ErrorContains(t, c.Ready("mine"), test.reason, name)
			require.Contains(t, *shown.Problem, test.reason, name)
			continue
		}
		require.NoError(t, err, name)
		require.NoError(t, c.Ready("mine"), name)
		require.True(t, shown.Ready)
		require.Equal(t, test.storedErr != nil, shown.Problem != nil, "%s: a typed key that is not used is named", name)
	}
}

// TestLoginTakesNoTypedKey: providers that use the login of the user have no typed key.
func TestLoginTakesNoTypedKey(t *testing.T) {
	home := t.TempDir()
	writeFile(t, home, "[model_providers.gateway]\nbase_url = \"https://a.example\"\nrequires_openai_auth = true\n")
	c, err := config.Load(config.Source{Home: home, Ports: config.Ports{
		Login:     func() (bool, error) { return true, nil },
		StoredKey: func(string, string) (string, error) { return "typed", nil }}})
	require.NoError(t, err)
	for _, name := range []string{"openai", "gateway"} {
		p, err := c.Provider(name)
		require.NoError(t, err)
		key, err := c.KeyOf(p)
		require.NoError(t, err)
		require.Empty(t, key.Value)
		shown, err := c.Summary(name)
		require.NoError(t, err)
		require.Equal(t, protocol.KeyLogin, shown.KeySource)
	}
}

// TestHeaderOfAKey: the configuration of a provider decides which header gets a typed key.
func TestHeaderOfAKey(t *testing.T) {
	for _, test := range []struct {
		provider config.Provider
		header   string
	}{
		{config.Provider{BaseURL: "https://a.example"}, "Authorization"},
		{config.Provider{BaseURL: "https://a.example", HTTPHeaders: map[string]string{"X-Title": "x"}}, "Authorization"},
		{config.Provider{EnvHTTPHeaders: map[string]string{"api-key": "A", "X-Title": "T"}}, "api-key"},
		{config.Provider{HTTPHeaders: map[string]string{"X-API-Key": "x"}}, "x-api-key"},
		{config.Provider{EnvHTTPHeaders: map[string]string{"authorization": "A"}}, "Authorization"},
		{config.Provider{HTTPHeaders: map[string]string{"Api-Key": "x"},
			EnvHTTPHeaders: map[string]string{"api-key": "A"}}, "api-key"},
		{config.Provider{EnvKey: "K", EnvHTTPHeaders: map[string]string{"x-token": "A", "api-key": "B"}}, "Authorization"},
		{config.Provider{BaseURL: "https://mine.OpenAI.azure.com/openai/v1"}, "api-key"},
		{config.Provider{BaseURL: "https://mine.openai.azure.com/openai/v1", EnvKey: "K"}, "Authorization"},
		{config.Provider{BaseURL: "https://openai.azure.com.evil.example/"}, "Authorization"},
	} {
		header, err := test.provider.KeyHeader()
		require.NoError(t, err)
		require.Equal(t, test.header, header)
	}
	_, err := config.Provider{EnvHTTPHeaders: map[string]string{"x-token": "A", "api-key": "B"}}.KeyHeader()
	require.ErrorContains(t, err, "several headers")
}

// TestThreadsHaveTheCurrentProviders: a thread keeps what it sets of a provider for itself, and nothing else.
func TestThreadsHaveTheCurrentProviders(t *testing.T) {
	home := t.TempDir()
	writeFile(t, home, "[model_providers.mine]\nbase_url = \"https://a.example/v1\"\n")
	before, err := config.Load(config.Source{Home: home})
	require.NoError(t, err)
	thread, err := before.For("", map[string]json.RawMessage{
		"model_providers.mine.base_url":           json.RawMessage(`"https://evil.example"`),
		"model_providers.mine.cached_price_ratio": json.RawMessage(`0.5`),
		"model_providers.own.base_url":            json.RawMessage(`"https://evil.example"`)})
	require.NoError(t, err)
	require.Equal(t, "https://a.example/v1", thread.WithProviders(before).ModelProviders["mine"].BaseURL)

	writeFile(t, home, "[model_providers.mine]\nbase_url = \"https://b.example/v1\"\n"+
		"[model_providers.new]\nbase_url = \"https://c.example\"\n")
	after, err := config.Load(config.Source{Home: home})
	require.NoError(t, err)
	now := thread.WithProviders(after)
	require.Equal(t, "https://b.example/v1", now.ModelProviders["mine"].BaseURL)
	require.InDelta(t, 0.5, now.ProviderInfo("mine", "m", 0).CachedPriceRatio, 0)
	require.Contains(t, now.ModelProviders, "new")
	require.NotContains(t, now.ModelProviders, "own")
	require.NotContains(t, thread.ModelProviders, "new", "the configuration of the thread does not change")
	require.Same(t, after, after.WithProviders(after))
}

// TestConfiguredKeysAreSecrets: the redactor knows the keys of the environment and of the file as it knows typed ones.
func TestConfiguredKeysAreSecrets(t *testing.T) {
	home := t.TempDir()
	writeFile(t, home, "[model_providers.mine]\nbase_url = \"https://a.example/v1\"\nenv_key = \"A\"\n"+
		"env_http_headers = { Authorization = \"B\" }\n[model_providers.other]\nbase_url = \"https://a.example\"\n"+
		"experimental_bearer_token = \"token-of-the-file-itself\"\nhttp_headers = { X-Title = \"a-title-of-many-letters\" }\n")
	env := map[string]string{"A": " key-of-the-variable-a ", "B": "Bearer key-of-the-variable-b"}
	typed := []string{}
	c, err := config.Load(config.Source{Home: home, Getenv: func(name string) string { return env[name] },
		Ports: config.Ports{Secrets: func() []string { return typed }}})
	require.NoError(t, err)
	thread, err := c.For("", map[string]json.RawMessage{"model": json.RawMessage(`"m"`)})
	require.NoError(t, err)
	typed = append(typed, "key-that-was-typed-later")
	for _, by := range []*config.Config{c, thread} {
		require.Equal(t, "[redacted], [redacted], [redacted], [redacted], a-title-of-many-letters", by.Redactor().Text(
			"key-of-the-variable-a, key-of-the-variable-b, token-of-the-file-itself, key-that-was-typed-later, a-title-of-many-letters"))
	}
}
