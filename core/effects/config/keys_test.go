package config

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecret(t *testing.T) {
	for _, path := range []string{
		"model_providers.x.experimental_bearer_token", "model_providers.x.http_headers.Authorization",
		"model_providers.x.http_headers.Proxy-Authorization", "model_providers.x.http_headers.api-key",
		"model_providers.x.http_headers.X-API-KEY", "model_providers.x.http_headers.Cookie",
		"model_providers.x.query_params.sig", "model_providers.x.query_params.key",
		"mcp_servers.x.env.GITHUB_TOKEN", "mcp_servers.x.env.AWS_SECRET_ACCESS_KEY", "mcp_servers.x.env.DB_PASSWORD",
		"shell_environment_policy.set.OPENAI_API_KEY",
	} {
		require.True(t, secret(strings.Split(path, ".")), path)
	}
	for _, path := range []string{
		"model", "model_providers.x.env_key", "model_providers.x.env_key_instructions", "model_providers.x.base_url",
		"model_providers.x.env_http_headers.Authorization", "model_providers.x.query_params.api-version",
		"model_providers.x.http_headers.X-Title", "mcp_servers.x.bearer_token_env_var", "mcp_servers.x.env.LANG",
		"history.sensitivePatterns",
		"mcp_oauth_credentials_store", "cli_auth_credentials_store",
	} {
		require.False(t, secret(strings.Split(path, ".")), path)
	}
}

func TestIgnoredKeys(t *testing.T) {
	for _, path := range []string{"profiles", "profile", "mcp_servers.any.auth", "history.persistence",
		"model_providers.any.auth"} {
		require.True(t, isIgnored(strings.Split(path, ".")), path)
	}
	for _, path := range []string{"unknown_key", "history", "history.unknown_key", "model_providers.any.unknown_key",
		"model_providers.*"} {
		require.False(t, isIgnored(strings.Split(path, ".")), path)
	}
}

// settableKeys returns the dotted keys in the tags of v.
func settableKeys(v reflect.Type, above string) (keys []string) {
	for i := range v.NumField() {
		f := v.Field(i)
		key, ok := f.Tag.Lookup("key")
		switch {
		case !ok:
		case f.Type == reflect.TypeFor[Providers]():
			keys = append(keys, settableKeys(reflect.TypeFor[Provider](), "")...)
		case f.Type == reflect.TypeFor[McpServers](): // mcp.md has a row for each
		case f.Type.Kind() == reflect.Struct && !reflect.PointerTo(f.Type).Implements(unmarshaler):
			keys = append(keys, settableKeys(f.Type, above+key+".")...)
		default:
			keys = append(keys, above+key)
		}
	}
	return keys
}

var unmarshaler = reflect.TypeFor[interface{ UnmarshalJSON([]byte) error }]()

func documentation(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "config.md"))
	require.NoError(t, err)
	return string(text)
}

func TestDocumentationHasARowForEveryKey(t *testing.T) {
	text := documentation(t)
	keys := settableKeys(reflect.TypeFor[Config](), "")
	require.GreaterOrEqual(t, len(keys), 40)
	for _, key := range keys {
		require.Contains(t, text, "\n| `"+key+"` |", key)
	}
	for name, p := range builtinProviders() {
		require.Regexp(t, "\n\\| `"+name+"` \\|.*"+regexp.QuoteMeta(p.BaseURL), text)
	}
}

func TestDocumentationHasNoOtherRows(t *testing.T) {
	known := keySet(settableKeys(reflect.TypeFor[Config](), ""))
	rows := regexp.MustCompile("(?m)^\\| `([a-zA-Z_.]+)` \\|").FindAllStringSubmatch(documentation(t), -1)
	require.GreaterOrEqual(t, len(rows), 40)
	for _, row := range rows {
		_, provider := builtinProviders()[row[1]]
		require.True(t, known[row[1]] || provider, row[1])
	}
}

// Each example is a whole file. It loads without an error or a warning.
func TestExamplesOfTheDocumentationLoad(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```(toml|yaml)\n(.*?)```").FindAllStringSubmatch(documentation(t), -1)
	require.GreaterOrEqual(t, len(blocks), 8)
	for _, block := range blocks {
		home := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(home, "config."+block[1]), []byte(block[2]), 0o600))
		c, err := Load(Source{Home: home, Getenv: func(name string) string { return "value of " + name }})
		require.NoError(t, err, block[2])
		require.Empty(t, c.Warnings, block[2])
		require.NoError(t, c.Ready(c.ModelProvider), block[2])
		require.NotEmpty(t, c.Model, block[2])
	}
}

func TestDocumentationOfServersHasEveryKey(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "mcp.md"))
	require.NoError(t, err)
	for _, key := range settableKeys(reflect.TypeFor[McpServer](), "") {
		if key == "tools" {
			key = "tools.NAME.approval_mode"
		}
		require.Contains(t, string(text), "`"+key+"`", key)
	}
}
