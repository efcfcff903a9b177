package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/config"
	"appserver/protocol"
)

// viewOf returns the response to config/read as JSON.
func viewOf(t *testing.T, c *config.Config, includeLayers bool) map[string]any {
	t.Helper()
	text, err := json.Marshal(c.View(includeLayers))
	require.NoError(t, err)
	var view map[string]any
	require.NoError(t, json.Unmarshal(text, &view))
	return view
}

// at returns the member at a path.
func at(t *testing.T, v any, path ...string) any {
	t.Helper()
	for _, key := range path {
		table, ok := v.(map[string]any)
		require.True(t, ok, "%v above %s", path, key)
		require.Contains(t, table, key)
		v = table[key]
	}
	return v
}

func TestViewHasEveryStableMember(t *testing.T) {
	view := viewOf(t, load(t, ""), false)
	require.Nil(t, at(t, view, "layers"))
	require.Equal(t, map[string]any{}, at(t, view, "origins"))
	require.Equal(t, "openai", at(t, view, "config", "model_provider"))
	require.Equal(t, "gpt-5", at(t, view, "config", "model"))
	for _, key := range []string{
		"analytics", "approval_policy", "approvals_reviewer", "browser_use", "client_search_provider", "compact_prompt",
		"computer_use", "desktop", "developer_instructions", "forced_chatgpt_workspace_id", "forced_login_method",
		"instructions", "model_auto_compact_token_limit", "model_auto_compact_token_limit_scope", "model_context_window",
		"model_reasoning_effort", "model_reasoning_summary", "model_verbosity", "review_model", "sandbox_mode",
		"sandbox_workspace_write", "service_tier", "tools", "web_search",
	} {
		require.Nil(t, at(t, view, "config", key), key)
	}
	require.Equal(t, map[string]any{}, at(t, view, "config", "model_providers"))
	require.EqualValues(t, 32768, at(t, view, "config", "project_doc_max_bytes"))
}

// The file, the answer and the hash were observed with the reference implementation.
func TestViewEqualsTheReference(t *testing.T) {
	home, file := write(t, "config.toml", `model = "mock-model"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:18080/v1"
wire_api = "chat"
env_key = "MOCK_KEY"
`)
	c, err := config.Load(config.Source{Home: home})
	require.NoError(t, err)
	view := viewOf(t, c, true)
	require.Equal(t, "never", at(t, view, "config", "approval_policy"))
	require.Equal(t, "danger-full-access", at(t, view, "config", "sandbox_mode"))
	require.Equal(t, "MOCK_KEY", at(t, view, "config", "model_providers", "mock", "env_key"))
	require.Nil(t, at(t, view, "config", "model_providers", "mock", "http_headers"))
	source := map[string]any{"type": "user", "file": file, "profile": nil}
	version := at(t, view, "origins", "model", "version")
	require.Regexp(t, `^sha256:[0-9a-f]{64}$`, version)
	origins := at(t, view, "origins").(map[string]any)
	require.Len(t, origins, 8)
	for key := range origins {
		require.Equal(t, source, at(t, origins, key, "name"))
		require.Equal(t, version, at(t, origins, key, "version"))
	}
	require.Contains(t, origins, "model_providers.mock.base_url")
	layers := at(t, view, "layers").([]any)
	require.Len(t, layers, 1)
	require.Equal(t, source, at(t, layers[0], "name"))
	require.Equal(t, "chat", at(t, layers[0], "config", "model_providers", "mock", "wire_api"))
}

func TestVersionOfAnEmptyLayer(t *testing.T) {
	layers := load(t, "").View(true).Layers
	require.Len(t, layers, 1, "the layer of the user exists without a file")
	require.Equal(t, "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", layers[0].Version)
}

