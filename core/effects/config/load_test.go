package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/config"
	"appserver/protocol"
	"appserver/test/posix"
)

// write creates a home with a file of settings.
func write(t *testing.T, name, text string) (home, file string) {
	t.Helper()
	home = t.TempDir()
	file = filepath.Join(home, name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return home, file
}

func load(t *testing.T, text string, overrides ...string) *config.Config {
	t.Helper()
	home, _ := write(t, "config.toml", text)
	c, err := config.Load(config.Source{Home: home, Overrides: overrides})
	require.NoError(t, err)
	return c
}

func TestDefaultsWithoutAFile(t *testing.T) {
	c, err := config.Load(config.Source{Home: t.TempDir()})
	require.NoError(t, err)
	require.Empty(t, c.Warnings)
	require.Equal(t, "openai", c.ModelProvider)
	require.Equal(t, config.DefaultModel, c.Model)
	require.Equal(t, protocol.ApprovalOnRequest, c.ApprovalPolicy.Mode)
	require.Equal(t, protocol.ReviewerUser, c.ApprovalsReviewer)
	require.Equal(t, protocol.SandboxReadOnly, c.SandboxMode)
	require.Equal(t, 32768, c.ProjectDocMaxBytes)
	require.Nil(t, c.ModelContextWindow)
	require.True(t, c.History.SaveHistory)
	require.True(t, c.Context.RewriteOnUnload)
	require.Equal(t, 50*time.Millisecond, c.Compat.TurnCompletedFloor)
}

const everythingTOML = `
model = "qwen3"
model_provider = "local"
approval_policy = "never"
approvals_reviewer = "auto_review"
sandbox_mode = "workspace-write"
model_context_window = 131_072
model_auto_compact_token_limit = 100000
model_reasoning_effort = "high"
model_reasoning_summary = "concise"
service_tier = "flex"
developer_instructions = "be brief"
model_instructions_file = "prompt.md"
project_doc_max_bytes = 1024
project_doc_fallback_filenames = ["CLAUDE.md", "x"]

[sandbox_workspace_write]
writable_roots = ["/var/cache/x", "beside"]
network_access = true
exclude_slash_tmp = true

[model_providers.local]
name = "Local"
base_url = "http://127.0.0.1:8000/v1"
env_key = "LOCAL_KEY"
query_params = { api-version = "2024-10-21" }
http_headers = { X-Team = "a" }
env_http_headers = { X-User = "USER_HEADER" }
request_max_retries = 1
stream_max_retries = 2
stream_idle_timeout_ms = 1500

[model_providers.offline]
script = "script.json"

[history]
saveHistory = false
maxSize = 1000
sensitivePatterns = ["password", 'sk-\w+']
persistence = "none"

[context]
rewrite_on_unload = false

[compaction]
strategy = "mask"

[memory]
summarize_on_prune = true

[index]
path = "x"

[compat]
turn_completed_floor_ms = 0
`

const everythingYAML = `
model: qwen3
model_provider: local
approval_policy: never
approvals_reviewer: auto_review
sandbox_mode: workspace-write
model_context_window: 131072
model_auto_compact_token_limit: 100000
model_reasoning_effort: high
model_reasoning_summary: concise
service_tier: flex
developer_instructions: be brief
model_instructions_file: prompt.md
project_doc_max_bytes: 1024
project_doc_fallback_filenames: [CLAUDE.md, x]
sandbox_workspace_write:
  writable_roots: [/var/cache/x, beside]
  network_access: true
  exclude_slash_tmp: true
model_providers:
  local:
    name: Local
    base_url: http://127.0.0.1:8000/v1
    env_key: LOCAL_KEY
    query_params: {api-version: "2024-10-21"}
    http_headers: {X-Team: a}
    env_http_headers: {X-User: USER_HEADER}
    request_max_retries: 1
    stream_max_retries: 2
    stream_idle_timeout_ms: 1500
  offline:
    script: script.json
history:
  saveHistory: false
  maxSize: 1000
  sensitivePatterns:
    - "password"
    - sk-\w+
  persistence: none
context: {rewrite_on_unload: false}
compaction: {strategy: mask}
memory: {summarize_on_prune: true}
index: {path: x}
compat: {turn_completed_floor_ms: 0}
instructions: ~
`

func TestEveryKeyInBothFormats(t *testing.T) {
	for name, text := range map[string]string{"config.toml": everythingTOML, "config.yaml": everythingYAML} {
		t.Run(name, func(t *testing.T) {
			home, _ := write(t, name, text)
			c, err := config.Load(config.Source{Home: home})
			require.NoError(t, err)
			require.Empty(t, c.Warnings)
			requireTopLevel(t, c, home)
			requireLocalProvider(t, c)
			require.Equal(t, filepath.Join(home, "script.json"), c.ModelProviders["offline"].Script)
			require.Equal(t, config.History{SaveHistory: false, MaxSize: 1000, SensitivePatterns: []string{"password", `sk-\w+`},
				RedactSecrets: true, Retention: "archive"}, c.History)
			require.Equal(t, config.SandboxWorkspaceWrite{
				WritableRoots: []string{"/var/cache/x", filepath.Join(home, "beside")}, NetworkAccess: true, ExcludeSlashTmp: true,
			}, c.SandboxWorkspaceWrite)
			require.False(t, c.Context.RewriteOnUnload)
			require.Zero(t, c.Compat.TurnCompletedFloor)
			require.Equal(t, config.Compaction{Strategy: "mask", KeepTurns: 5, UserMessageTokens: 20_000, LimitPercent: 90,
				TargetPercent: 70}, c.Compaction)
			require.Equal(t, core.MemoryRules{Summarize: true}, c.Memory.Rules())
			require.Equal(t, config.Index{Enabled: true, Path: "x"}, c.Index)
		})
	}
}

func requireTopLevel(t *testing.T, c *config.Config, home string) {
	t.Helper()
	require.Equal(t, "qwen3", c.Model)
	require.Equal(t, "local", c.ModelProvider)
	require.Equal(t, protocol.ApprovalNever, c.ApprovalPolicy.Mode)
	require.EqualValues(t, "auto_review", c.ApprovalsReviewer)
	require.Equal(t, protocol.SandboxWorkspaceWrite, c.SandboxMode)
	require.EqualValues(t, 131072, *c.ModelContextWindow)
	require.EqualValues(t, 100000, *c.ModelAutoCompactTokenLimit)
	require.Equal(t, "high", *c.ModelReasoningEffort)
	require.Equal(t, "concise", *c.ModelReasoningSummary)
	require.Equal(t, "flex", *c.ServiceTier)
	require.Equal(t, "be brief", *c.DeveloperInstructions)
	require.Equal(t, filepath.Join(home, "prompt.md"), c.ModelInstructionsFile)
	require.Equal(t, 1024, c.ProjectDocMaxBytes)
	require.Equal(t, []string{"CLAUDE.md", "x"}, c.ProjectDocFallbackFilenames)
	require.False(t, c.ProjectChoosesDocuments())
}

func requireLocalProvider(t *testing.T, c *config.Config) {
	t.Helper()
	require.Equal(t, config.Provider{
		ID: "local", Name: "Local", BaseURL: "http://127.0.0.1:8000/v1", EnvKey: "LOCAL_KEY", WireAPI: "responses",
		QueryParams:       map[string]string{"api-version": "2024-10-21"},
		HTTPHeaders:       map[string]string{"X-Team": "a"},
		EnvHTTPHeaders:    map[string]string{"X-User": "USER_HEADER"},
		RequestMaxRetries: 1, StreamMaxRetries: 2, StreamIdleTimeout: 1500 * time.Millisecond,
	}, c.ModelProviders["local"])
}

func TestGranularApprovalPolicy(t *testing.T) {
	c := load(t, "[approval_policy.granular]\nsandbox_approval = true\nrules = true\nmcp_elicitations = false\n")
	require.Equal(t, protocol.ApprovalGranular, c.ApprovalPolicy.Mode)
	require.True(t, c.ApprovalPolicy.Granular.SandboxApproval)
}

func TestByteOrderMarkAndLineEndsOfWindows(t *testing.T) {
	require.Equal(t, "m", load(t, "\xef\xbb\xbfmodel = \"m\"\r\n# end\r\n").Model)
}

// Each error has the file, the line, the key and the expected value.
func TestErrorsOfTheFile(t *testing.T) {
	for name, tt := range map[string]struct{ file, text, want string }{
		"type":         {"config.toml", "\nmodel = 5\n", "FILE:2: model: expected a string, got an integer"},
		"type in yaml": {"config.yaml", "# x\nmodel: [a]\n", "FILE:2: model: expected a string, got a list"},
		"boolean": {"config.toml", "[history]\nsaveHistory = \"no\"\n",
			"FILE:2: history.saveHistory: expected true or false, got a string"},
		"integer": {"config.toml", "model_context_window = 1.5\n",
			"FILE:1: model_context_window: expected an integer, got a number with a fraction"},
		"table": {"config.toml", "history = 3\n", "FILE:1: history: expected a table, got an integer"},
		"list": {"config.toml", "[sandbox_workspace_write]\nwritable_roots = \"/x\"\n",
			"FILE:2: sandbox_workspace_write.writable_roots: expected a list of strings, got a string"},
		"element": {"config.toml", "[sandbox_workspace_write]\nwritable_roots = [\"/x\", {a = 1}]\n",
			"FILE:2: sandbox_workspace_write.writable_roots.1: expected a string, got a table"},
		"null element": {"config.yaml", "history:\n  sensitivePatterns: [~]\n",
			"FILE:2: history.sensitivePatterns.0: expected a string, got null"},
		"word": {"config.toml", "sandbox_mode = \"foo\"\n",
			"FILE:1: sandbox_mode: unknown variant `foo`, expected one of `read-only`, `workspace-write`, `danger-full-access`"},
		"old policy": {"config.toml", "approval_policy = \"on-failure\"\n",
			"FILE:1: approval_policy: unknown variant `on-failure`, expected one of `untrusted`"},
		"summary": {"config.yaml", "model_reasoning_summary: long\n",
			"FILE:1: model_reasoning_summary: unknown variant `long`, expected one of `auto`, `concise`, `detailed`, `none`"},
		"low": {"config.toml", "project_doc_max_bytes = -1\n",
			"FILE:1: project_doc_max_bytes: expected at least 0, got -1"},
		"high": {"config.toml", "[compat]\nturn_completed_floor_ms = 999999\n",
			"FILE:2: compat.turn_completed_floor_ms: expected at most 60000, got 999999"},
		"deep key": {"config.toml", "[model_providers.x]\nname = \"x\"\n\n[model_providers.x.query_params]\na = 1\n",
			"FILE:5: model_providers.x.query_params.a: expected a string, got an integer"},
		"inline table": {"config.toml", "model_providers = { x = { name = 1 } }\n",
			"FILE:1: model_providers.x.name: expected a string, got an integer"},
		"dotted key": {"config.toml", "\n\nmodel_providers.x.name = true\n",
			"FILE:3: model_providers.x.name: expected a string, got a boolean"},
		"no provider": {"config.toml", "model_providers = \"x\"\n",
			"FILE:1: model_providers: expected a table of providers, got a string"},
		"address": {"config.toml", "[model_providers.x]\nbase_url = \"localhost:80\"\n",
			"FILE:2: model_providers.x.base_url: expected an address such as https://HOST/v1"},
		"openai address": {"config.toml", "openai_base_url = \"ftp://h\"\n",
			"FILE:1: openai_base_url: expected an address such as https://HOST/v1"},
		"wire word": {"config.toml", "[model_providers.x]\nwire_api = \"soap\"\n",
			"FILE:2: model_providers.x.wire_api: unknown variant `soap`, expected one of `chat`, `responses`"},
		"pattern": {"config.toml", "[history]\nsensitivePatterns = [\"(\"]\n",
			"FILE:2: history.sensitivePatterns: expected words and regular expressions: "},
		"toml syntax":    {"config.toml", "model = \"a\"\nmodel_provider = = 3\n", "FILE:2: "},
		"toml twice":     {"config.toml", "model = \"a\"\nmodel = \"b\"\n", "FILE:2: "},
		"not utf-8":      {"config.toml", "model = \"\xff\"\n", "FILE:1: "},
		"yaml syntax":    {"config.yaml", "model: a\n\tx: [\n", "FILE:2: "},
		"yaml twice":     {"config.yaml", "model: a\nmodel: b\n", "FILE:2: "},
		"yaml list":      {"config.yaml", "# x\n- a\n", "FILE:2: expected a table of keys"},
		"yaml number":    {"config.yaml", "5\n", "FILE:1: expected a table of keys"},
		"yaml keys":      {"config.yaml", "features:\n  ? [1]\n  : 2\n", "FILE: invalid map key"},
		"yaml documents": {"config.yaml", "model: a\n---\nmodel: b\n", "FILE: more than one YAML document: expected one"},
		"yaml bomb":      {"config.yaml", yamlBomb(), "FILE: document contains excessive aliasing"},
		"too deep": {"config.toml", "tui = " + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "\n",
			"FILE:1: nested deeper than 64 levels"},
		"too deep key": {"config.toml", "[" + strings.Repeat("a.", 100) + "a]\n", "FILE:1: nested deeper than 64 levels"},
	} {
		t.Run(name, func(t *testing.T) {
			home, file := write(t, tt.file, tt.text)
			_, err := config.Load(config.Source{Home: home})
			require.ErrorContains(t, err, strings.ReplaceAll(tt.want, "FILE", file))
			var bad *config.Error
			require.ErrorAs(t, err, &bad)
			require.Contains(t, bad.Position, file)
		})
	}
}

func yamlBomb() string {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		ref := "*a" + string(rune('0'+i))
		text += "a" + string(rune('1'+i)) + ": &a" + string(rune('1'+i)) + " [" + strings.Repeat(ref+", ", 9) + ref + "]\n"
	}
	return text
}

