package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// knownKey is a key of the reference implementation, and what this server does with a value of it.
type knownKey struct{ key, value, verdict, detail string }

// knownKeys returns the table of all keys of the reference implementation.
func knownKeys(t *testing.T) (keys []knownKey) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "reference_keys.txt"))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(strings.TrimSpace(line), " | ")
		require.Len(t, cells, 4, line)
		keys = append(keys, knownKey{cells[0], cells[1], cells[2], cells[3]})
	}
	require.GreaterOrEqual(t, len(keys), 400)
	return keys
}

// loadKey loads a configuration with one key.
func loadKey(t *testing.T, k knownKey) (*Config, error) {
	t.Helper()
	text := k.key + " = " + k.value + "\n"
	own := strings.HasSuffix(k.key, ".command") || strings.HasSuffix(k.key, ".url")
	forService := strings.Contains(k.key, ".oauth") || strings.HasSuffix(k.key, ".scopes")
	if strings.HasPrefix(k.key, "mcp_servers.") && forService {
		text += "mcp_servers.NAME.url = \"https://x/\"\n"
	} else if strings.HasPrefix(k.key, "mcp_servers.") && !own {
		text += "mcp_servers.NAME.command = \"x\"\n"
	}
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600))
	return Load(Source{Home: home})
}

// TestEveryKeyOfTheReferenceHasAnEffectOrIsHarmless loads each key of the reference implementation: it is obeyed, or an
// error, or it cannot make anything wider.
func TestEveryKeyOfTheReferenceHasAnEffectOrIsHarmless(t *testing.T) {
	tests := testNames(t)
	for _, k := range knownKeys(t) {
		c, err := loadKey(t, k)
		switch k.verdict {
		case "refused":
			require.ErrorContains(t, err, "config.toml:1: "+strings.TrimSuffix(k.key, ".blocked_domains")+": ", k.key)
			require.ErrorContains(t, err, k.detail, k.key)
			continue
		case "obeyed":
			require.True(t, tests[k.detail], "%s: there is no test %s", k.key, k.detail)
			require.False(t, slices.Contains(otherIgnoredKeys, k.key) && !isReadElsewhere(k.key), "%s has no effect", k.key)
		case "none":
			require.NotEmpty(t, k.detail)
		default:
			t.Fatalf("%s: verdict %q", k.key, k.verdict)
		}
		require.NoError(t, err, k.key)
		require.Empty(t, c.Warnings, k.key)
	}
}

// isReadElsewhere reports whether a key without a field of its own is read from the tree.
func isReadElsewhere(key string) bool {
	switch key {
	case "skills.config", "features.web_search", "features.web_search_cached", "features.web_search_request", oldUnifiedExec,
		"features." + oldUnifiedExec:
		return true
	}
	return false
}

// TestTableOfKeysIsComplete requires a row for each key that the server knows, besides its own.
func TestTableOfKeysIsComplete(t *testing.T) {
	listed := map[string]bool{}
	for _, k := range knownKeys(t) {
		require.False(t, listed[k.key], "%s has two rows", k.key)
		listed[k.key] = true
		for at := k.key; strings.Contains(at, "."); {
			at = at[:strings.LastIndexByte(at, '.')]
			listed[at+".…"] = true
		}
	}
	for key := range ignoredKeys() {
		name := strings.ReplaceAll(strings.Replace(key, ".*", ".NAME", 1), ".*", ".TOOL")
		assert.True(t, listed[name] || listed[name+".…"] || ownTests[key], "no row for %s", name)
	}
	for name := range featureNames() {
		assert.True(t, listed["features."+name], "no row for features.%s", name)
	}
	for _, key := range settableKeys(reflect.TypeFor[Config](), "") {
		known := listed[key] || listed[key+".…"] || listed["model_providers.NAME."+key]
		assert.True(t, known || isOwnKey(key), "no row for %s", key)
	}
}

// ownTests are keys with tests of their own: permission profiles.
var ownTests = map[string]bool{"permissions": true, "default_permissions": true}

// isOwnKey reports whether a key is not one of the reference implementation.
func isOwnKey(key string) bool {
	first, rest, _ := strings.Cut(key, ".")
	switch first {
	case "history", "account_hosts", "context", "compat", "compaction", "memory", "index", "store", "fleet", "checkpoints", "model_prices":
		return true
	}
	ofProvider := []string{"cached_price_ratio", "cache_retention_secs", "script", "extra_body", "max_output_tokens", "models",
		"omit_store", "mcp_tools_percent"}
	return rest == "" && slices.Contains(ofProvider, key) ||
		ownTests[first] || key == "shell_environment_policy.experimental_use_profile" || first == "shell_environment_policy"
}

// testNames returns the names of all tests of the repository.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			if name, ok := strings.CutPrefix(line, "func Test"); ok {
				names["Test"+name[:strings.IndexByte(name, '(')]] = true
			}
		}
		return err
	})
	require.NoError(t, err)
	return names
}

func TestFormerSwitchesTurnTheSearchOff(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "tools.web_search = false": "disabled", "features.web_search_request = false": "disabled",
		"features.web_search_cached = false": "disabled", "tools.web_search = true": "",
		"tools.web_search = false\nweb_search = \"live\"": "live",
	} {
		home := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600))
		c, err := Load(Source{Home: home})
		require.NoError(t, err)
		require.Equal(t, want, or(c.WebSearch, ""), text)
	}
}
