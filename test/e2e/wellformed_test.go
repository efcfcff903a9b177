package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// TestInvalidStringsAreWrittenAsUTF8 lists, reads and resumes a rollout with invalid UTF-8 in all
// strings, by pipes and WebSockets.
func TestInvalidStringsAreWrittenAsUTF8(t *testing.T) {
	t.Parallel()
	requests := func(t *testing.T, c *apptest.Client) {
		c.Call("thread/list", apptest.Object{"modelProviders": []string{}})
		c.Call("thread/read", apptest.Object{"threadId": apptest.UnknownThreadID, "includeTurns": true})
		c.Call("thread/resume", apptest.Object{"threadId": apptest.UnknownThreadID, "modelProvider": "offline", "cwd": "/"})
		require.Equal(t, "completed", c.Turn(apptest.UnknownThreadID, "hello").Status)
		var lines []string
		for _, m := range c.Seen {
			lines = append(lines, m.Line)
		}
		apptest.RequireWellFormed(t, lines)
		require.Contains(t, strings.Join(lines, ""), "\uFFFD", "strings are missing")
	}
	put := func(t *testing.T, home string) {
		path := apptest.RolloutName(home, apptest.UnknownThreadID)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(apptest.BrokenRollout(apptest.UnknownThreadID)), 0o600))
	}
	t.Run("pipes", func(t *testing.T) {
		t.Parallel()
		home := t.TempDir()
		put(t, home)
		c := apptest.Connect(t, apptest.OfflineCommand(t, home), nil) // no wire: the rollout has items without a schema
		c.Initialize()
		requests(t, c)
		c.Close()
	})
	bothTransports(t, func(t *testing.T, listen string) {
		home := apptest.ShortDir(t)
		put(t, home)
		h := apptest.StartDaemon(t, home, listen)
		requests(t, h.ConnectInitialized().Client)
		h.Terminate()
	})
}