func TestAllErrorsAtOnce(t *testing.T) {
	home, file := write(t, "config.toml", "model = 1\nsandbox_mode = \"x\"\n")
	_, err := config.Load(config.Source{Home: home})
	require.ErrorContains(t, err, file+":1: model: ")
	require.ErrorContains(t, err, file+":2: sandbox_mode: ")
}

func TestFilesThatCannotBeRead(t *testing.T) {
	file := func(home string) string { return filepath.Join(home, "config.toml") }
	for name, tt := range map[string]struct {
		make func(t *testing.T, home string)
		want string
	}{
		"both": {func(t *testing.T, home string) {
			require.NoError(t, os.WriteFile(file(home), nil, 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(home, "config.yaml"), nil, 0o600))
		}, "config.toml: there is also "},
		"folder": {func(t *testing.T, home string) {
			require.NoError(t, os.Mkdir(file(home), 0o700))
		}, "config.toml: not a regular file"},
		"pipe": {func(t *testing.T, home string) {
			require.NoError(t, posix.Mkfifo(file(home), 0o600))
		}, "config.toml: not a regular file"},
		"loop": {func(t *testing.T, home string) {
			require.NoError(t, os.Symlink("config.toml", file(home)))
		}, "config.toml: too many levels of symbolic links"},
		"large": {func(t *testing.T, home string) {
			require.NoError(t, os.WriteFile(file(home), make([]byte, 2<<20), 0o600))
		}, "config.toml: larger than 262144 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			tt.make(t, home)
			_, err := config.Load(config.Source{Home: home})
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestUnknownKeysWarn(t *testing.T) {
	home, file := write(t, "config.toml", `modle = "x"
[history]
save_history = true
[model_providers.local]
url = "x"
[unknown.table]
a = 1
`)
	c, err := config.Load(config.Source{Home: home, Overrides: []string{"sandbox_mod=read-only"}})
	require.NoError(t, err)
	require.Equal(t, []string{
		"-c sandbox_mod=read-only: sandbox_mod: unknown key, it has no effect",
		file + ":1: modle: unknown key, it has no effect",
		file + ":3: history.save_history: unknown key, it has no effect",
		file + ":5: model_providers.local.url: unknown key, it has no effect",
		file + ":6: unknown: unknown key, it has no effect",
	}, c.Warnings)
}

func TestKeysOfTheReferenceDoNotWarn(t *testing.T) {
	c := load(t, `
web_search = "live"
notify = ["a"]
hide_agent_reasoning = true
[profiles.p]
model = "x"
[projects."/home/me/x.y"]
trust_level = "trusted"
[mcp_servers.docs]
command = "docs"
[features]
apps = true
[tui]
theme = "dark"
[notice]
x = true
[history]
persistence = "save-all"
max_bytes = 5
[shell_environment_policy]
inherit = "core"
[tools]
view_image = true
[model_providers.other]
requires_openai_auth = true
websocket_connect_timeout_ms = 5
[model_providers.other.auth]
command = "x"
`)
	require.Empty(t, c.Warnings)
}

func TestWireAPIOfProviders(t *testing.T) {
	c := load(t, "[model_providers.x]\nwire_api = \"chat\"\nbase_url = \"http://h/v1\"\n[model_providers.y]\nbase_url = \"http://h/v1\"\n")
	require.Empty(t, c.Warnings)
	for provider, responses := range map[string]bool{
		"x": false, "y": true, "openai": true, "ollama": false, "lmstudio": false, "openrouter": false, "offline": false,
	} {
		require.Equal(t, responses, c.Capabilities(provider, "m", core.ListedModel{}).Responses, provider)
	}
}

func TestHomeOfTheUserInPaths(t *testing.T) {
	home, _ := write(t, "config.toml", "model_instructions_file = \"~/p.md\"\n")
	getenv := func(name string) string { return map[string]string{"HOME": "/home/me"}[name] }
	c, err := config.Load(config.Source{Home: home, Getenv: getenv})
	require.NoError(t, err)
	require.Equal(t, "/home/me/p.md", c.ModelInstructionsFile)
}

func TestEmptyYAML(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "~\n", "---\n"} {
		home, _ := write(t, "config.yaml", text)
		c, err := config.Load(config.Source{Home: home})
		require.NoError(t, err, "%q", text)
		require.Equal(t, config.DefaultModel, c.Model)
	}
}

func TestYAMLKeysThatAreNumbers(t *testing.T) {
	home, _ := write(t, "config.yaml", "model_providers:\n  1: {name: One}\ntui: {2: {3: x}}\n")
	c, err := config.Load(config.Source{Home: home})
	require.NoError(t, err)
	require.Empty(t, c.Warnings)
	require.Equal(t, "One", c.ModelProviders["1"].Name)
}

func TestYAMLAnchorsAndMerges(t *testing.T) {
	home, file := write(t, "config.yaml", `
features: &shared
  request_max_retries: 9
  stream_max_retries: no-number
model_providers:
  a:
    <<: *shared
    name: A
`)
	_, err := config.Load(config.Source{Home: home})
	require.EqualError(t, err, file+":6: model_providers.a.stream_max_retries: expected an integer, got a string")
}

func TestAPortForServersNeedsADatabase(t *testing.T) {
	home, _ := write(t, "config.toml", "[fleet]\nlisten = \"wss://10.0.0.7:4600\"\n")
	_, err := config.Load(config.Source{Home: home})
	require.ErrorContains(t, err, ":2: fleet.listen: ")
	require.ErrorContains(t, err, `set store.kind = "postgres"`)
	c, err := config.Load(config.Source{Home: home, Overrides: []string{"store.kind=postgres"}})
	require.NoError(t, err)
	require.Equal(t, "wss://10.0.0.7:4600", c.Fleet.Listen)
	require.Equal(t, "APPSERVER_FLEET_SECRET", c.Fleet.SecretEnv)
}