func TestViewLayersStrongestFirst(t *testing.T) {
	c := load(t, "model = \"file\"\nnotify = [\"a\", \"b\"]\nmistake = 1\n[history]\npersistence = \"none\"\n",
		"model=flag", "sandbox_mode=read-only")
	view := c.View(true)
	require.Equal(t, protocol.LayerSessionFlags, view.Layers[0].Name.Type)
	require.Equal(t, map[string]any{"model": "flag", "sandbox_mode": "read-only"}, view.Layers[0].Config)
	require.Equal(t, protocol.LayerUser, view.Layers[1].Name.Type)
	require.Equal(t, "file", view.Layers[1].Config["model"])
	require.Equal(t, "flag", view.Config["model"])
	require.Equal(t, protocol.LayerSessionFlags, view.Origins["model"].Name.Type)
	require.Equal(t, protocol.LayerUser, view.Origins["notify.1"].Name.Type)
	require.Equal(t, []string{"a", "b"}, view.Config["notify"])
	require.Equal(t, "none", view.Config["history"].(map[string]any)["persistence"])
	require.Equal(t, true, view.Config["history"].(map[string]any)["saveHistory"])
	require.NotContains(t, view.Config, "mistake")
}

func TestViewHasTheDefaultsOfASetTable(t *testing.T) {
	view := viewOf(t, load(t, "[sandbox_workspace_write]\nnetwork_access = true\n"), false)
	require.Equal(t, map[string]any{
		"writable_roots": []any{}, "network_access": true, "exclude_tmpdir_env_var": false, "exclude_slash_tmp": false,
	}, at(t, view, "config", "sandbox_workspace_write"))
}

func TestViewShowsNoSecrets(t *testing.T) {
	home, _ := write(t, "config.toml", `
[model_providers.mine]
base_url = "https://me:SECRET@h/v1"
env_key = "NAME_OF_KEY"
experimental_bearer_token = "SECRET"
http_headers = { Authorization = "Bearer SECRET", X-Api-Key = "SECRET", X-Team = "shown" }
env_http_headers = { Authorization = "NAME_OF_VARIABLE" }
query_params = { api-version = "v1", sig = "SECRET" }
[memory.embeddings]
base_url = "https://h/v1?api-version=shown-too&key=SECRET&%74oken=SECRET&sig="
[mcp_servers.docs]
command = "docs"
bearer_token_env_var = "NAME_OF_TOKEN"
env = { DOCS_TOKEN = "SECRET", DOCS_LANG = "en" }
headers = [ { password = "SECRET" } ]
`)
	c, err := config.Load(config.Source{Home: home,
		Overrides: []string{"model_providers.mine.http_headers.Cookie=SECRET"}})
	require.NoError(t, err)
	view := c.View(true)
	text, err := json.Marshal(view)
	require.NoError(t, err)
	const variable = "APPSERVER_FLEET_SECRET"
	require.NotContains(t, strings.ReplaceAll(string(text), variable, ""), "SECRET")
	for _, shown := range []string{variable, "NAME_OF_KEY", "NAME_OF_VARIABLE", "NAME_OF_TOKEN", "shown",
		"?api-version=shown-too\\u0026key=[redacted]", `"v1"`, `"en"`, "[redacted]"} {
		require.Contains(t, string(text), shown)
	}
	require.Equal(t, "SECRET", c.ModelProviders["mine"].BearerToken, "the configuration keeps it")
}

// JSON cannot represent some values of TOML.
func TestViewOfEveryValueOfTOML(t *testing.T) {
	home, _ := write(t, "config.toml",
		"[tui]\na = nan\nb = -inf\nc = 1979-05-27T07:32:00Z\nd = 1979-05-27\ne = 07:32:00\nf = [1.5, [true]]\n[[tui.g]]\nh = 1\n")
	c, err := config.Load(config.Source{Home: home})
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"a": "NaN", "b": "-Inf", "c": "1979-05-27T07:32:00Z", "d": "1979-05-27", "e": "07:32:00",
		"f": []any{1.5, []any{true}}, "g": []any{map[string]any{"h": 1.0}},
	}, at(t, viewOf(t, c, true), "config", "tui"))
}

func TestViewNamesTheYAMLFile(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "config.yaml")
	require.NoError(t, os.WriteFile(file, []byte("model: m\n"), 0o600))
	c, err := config.Load(config.Source{Home: home})
	require.NoError(t, err)
	require.Equal(t, file, c.View(false).Origins["model"].Name.File)
}
