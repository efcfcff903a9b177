package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// TestCrashDuringConfigWritesKeepsAnsweredValue kills servers between writes of settings. The
// setting has the last acknowledged value or a later one, config.toml can be read, and temporary
// files do not accumulate.
func TestCrashDuringConfigWritesKeepsAnsweredValue(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	apptest.WriteConfig(t, home, "# kept\nmodel = \"first\"\n[tui]\nlast = 0\n")
	acked, requested := 0, 0
	for kill := range 8 {
		c := apptest.StartOffline(t, home)
		got := int(gjson.GetBytes(c.Call("config/read", apptest.Object{}), "config.tui.last").Int())
		require.GreaterOrEqual(t, got, acked, "an acknowledged write is lost")
		require.LessOrEqual(t, got, requested)
		values := map[string]int{}
		for range 200 {
			requested++
			values[c.SendRequest("config/value/write",
				apptest.Object{"keyPath": "tui.last", "value": requested, "mergeStrategy": "replace"})] = requested
		}
		for range kill {
			c.Next()
		}
		<-time.After(time.Duration(kill) * 300 * time.Microsecond) // a chosen moment of the kill
		_ = c.Cmd.Process.Kill()
		c.Drain()
		for _, m := range c.Seen {
			if value, ok := values[string(m.ID)]; ok && m.Method == "" {
				require.Nil(t, m.Error, m.Line)
				acked = value
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(home, "config.toml"))
	require.NoError(t, err)
	require.Contains(t, string(text), "# kept\nmodel = \"first\"\n")
	left, err := filepath.Glob(filepath.Join(home, ".config.toml*"))
	require.NoError(t, err)
	require.LessOrEqual(t, len(left), 1)
	c := apptest.StartOffline(t, home)
	c.Call("config/value/write", apptest.Object{"keyPath": "tui.last", "value": requested + 1, "mergeStrategy": "replace"})
	require.Equal(t, fmt.Sprint(requested+1), gjson.GetBytes(c.Call("config/read", apptest.Object{}),
		"config.tui.last").Raw)
	c.Close()
	left, err = filepath.Glob(filepath.Join(home, ".config.toml*"))
	require.NoError(t, err)
	require.Empty(t, left, "the next write deletes temporary files of killed writes")
}
