package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/test/apptest"
)

// githubToken is joined here, so that no file contains a token.
var githubToken = "ghp_" + strings.Repeat("a1", 18)

// filesWith returns the files below a folder that contain a text.
func filesWith(t *testing.T, dir, text string) (paths []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), text) {
			paths = append(paths, path)
		}
		return err
	}))
	return paths
}

// TestSecretsAreNotWritten sends secrets in inputs, command outputs, a name and an edit. The model
// gets them; no file has them.
func TestSecretsAreNotWritten(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	args := []string{"-c", `history.sensitivePatterns=["bluebird", 'room (\d+)']`}
	c := apptest.StartOffline(t, home, args...)
	id := c.StartTrusted()
	c.Turn(id, "hello bluebird in room 471108154711, take "+githubToken)
	c.Turn(id, "run: echo token="+githubToken+" | tr a a")
	c.Call("thread/name/set", apptest.Object{"threadId": id, "name": "Bluebird " + githubToken})
	live := string(c.Call("context/getPrompt", apptest.Object{"threadId": id}))
	require.Contains(t, live, "hello bluebird in room 471108154711, take "+githubToken)
	require.Contains(t, live, "token="+githubToken)
	before := c.ReadThread(id)
	items := c.ContextList(id).Items
	c.Call("context/replace",
		apptest.Object{"threadId": id,
			"id": items[slices.IndexFunc(items,
				func(i protocol.ContextItem) bool { return i.Category == protocol.CategoryToolOutput })].ID, "text": "short " +
				githubToken})
	c.Call("context/setInclusion", apptest.Object{"threadId": id, "indices": []int{1}, "included": false})
	c.Close()
	apptest.RequireBackup(t, before.Path)
	for _, secret := range []string{githubToken, "bluebird", "Bluebird", "471108154711"} {
		require.Empty(t, filesWith(t, home, secret), secret)
	}

	c = apptest.StartOffline(t, home, args...)
	after := c.CallThread("thread/resume", apptest.Object{"threadId": id})
	require.Empty(t, c.Warnings())
	require.Len(t, after.Turns, len(before.Turns))
	for i := range after.Turns {
		require.Equal(t, before.Turns[i].ID, after.Turns[i].ID)
		require.Len(t, after.Turns[i].Items, len(before.Turns[i].Items))
	}
	again := string(c.Call("context/getPrompt", apptest.Object{"threadId": id}))
	require.Contains(t, again, "hello [redacted] in room [redacted], take [redacted]")
	require.Contains(t, again, "short [redacted]")
	require.NotContains(t, again, githubToken)
	require.Len(t, c.ContextList(id).Items, len(items))
	require.Equal(t, "completed", c.Turn(id, "and on").Status)
	c.Close()
}

func TestImportRemovesSecrets(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesCommands)
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(t.TempDir(), "from elsewhere.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(apptest.LegacyRollout, "README.md", githubToken)),
		0o600))
	status, id, errs := apptest.Execute(t, home, "thread", "import", file)
	require.Zero(t, status, errs)
	require.Equal(t, apptest.LegacyID, strings.TrimSpace(id))
	require.Empty(t, filesWith(t, home, githubToken))
	require.Len(t, filesWith(t, home, "There is [redacted]."), 1)
}

func TestRedactionSettingOfThreadApplies(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := apptest.StartOffline(t, home, "-c", "history.redactSecrets=false")
	unredacted := c.StartThread(apptest.Object{})
	c.Turn(unredacted, "take "+githubToken)
	redacted := c.StartThread(apptest.Object{"config": apptest.Object{"history.redactSecrets": true}})
	c.Turn(redacted, "take "+githubToken)
	require.Contains(t, c.StoredLines(unredacted), githubToken)
	require.NotContains(t, c.StoredLines(redacted), githubToken, "the thread's setting wins")
	c.Close()
	require.Len(t, filesWith(t, home, githubToken), 1)
}
