package config_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/config"
	"appserver/protocol"
)

func TestOverridesAreTOMLOrPlainStrings(t *testing.T) {
	for override, check := range map[string]func(t *testing.T, c *config.Config){
		"model=gpt-4.1":      func(t *testing.T, c *config.Config) { require.Equal(t, "gpt-4.1", c.Model) },
		`model="gpt-4.1"`:    func(t *testing.T, c *config.Config) { require.Equal(t, "gpt-4.1", c.Model) },
		"model= spaced out ": func(t *testing.T, c *config.Config) { require.Equal(t, "spaced out", c.Model) },
		"model=a=b":          func(t *testing.T, c *config.Config) { require.Equal(t, "a=b", c.Model) },
		"model='a\"b'":       func(t *testing.T, c *config.Config) { require.Equal(t, `a"b`, c.Model) },
		"model=x\nsandbox_mode = 3": func(t *testing.T,
			c *config.Config) {
			require.Equal(t, "x\nsandbox_mode = 3", c.Model)
		},
		"project_doc_max_bytes=1_000": func(t *testing.T,
			c *config.Config) {
			require.Equal(t, 1000, c.ProjectDocMaxBytes)
		},
		"history.saveHistory=false":   func(t *testing.T, c *config.Config) { require.False(t, c.History.SaveHistory) },
		"history={saveHistory=false}": func(t *testing.T, c *config.Config) { require.False(t, c.History.SaveHistory) },
		`history.sensitivePatterns=["a"]`: func(t *testing.T,
			c *config.Config) {
			require.Equal(t, []string{"a"}, c.History.SensitivePatterns)
		},
		`model_providers."my.one".name=N`: func(t *testing.T,
			c *config.Config) {
			require.Equal(t, "N", c.ModelProviders["my.one"].Name)
		},
		`model_providers."a=b".name=N`: func(t *testing.T,
			c *config.Config) {
			require.Equal(t, "N", c.ModelProviders["a=b"].Name)
		},
		"model_providers.openai.query_params.api-version=2024-10-21": func(t *testing.T, c *config.Config) {
			require.Equal(t, "2024-10-21", c.ModelProviders["openai"].QueryParams["api-version"])
			require.Equal(t, "https://api.openai.com/v1", c.ModelProviders["openai"].BaseURL)
		},
		"projects./home/me/x.trust_level=trusted": func(t *testing.T, c *config.Config) { require.Empty(t, c.Warnings) },
	} {
		t.Run(override, func(t *testing.T) { check(t, load(t, "", override)) })
	}
}

func TestOverridesWinInOrder(t *testing.T) {
	file := "model = \"file\"\nmodel_provider = \"ollama\"\n[history]\nmaxSize = 3\n"
	c := load(t, file, "model=first", "model=second", "history.saveHistory=false")
	require.Equal(t, "second", c.Model)
	require.Equal(t, 3, c.History.MaxSize, "a table is joined, not replaced")
	require.False(t, c.History.SaveHistory)
}

func TestProviderFlagIsStrongest(t *testing.T) {
	home, _ := write(t, "config.toml", "model_provider = \"ollama\"\nmodel = \"qwen3\"\n")
	c, err := config.Load(config.Source{Home: home, Overrides: []string{"model_provider=lmstudio"}, Provider: "offline"})
	require.NoError(t, err)
	require.Equal(t, "offline", c.ModelProvider)
	require.Equal(t, "offline", c.Model, "the file's model belongs to the file's provider")

	c, err = config.Load(config.Source{Home: home, Overrides: []string{"model=mine"}, Provider: "offline"})
	require.NoError(t, err)
	require.Equal(t, "mine", c.Model)

	c, err = config.Load(config.Source{Home: home, Provider: "lmstudio"})
	require.NoError(t, err)
	require.Equal(t, "qwen3", c.Model, "the provider has no default model")
}

func TestErrorsHaveTheOverride(t *testing.T) {
	for override, want := range map[string]string{
		"model":              "-c model: expected KEY=VALUE, with a dotted key",
		"=x":                 "-c =x: expected KEY=VALUE, with a dotted key",
		"a..b=x":             "-c a..b=x: expected KEY=VALUE, with a dotted key",
		"model=5":            "-c model=5: model: expected a string, got an integer",
		"sandbox_mode=foo":   "-c sandbox_mode=foo: sandbox_mode: unknown variant `foo`, expected one of `read-only`",
		"history=5":          "-c history=5: history: expected a table, got an integer",
		"history.maxSize=-1": "-c history.maxSize=-1: history.maxSize: expected at least 0, got -1",
		"model_providers.x.experimental_bearer_token=[77]": "-c model_providers.x.experimental_bearer_token: model_providers.x.experimental_bearer_token: expected a string, got a list",
	} {
		t.Run(override, func(t *testing.T) {
			_, err := config.Load(config.Source{Home: t.TempDir(), Overrides: []string{override}})
			require.ErrorContains(t, err, want)
			require.NotContains(t, err.Error(), "77", "errors contain no secrets")
		})
	}
}

