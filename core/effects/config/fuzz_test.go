package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/config"
	"appserver/protocol"
)

// FuzzTOML and FuzzYAML: any file gives settings that can be encoded, or errors with a position in it.
func FuzzTOML(f *testing.F) {
	for _, seed := range []string{
		everythingTOML, "", "a.b.c = 1\n[a.b]\nd = 2\n", "[[x]]\ny = [1, {z = 2}]\n", "x = nan\ny = 1979-05-27",
		"\"a\\u00e9.b\" = '''\nx\n'''\n", "model_providers = { a = { b.c = 1 } }", "model = 5", "= 1", "[", "\xff",
		"notify = [\n  \"a\", # c\n  [],\n]\n", "x = " + strings.Repeat("{a=", 80) + "1" + strings.Repeat("}", 80),
	} {
		f.Add([]byte(seed))
	}
	home := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) { loadAny(t, home, "config.toml", text) })
}

func FuzzYAML(f *testing.F) {
	for _, seed := range []string{
		everythingYAML, "", "a: &a {b: *a}", "a: &x [1]\nb: {<<: {c: 1}, d: *x}\n", "? 1\n: 2\n", "- a", "a: !!binary aGk=\n",
		"1: {true: x}\n", "--- a\n--- b\n", "a: 2001-01-01\nb: .nan\nc: 18446744073709551615\n", "model: 5", ": :", "\t",
		"\"",
	} {
		f.Add([]byte(seed))
	}
	home := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) { loadAny(t, home, "config.yaml", text) })
}

// lineEnd matches the line endings of YAML.
var lineEnd = regexp.MustCompile("\r\n?|\n|\u0085|\u2028|\u2029")

func loadAny(t *testing.T, home, name string, text []byte) {
	file := filepath.Join(home, name)
	require.NoError(t, os.WriteFile(file, text, 0o600))
	c, err := config.Load(config.Source{Home: home})
	if err != nil {
		requirePositions(t, err, file, len(lineEnd.FindAll(text, -1))+1)
		return
	}
	requireEncodable(t, c)
}

func requirePositions(t *testing.T, err error, file string, lines int) {
	for line := range strings.Lines(err.Error()) {
		require.True(t, strings.HasPrefix(line, file) || strings.Contains(err.Error(), file), "%q", line)
	}
	var bad *config.Error
	require.ErrorAs(t, err, &bad)
	_, number, _ := strings.Cut(bad.Position, file+":")
	if number != "" {
		var n int
		require.NoError(t, json.Unmarshal([]byte(number), &n))
		require.GreaterOrEqual(t, n, 1)
		require.LessOrEqual(t, n, lines+1)
	}
}

func requireEncodable(t *testing.T, c *config.Config) {
	_, err := json.Marshal(c.View(true))
	require.NoError(t, err)
	_, err = json.Marshal(c.Models("", nil))
	require.NoError(t, err)
	_, err = c.Settings(&protocol.ThreadStartParams{}, "/")
	if err != nil {
		require.ErrorAs(t, err, new(*protocol.Error))
	}
}

// FuzzOverride: any override gives settings that can be encoded, or an error that names it. It sets no
// other key.
func FuzzOverride(f *testing.F) {
	for _, seed := range []string{
		"model=x", "a.b.c=[1, {d=2}]", `"a.b"='x'`, "=", "a=", "a", "model=1\nb=2", "a={b=1}\n[c]", "model_providers.x={}",
		"x=" + strings.Repeat("[", 200), strings.Repeat("a.", 200) + "b=1", "a\nb=1", "a#=1", "\"=1", "history=nan", "x=\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := config.Load(config.Source{Overrides: []string{text}})
		if err != nil {
			var bad *config.Error
			require.ErrorAs(t, err, &bad)
			require.True(t, strings.HasPrefix(bad.Position, "-c "))
			return
		}
		requireEncodable(t, c)
		layer := c.View(true).Layers[0].Config
		require.LessOrEqual(t, len(layer), 1, "%v", layer)
	})
}

// FuzzWith: any overrides of a thread give settings that can be encoded, or an error that names one of
// them.
func FuzzWith(f *testing.F) {
	for _, seed := range []string{
		`{"model": "x"}`, `{"a.b": {"c": [1, null, 1.5]}}`, `{"model": 5}`, `{"": 1}`, `{"model_providers.a.b": {"c": null}}`,
		`{"a": 1e999, "a.b": 2}`, `{"history": {"saveHistory": null}}`, `{"approval_policy": {"granular": {}}}`,
	} {
		f.Add([]byte(seed))
	}
	base, err := config.Load(config.Source{})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text []byte) {
		var overrides map[string]json.RawMessage
		if json.Unmarshal(text, &overrides) != nil {
			return
		}
		c, err := base.With(overrides)
		if err != nil {
			var refusal *protocol.Error
			require.True(t, errors.As(err, &refusal))
			require.True(t, strings.HasPrefix(refusal.Data.Field, "config"))
			return
		}
		requireEncodable(t, c)
	})
}
