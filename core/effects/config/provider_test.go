package config_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/config"
	"appserver/protocol"
)

// loadWith loads settings with an environment, and returns the file as well.
func loadWith(t *testing.T, text string, env map[string]string) (*config.Config, string) {
	t.Helper()
	home, file := write(t, "config.toml", text)
	c, err := config.Load(config.Source{Home: home, Getenv: func(name string) string { return env[name] }})
	require.NoError(t, err)
	return c, file
}

func TestBuiltinProviders(t *testing.T) {
	c := load(t, "")
	for name, want := range map[string]struct{ url, key string }{
		"openai":     {"https://api.openai.com/v1", "OPENAI_API_KEY"},
		"ollama":     {"http://127.0.0.1:11434/v1", ""},
		"lmstudio":   {"http://127.0.0.1:1234/v1", ""},
		"openrouter": {"https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
		"offline":    {"", ""},
	} {
		p, err := c.Provider(name)
		require.NoError(t, err)
		require.Equal(t, name, p.ID)
		require.Equal(t, want.url, p.BaseURL)
		require.Equal(t, want.key, p.EnvKey)
		require.Equal(t, 4, p.RequestMaxRetries)
		require.Equal(t, 5, p.StreamMaxRetries)
		require.Equal(t, 5*time.Minute, p.StreamIdleTimeout)
	}
}

func TestBuiltinProviderCanBeChanged(t *testing.T) {
	p, err := load(t, "[model_providers.ollama]\nbase_url = \"http://box:11434/v1\"\n").Provider("ollama")
	require.NoError(t, err)
	require.Equal(t, "http://box:11434/v1", p.BaseURL)
	require.Equal(t, "Ollama", p.Name)
}

func TestOpenAIBaseURL(t *testing.T) {
	require.Equal(t, "https://proxy/v1",
		load(t, "openai_base_url = \"https://proxy/v1\"\n").ModelProviders["openai"].BaseURL)
	both := "openai_base_url = \"https://proxy/v1\"\n[model_providers.openai]\nbase_url = \"https://own/v1\"\n"
	require.Equal(t, "https://own/v1", load(t, both).ModelProviders["openai"].BaseURL)
}

func TestUnknownProvider(t *testing.T) {
	home, file := write(t, "config.toml",
		"model_provider = \"nope\"\n[model_providers.mine]\nbase_url = \"http://h/v1\"\n")
	c, err := config.Load(config.Source{Home: home})
	require.NoError(t, err, "a request may name another provider")
	_, err = c.Provider("nope")
	require.EqualError(t, err,
		"Model provider `nope` not found; choose one of llamacpp, lmstudio, mine, offline, ollama, openai, openrouter, vllm, or add [model_providers.nope] to "+file)
	requireKind(t, c.Ready("nope"), protocol.KindProviderNotFound)
}

func requireKind(t *testing.T, err error, kind protocol.Kind) {
	t.Helper()
	var refusal *protocol.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, kind, refusal.Data.Kind)
}

func TestReadyNamesTheMissingSetting(t *testing.T) {
	c, file := loadWith(t, `
[model_providers.bare]
name = "Bare"
[model_providers.mine]
base_url = "http://h/v1"
env_key = "MY_KEY"
env_key_instructions = "Ask the platform team."
[model_providers.blank]
base_url = "http://h/v1"
env_key = "BLANK"
[model_providers.inline]
base_url = "http://h/v1"
env_key = "NOT_SET"
experimental_bearer_token = "t"
`, map[string]string{"BLANK": " \n", "OPENROUTER_API_KEY": "k"})
	for name, want := range map[string]string{
		"openai": "model provider openai needs a login: sign in with `appserver login` or account/login/start, or set OPENAI_API_KEY in the server's environment, or choose another provider with model_provider in " + file + " (offline needs no key)",
		"mine":   "model provider mine needs an API key: set MY_KEY in the server's environment, type a key with `appserver login --provider mine` or modelProvider/key/write, or choose another provider with model_provider in " + file + " (offline needs no key). Ask the platform team.",
		"blank":  "model provider blank needs an API key: set BLANK in the server's environment, type a key with `appserver login --provider blank` or modelProvider/key/write, or choose another provider with model_provider in " + file + " (offline needs no key)",
		"bare":   "model provider bare has no address: set base_url in [model_providers.bare] of " + file,
	} {
		err := c.Ready(name)
		require.EqualError(t, err, want)
		requireKind(t, err, protocol.KindProviderNotReady)
	}
	for _, name := range []string{"offline", "ollama", "lmstudio", "openrouter", "inline"} {
		require.NoError(t, c.Ready(name), name)
	}
}

