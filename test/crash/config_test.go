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

// TestCrashInConfigWrites kills servers while settings are written, one after another. What was
// answered holds, or what was asked for later; every file is one that can be read; and what
// kills leave beside it does not add up.
func TestCrashInConfigWrites(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	apptest.WriteConfig(t, home, "# kept\nmodel = \"first\"\n[tui]\nlast = 0\n")
	answered, asked := 0, 0
	for kill := range 8 {
		c := apptest.StartOffline(t, home)
		got := int(gjson.GetBytes(c.Call("config/read", apptest.Object{}), "config.tui.last").Int())
		require.GreaterOrEqual(t, got, answered, "an answered write is lost")
		require.LessOrEqual(t, got, asked)
		values := map[string]int{}
		for range 200 {
			asked++
			values[c.SendRequest("config/value/write",
				apptest.Object{"keyPath": "tui.last", "value": asked, "mergeStrategy": "replace"})] = asked
		}
		for range kill {
			c.Next()
		}
		<-time.After(time.Duration(kill) * 300 * time.Microsecond) // the moment of the kill
		_ = c.Cmd.Process.Kill()
		c.Drain()
		for _, m := range c.Seen {
			if value, ok := values[string(m.ID)]; ok && m.Method == "" {
				require.Nil(t, m.Error, m.Line)
				answered = value
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
	c.Call("config/value/write", apptest.Object{"keyPath": "tui.last", "value": asked + 1, "mergeStrategy": "replace"})
	require.Equal(t, fmt.Sprint(asked+1), gjson.GetBytes(c.Call("config/read", apptest.Object{}), "config.tui.last").Raw)
	c.Close()
	left, err = filepath.Glob(filepath.Join(home, ".config.toml*"))
	require.NoError(t, err)
	require.Empty(t, left, "a write takes away what one left that was killed")
}
