package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/posix"
)

const ownSettings = "# My settings.\nmodel_reasoning_effort = \"low\" # for now\n\n[tui]\n# dark is kinder\ntheme = \"dark\"\n"

// homeWith returns a home with settings.
func homeWith(t *testing.T, text string) (home, file string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	file = filepath.Join(home, "config.toml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return home, file
}

func contentOfFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func writeOf(key string, value any) apptest.Object {
	return apptest.Object{"keyPath": key, "value": value, "mergeStrategy": "replace"}
}

// TestWrittenSettingsApply writes settings. New threads and the next server use them.
func TestWrittenSettingsApply(t *testing.T) {
	t.Parallel()
	home, file := homeWith(t, ownSettings)
	c := apptest.StartOffline(t, home)
	before := c.CallThread("thread/start", apptest.Object{"cwd": t.TempDir()}).ID
	c.Call("config/batchWrite",
		apptest.Object{"edits": []apptest.Object{writeOf("model_reasoning_effort", "high"),
			writeOf("approval_policy", "never"), writeOf("tui.font", nil)}})
	require.Equal(t, "# My settings.\nmodel_reasoning_effort = \"high\" # for now\napproval_policy = \"never\"\n\n[tui]\n# dark is kinder\ntheme = \"dark\"\n", contentOfFile(t, file))
	started := gjson.ParseBytes(c.Call("thread/start", apptest.Object{"cwd": t.TempDir()}))
	require.Equal(t, "never", started.Get("approvalPolicy").Str)
	require.Equal(t, "high", started.Get("reasoningEffort").Str)
	resumed := gjson.ParseBytes(c.Call("thread/resume", apptest.Object{"threadId": before}))
	require.Equal(t, "on-request", resumed.Get("approvalPolicy").Str, "a loaded thread keeps its settings")
	c.Close()

	c = apptest.StartOffline(t, home)
	require.Equal(t, "high", gjson.GetBytes(c.Call("config/read", apptest.Object{}), "config.model_reasoning_effort").Str)
	c.Close()
}

// TestConcurrentSettingsWritesKeepBoth writes alternately from two servers of a home. Each has the
// values of the other, and a write with an old version is rejected.
func TestConcurrentSettingsWritesKeepBoth(t *testing.T) {
	t.Parallel()
	home, file := homeWith(t, ownSettings)
	one, two := apptest.StartOffline(t, home), apptest.StartOffline(t, home)
	version := func(c *apptest.Client) string {
		return gjson.GetBytes(c.Call("config/read", apptest.Object{"includeLayers": true}),
			"layers.#(name.type==\"user\").version").Str
	}
	seen := version(two)
	for i := range 5 {
		one.Call("config/value/write", writeOf(fmt.Sprintf("tui.one%d", i), i))
		two.Call("config/value/write", writeOf(fmt.Sprintf("tui.two%d", i), i))
	}
	late := writeOf("tui.late", 1)
	late["expectedVersion"] = seen
	refusal := one.CallRejected("config/value/write", late)
	require.Equal(t, -32600, refusal.Code)
	require.Equal(t, "configVersionConflict", refusal.Data.Kind)
	text := contentOfFile(t, file)
	for i := range 5 {
		require.Contains(t, text, fmt.Sprintf("one%d = %d\n", i, i))
		require.Contains(t, text, fmt.Sprintf("two%d = %d\n", i, i))
	}
	require.NotContains(t, text, "late")
	late["expectedVersion"] = version(two)
	two.Call("config/value/write", late)
	one.Close()
	two.Close()
}

// TestUnwritableSettingsStay rejects writes to a read-only folder and to a file that cannot be
// parsed.
func TestUnwritableSettingsStay(t *testing.T) {
	t.Parallel()
	home, file := homeWith(t, ownSettings)
	c := apptest.StartOffline(t, home)
	require.NoError(t, os.WriteFile(file, []byte("model = [\n"), 0o600))
	refusal := c.CallRejected("config/value/write", writeOf("model", "x"))
	require.Contains(t, refusal.Message, file+":1")
	require.Equal(t, "model = [\n", contentOfFile(t, file))

	require.NoError(t, os.Remove(file))
	require.NoError(t, os.Mkdir(file, 0o700))
	refusal = c.CallRejected("config/value/write", writeOf("model", "x"))
	require.Contains(t, refusal.Message, "not a regular file")
	require.NoError(t, os.Remove(file))

	require.NoError(t, posix.Mkfifo(file, 0o600))
	c.CallRejected("config/value/write", writeOf("model", "x"))
	require.NoError(t, os.Remove(file))
	c.Call("config/value/write", writeOf("model", "x"))
	require.Equal(t, "model = \"x\"\n", contentOfFile(t, file))
	c.Close()
}

// TestCrashDuringSettingsWritesKeepsFileWhole kills servers during writes. The file is whole and
// has every acknowledged write.
func TestCrashDuringSettingsWritesKeepsFileWhole(t *testing.T) {
	t.Parallel()
	home, file := homeWith(t, ownSettings)
	acked := 0
	for round := range 5 {
		c := apptest.StartOffline(t, home)
		ids := map[string]int{}
		for i := range 20 {
			n := round*20 + i + 1
			ids[c.SendRequest("config/value/write", writeOf("tui.n", n))] = n
		}
		for range round * 3 { // another moment in each round
			if m := c.Next(); ids[string(m.ID)] > 0 {
				acked = ids[string(m.ID)]
			}
		}
		c.Signal(syscall.SIGKILL)
		c.Drain()
		for _, m := range c.Seen {
			acked = max(acked, ids[string(m.ID)])
		}
		var settings struct {
			Tui struct {
				Theme string
				N     int
			}
		}
		text := contentOfFile(t, file)
		require.NoError(t, toml.Unmarshal([]byte(text), &settings), text)
		require.Equal(t, "dark", settings.Tui.Theme)
		require.GreaterOrEqual(t, settings.Tui.N, acked)
		require.True(t, strings.HasPrefix(text, "# My settings.\n"))
	}
}

// TestSettingsAcceptJSONThatTOMLHas writes all JSON values that TOML can express, and rejects the
// others.
func TestSettingsAcceptJSONThatTOMLHas(t *testing.T) {
	t.Parallel()
	home, file := homeWith(t, "")
	c := apptest.StartOffline(t, home)
	value := `{"text":"a \"quote\" and a \\ and \u00e9\n","list":[1,2.5,true,["x",{"y":[]}]],"deep":{"a.b":{"":"empty key"}}}`
	c.Call("config/value/write", writeOf("tui.any", json.RawMessage(value)))
	var settings struct{ Tui struct{ Any any } }
	require.NoError(t, toml.Unmarshal([]byte(contentOfFile(t, file)), &settings))
	back, err := json.Marshal(settings.Tui.Any)
	require.NoError(t, err)
	require.JSONEq(t, value, string(back))

	before := contentOfFile(t, file)
	for _, bad := range []string{`[null]`, `{"a":[1,null]}`} {
		c.CallRejected("config/value/write", writeOf("tui.bad", json.RawMessage(bad)))
	}
	require.Equal(t, before, contentOfFile(t, file))
	c.Close()
}
