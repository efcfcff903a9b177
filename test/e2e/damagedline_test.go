package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// TestRecordsBehindDamageAreShown puts zero bytes, and a record that was cut off, before records of a rollout.
func TestRecordsBehindDamageAreShown(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesLines)
	t.Parallel()
	home := apptest.NewProvider(t).Home(t)
	sound := apptest.PutRollout(t, home, apptest.UnknownThreadID,
		strings.ReplaceAll(apptest.LegacyRollout, apptest.LegacyID, apptest.UnknownThreadID))
	lines := strings.SplitAfter(apptest.LegacyRollout, "\n")
	for i := 2; i < len(lines)-1; i++ {
		lines[i] = strings.Repeat("\x00", i%2*300) + lines[i][:i%2*20+(1-i%2)*40] + lines[i]
	}
	text := strings.Join(lines, "")
	path := apptest.PutRollout(t, home, apptest.LegacyID, text)
	info, err := os.Stat(sound)
	require.NoError(t, err)
	at := info.ModTime()
	require.NoError(t, os.Chtimes(path, at, at))

	c := apptest.StartServer(t, home)
	c.Initialize()
	items := func(id string) []string {
		read := c.CallJSON("thread/read", apptest.Object{"threadId": id, "includeTurns": true})
		require.NotEmpty(t, read.Get("thread.turns").Array())
		return rawItems(read.Get("thread.turns.#.items|@flatten|#.type"))
	}
	require.Equal(t, items(apptest.UnknownThreadID), items(apptest.LegacyID))
	listed := c.CallJSON("thread/list", apptest.Object{"modelProviders": []string{}}).Get("data.#.preview").Array()
	require.Len(t, listed, 2)
	require.Equal(t, listed[0].Str, listed[1].Str)
	c.Call("thread/resume", apptest.Object{"threadId": apptest.LegacyID})
	require.Contains(t, string(c.UntilMethod("warning").Params), "not JSON")
	c.Close()
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(after), text), "the file keeps its bytes")
}
