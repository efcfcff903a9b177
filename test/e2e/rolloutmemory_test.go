package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// TestRolloutRedactRemovesSecretsFromMemories redacts while a server has the memories open. It
// returns none of them afterwards.
func TestRolloutRedactRemovesSecretsFromMemories(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesCommands)
	t.Parallel()
	home := t.TempDir()
	args := append([]string{"-c", "history.redactSecrets=false"}, apptest.MemoryFlags...)
	c := apptest.StartOffline(t, home, args...)
	var threads [2]string
	for i, place := range []string{"harbour", "station"} {
		threads[i] = c.StartTrusted()
		c.Turn(threads[i], "The token of the "+place+" is "+githubToken+", keep it.")
		c.Turn(threads[i], "hello")
		c.Call("thread/context/trim", apptest.Object{"threadId": threads[i], "keepLastNTurns": 1})
		c.UntilMethod("memory/updated")
	}
	path := c.ReadThread(threads[0]).Path
	remembered := func(text string) (n int) {
		for _, memory := range gjson.GetBytes(c.Call("memory/list", apptest.Object{}), "data").Array() {
			if strings.Contains(memory.Get("text").Str, text) {
				n++
			}
		}
		return n
	}
	require.Equal(t, 2, remembered(githubToken))
	c.Call("thread/unsubscribe", apptest.Object{"threadId": threads[0]})
	c.Close()

	c = apptest.StartOffline(t, home, args...)
	remembered("")
	status, out, errs := apptest.Execute(t, home, "rollout", "redact", "--dry-run", "--json", path)
	require.Zero(t, status, errs)
	require.Equal(t, int64(1), gjson.Get(out, "rollouts.0.memories").Int())
	require.Equal(t, 2, remembered(githubToken))
	status, out, errs = apptest.Execute(t, home, "rollout", "redact", path)
	require.Equal(t, 2, status, out)
	require.Contains(t, errs, ", 1 remembered text of the thread.")
	status, out, errs = apptest.Execute(t, home, "rollout", "redact", "--yes", path)
	require.Zero(t, status, errs)
	require.Contains(t, out, "\n  1 remembered text of the thread redacted\n")
	require.Equal(t, 1, remembered(githubToken), "the other thread was redacted")
	require.Equal(t, 1, remembered("The token of the harbour is [redacted], keep it."))
	status, out, errs = apptest.Execute(t, home, "rollout", "redact", "--yes", c.ReadThread(threads[1]).Path)
	require.Zero(t, status, errs)
	require.Zero(t, remembered(githubToken), out)
	c.Close()
	require.Empty(t, filesWith(t, home, githubToken))
}
