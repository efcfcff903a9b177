package config

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeyPath(t *testing.T) {
	for key, want := range map[string][]string{
		"a":                    {"a"},
		"a.b.c":                {"a", "b", "c"},
		" a . b ":              {"a", "b"},
		`a."b.c".d`:            {"a", "b.c", "d"},
		`'a.b'.c`:              {"a.b", "c"},
		`"\u0061"`:             {"a"},
		"a-b_1":                {"a-b_1"},
		"projects./home/x.y.z": {"projects", "/home/x", "y", "z"},
		"a b.c":                {"a b", "c"},
		"a\nb.c":               {"a\nb", "c"},
		`"a.b`:                 {`"a`, "b"},
		"a#b":                  {"a#b"},
		"a = 1\nb":             {"a = 1\nb"},
		"[a]":                  {"[a]"},
	} {
		path, err := keyPath(key)
		require.NoError(t, err, key)
		require.Equal(t, want, path, key)
	}
	for _, key := range []string{"", " ", ".", "a.", ".a", "a..b"} {
		_, err := keyPath(key)
		require.ErrorIs(t, err, errNoKey, "%q", key)
	}
}

func TestEqualSign(t *testing.T) {
	for text, want := range map[string]int{
		"a=b": 1, "=": 0, "a": -1, "": -1, `"a=b"=c`: 5, `'a=b'=c`: 5, `a="b=c"`: 1, `"a=b`: 2, `"'="=1`: 4,
	} {
		require.Equal(t, want, equalSign(text), text)
	}
}

func TestOverrideValue(t *testing.T) {
	for text, want := range map[string]any{
		"1": int64(1), " 2 ": int64(2), "1.5": 1.5, "true": true, `"a"`: "a", "'a'": "a", "[1, 'x']": []any{int64(1), "x"},
		"{a = 1}": map[string]any{"a": int64(1)}, "a": "a", " a b ": "a b", "": "", "1\n": int64(1), "1 # c": int64(1),
		"1\nb = 2": "1\nb = 2", "1\n[b]": "1\n[b]", "# c": "# c", "tru": "tru", "\"open": "\"open",
		"http://h/v1": "http://h/v1", "1.2.3": "1.2.3", "\xff": "\xff",
	} {
		require.Equal(t, want, overrideValue(text), "%q", text)
	}
}

func TestDecodeJSONKeepsIntegers(t *testing.T) {
	for text, want := range map[string]any{
		"1": int64(1), "-1": int64(-1), "9223372036854775807": int64(9223372036854775807), "1.5": 1.5, "1e2": 100.0,
		"9223372036854775808": 9223372036854775808.0, "1e999": "1e999", "null": nil, `"x"`: "x",
		`[1, {"a": 2}]`: []any{int64(1), map[string]any{"a": int64(2)}},
	} {
		v, err := decodeJSON(json.RawMessage(text))
		require.NoError(t, err)
		require.Equal(t, want, v, text)
	}
	_, err := decodeJSON(json.RawMessage("{"))
	require.Error(t, err)
}

func TestDeepOverridesAreRejected(t *testing.T) {
	deepKey := strings.Repeat("a.", maxDepth) + "a"
	_, err := flagLayer([]string{deepKey + "=1"}, "")
	require.ErrorContains(t, err, "nested deeper than 64 levels")
	_, err = threadLayer(map[string]json.RawMessage{deepKey: json.RawMessage("1")})
	require.ErrorContains(t, err, "nested deeper than 64 levels")
	_, err = threadLayer(map[string]json.RawMessage{"a": json.RawMessage("{")})
	require.ErrorContains(t, err, "config.a: ")
}

func TestOverrideLabelsHideSecrets(t *testing.T) {
	require.Equal(t, "-c model=x", overrideLabel([]string{"model"}, "x", "model=x"))
	path := []string{"model_providers", "x", "experimental_bearer_token"}
	require.Equal(t, "-c model_providers.x.experimental_bearer_token",
		overrideLabel(path, "SECRET", "model_providers.x.experimental_bearer_token=SECRET"))
	table := map[string]any{"base_url": "https://h/v1?key=SECRET"}
	require.Equal(t, "-c memory.embeddings",
		overrideLabel([]string{"memory", "embeddings"}, table, "memory.embeddings={base_url=\"https://h/v1?key=SECRET\"}"))
}