func TestAPIKey(t *testing.T) {
	c, _ := loadWith(t, "", map[string]string{"K": " key\n"})
	for want, p := range map[string]config.Provider{
		"key": {EnvKey: "K", BearerToken: "t"}, "t": {EnvKey: "OTHER", BearerToken: "t"}, "": {},
	} {
		key, err := c.APIKey(p)
		require.NoError(t, err)
		require.Equal(t, want, key)
	}
}

// TestVariablesForHeadersAreTrimmedOrRefused never shows a value.
func TestVariablesForHeadersAreTrimmedOrRefused(t *testing.T) {
	const file = `[model_providers.p]
base_url = "http://p/v1"
env_key = "KEY"
env_http_headers = { X-Org = "ORG" }
[mcp_servers.s]
url = "http://s/mcp"
bearer_token_env_var = "KEY"
env_http_headers = { X-Org = "ORG" }
`
	for _, c := range []struct {
		name, key, org string
		variable       string // of the error, or ""
	}{
		{"line ends and blanks", "\t sk-1 \r\n", " a b\r\n", ""},
		{"quotes of a header", "sk-1", `"a"`, ""},
		{"other characters of a header", "sk-1", "é", ""},
		{"quotes", `"sk-secret"`, "a", "KEY"},
		{"a quote and a line end", "\"sk-secret\"\r", "a", "KEY"},
		{"typographic quotes", "“sk-secret”", "a", "KEY"},
		{"two lines", "sk-secret\nsk-2", "a", "KEY"},
		{"a control character", "sk-secret\x00", "a", "KEY"},
		{"two lines of a header", "sk-1", "sk-secret\r\nX-Other: b", "ORG"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf, _ := loadWith(t, file, map[string]string{"KEY": c.key, "ORG": c.org})
			headers, err := conf.RequestHeaders(conf.Servers()[0])
			ready := conf.Ready("p")
			if c.variable == "" {
				require.NoError(t, ready)
				require.NoError(t, err)
				require.Equal(t, "Bearer sk-1", headers["Authorization"])
				require.Equal(t, strings.TrimSpace(c.org), headers["X-Org"])
				return
			}
			requireKind(t, ready, protocol.KindProviderNotReady)
			for _, err := range []error{ready, err} {
				require.ErrorContains(t, err, "the environment variable "+c.variable+" has")
				require.NotContains(t, err.Error(), "secret")
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	c, _ := loadWith(t, "", map[string]string{"USER_HEADER": "me", "EMPTY": ""})
	p := config.Provider{
		HTTPHeaders:    map[string]string{"X-Team": "a", "X-User": "none"},
		EnvHTTPHeaders: map[string]string{"X-User": "USER_HEADER", "X-Empty": "EMPTY"},
	}
	headers, err := c.Headers(p)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"X-Team": "a", "X-User": "me"}, headers)
	require.Equal(t, "none", p.HTTPHeaders["X-User"], "the provider is unchanged")
	headers, err = c.Headers(config.Provider{})
	require.NoError(t, err)
	require.Empty(t, headers)
}

func TestProviderInfo(t *testing.T) {
	c := load(t, "[model_providers.mine]\nrequest_max_retries = 1\nstream_max_retries = 0\n")
	window := int64(128_000)
	cache := core.ProviderInfo{CachedPriceRatio: 0.1, CacheRetention: 10 * time.Minute}
	require.Equal(t, core.ProviderInfo{RequestMaxRetries: 1, ContextWindow: &window,
		CachedPriceRatio: cache.CachedPriceRatio, CacheRetention: cache.CacheRetention},
		c.ProviderInfo("mine", "gpt-4o-mini", 0))
	require.Equal(t, cache, c.ProviderInfo("nope", "x", 0))
}

func TestScriptIsRelativeToTheFile(t *testing.T) {
	home, _ := write(t, "config.toml",
		"model_provider = \"offline\"\n[model_providers.offline]\nscript = \"demo/answers.json\"\n")
	c, err := config.Load(config.Source{Home: home})
	require.NoError(t, err)
	p, err := c.Provider("offline")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(home, "demo", "answers.json"), p.Script)
	require.Equal(t, "offline", c.Model)
}