func overrides(t *testing.T, text string) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(text), &m))
	return m
}

func TestWithAppliesOverridesOfAThread(t *testing.T) {
	c := load(t, "model = \"file\"\nmistake = 1\n[history]\nmaxSize = 3\n", "model_reasoning_effort=low")
	with, err := c.With(overrides(t, `{
		"model_reasoning_effort": "high", "history.saveHistory": false, "model_context_window": 5000, "model": null,
		"model_providers": {"local": {"base_url": "http://h/v1"}}, "features": {"apps": 1.5}, "nokey": [1, null]
	}`))
	require.NoError(t, err)
	require.Equal(t, "high", *with.ModelReasoningEffort)
	require.Equal(t, "file", with.Model, "null does not change a key")
	require.EqualValues(t, 5000, *with.ModelContextWindow)
	require.Equal(t, config.History{RedactSecrets: true, Retention: "archive", MaxSize: 3}, with.History)
	require.Equal(t, "http://h/v1", with.ModelProviders["local"].BaseURL)
	require.Equal(t, []string{"config.nokey: nokey: unknown key, it has no effect",
		"config.model_providers.local.base_url has no effect on a thread: model providers are the same for all threads; set it in config.toml",
	}, with.Warnings)

	require.Equal(t, "low", *c.ModelReasoningEffort, "the original is unchanged")
	require.NotContains(t, c.ModelProviders, "local")
	require.True(t, c.History.SaveHistory)
}

func TestWithoutOverridesReturnsTheSame(t *testing.T) {
	c := load(t, "")
	with, err := c.With(nil)
	require.NoError(t, err)
	require.Same(t, c, with)
}

func TestWithTwice(t *testing.T) {
	c := load(t, "")
	a, err := c.With(overrides(t, `{"model": "a", "sandbox_mode": "workspace-write"}`))
	require.NoError(t, err)
	b, err := a.With(overrides(t, `{"model": "b"}`))
	require.NoError(t, err)
	require.Equal(t, "b", b.Model)
	require.Equal(t, "a", a.Model)
	require.Equal(t, protocol.SandboxWorkspaceWrite, b.SandboxMode)
}

func TestWithErrorsHaveTheKey(t *testing.T) {
	c := load(t, "")
	for text, want := range map[string]struct{ field, message string }{
		`{"model": 5}`: {"config.model",
			"Invalid request: `config.model`: expected a string, got an integer"},
		`{"sandbox_mode": "foo"}`: {"config.sandbox_mode",
			"unknown variant `foo`, expected one of `read-only`"},
		`{"history.maxSize": "a"}`: {"config.history.maxSize", "expected an integer, got a string"},
		`{"history": {"maxSize": 1.5}}`: {"config.history.maxSize",
			"expected an integer, got a number with a fraction"},
		`{"a..b": 1}`: {"config.a..b", "expected KEY=VALUE"},
		`{"model_context_window": 99999999999999999999}`: {"config.model_context_window",
			"expected an integer, got a number with a fraction"},
	} {
		t.Run(text, func(t *testing.T) {
			_, err := c.With(overrides(t, text))
			var refusal *protocol.Error
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, protocol.CodeInvalidParams, refusal.Code)
			require.Equal(t, want.field, refusal.Data.Field)
			require.Contains(t, refusal.Message, want.message)
		})
	}
}

func TestPathsOfOverridesStartAtTheWorkingDirectory(t *testing.T) {
	here, err := filepath.Abs("p.md")
	require.NoError(t, err)
	require.Equal(t, here, load(t, "", "model_instructions_file=p.md").ModelInstructionsFile)
}

func TestManyOverridesOfAThread(t *testing.T) {
	many := map[string]json.RawMessage{}
	for i := range 20_000 {
		many[fmt.Sprintf("features.f%d", i)] = json.RawMessage("true")
	}
	c, err := load(t, "").With(many)
	require.NoError(t, err)
	require.Len(t, c.View(false).Origins, len(many))
}

func TestOverridesOfTheSameTable(t *testing.T) {
	c := load(t, "", "history=1", "history.maxSize=2", "history={saveHistory=false}")
	require.Equal(t, config.History{RedactSecrets: true, Retention: "archive", MaxSize: 2}, c.History)
}

// thread/start may take 2 ms in all.
func BenchmarkWith(b *testing.B) {
	c, err := config.Load(config.Source{})
	require.NoError(b, err)
	overrides := map[string]json.RawMessage{"features.x": json.RawMessage("false"), "model": json.RawMessage(`"m"`)}
	for b.Loop() {
		_, err = c.With(overrides)
	}
	require.NoError(b, err)
}
