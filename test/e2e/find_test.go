package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// TestFileSearchRanksAsReference compares ranks with the reference implementation: files with the
// query as name, one directory with that name, files with a match in their names, then all others.
func TestFileSearchRanksAsReference(t *testing.T) {
	t.Parallel()
	root := apptest.FindTree(t)
	queries, ranks := apptest.FindRanks(t)
	c := apptest.StartOffline(t, t.TempDir())
	c.Call("fuzzyFileSearch/sessionStart", apptest.Object{"sessionId": "s", "roots": []string{root}})
	for _, query := range queries {
		found := c.Call("fuzzyFileSearch", apptest.Object{"query": query, "roots": []string{root}})
		require.Equal(t, ranks[query], apptest.RankLines(found), "%q", query)
		c.Call("fuzzyFileSearch/sessionUpdate", apptest.Object{"sessionId": "s", "query": query})
		c.UntilMethod("fuzzyFileSearch/sessionCompleted")
		var last apptest.Message
		for _, m := range c.Seen {
			if m.Method == "fuzzyFileSearch/sessionUpdated" {
				last = m
			}
		}
		require.Equal(t, query, gjson.GetBytes(last.Params, "query").Str)
		require.Equal(t, ranks[query], apptest.RankLines(last.Params), "%q in a session", query)
	}
	c.Close()
}

// TestFileSearchMarksMatches has matches in a directory and in a file name.
func TestFileSearchMarksMatches(t *testing.T) {
	t.Parallel()
	root := apptest.FindTree(t)
	c := apptest.StartOffline(t, t.TempDir())
	for _, want := range []struct{ query, path, indices string }{
		{"button", "web/button.css", "[4,5,6,7,8,9]"},
		{"button", "web/components/button/Button.tsx", "[22,23,24,25,26,27]"},
		{"config", "a/b/c/deep/nested/config", "[18,19,20,21,22,23]"},
		{"über", "lib/Über.txt", "[4,5,6,7]"},
		{"uber", "über/straße.txt", "[0,1,2,3]"},
		{"foo bar", "foo/bar-baz.txt", "[0,1,2,4,5,6]"},
	} {
		found := c.Call("fuzzyFileSearch", apptest.Object{"query": want.query, "roots": []string{root}})
		file := gjson.GetBytes(found, fmt.Sprintf("files.#(path==%q).indices", want.path))
		require.Equal(t, want.indices, file.Raw, "%q in %q", want.query, want.path)
	}
	c.Close()
}

// TestFileSearchBoostsOneDirectory searches two roots that both contain the directory.
func TestFileSearchBoostsOneDirectory(t *testing.T) {
	t.Parallel()
	far, near := t.TempDir(), t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(far, "u", "dirx"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(near, "dirx", "dirx"), 0o755))
	c := apptest.StartOffline(t, t.TempDir())
	found := c.Call("fuzzyFileSearch", apptest.Object{"query": "dirx", "roots": []string{far, near}})
	require.Equal(t, "131181 dirx/\n109 dirx/dirx/\n109 u/dirx/", apptest.RankLines(found))
	require.Equal(t, near, gjson.GetBytes(found, "files.0.root").Str)
	require.Equal(t, far, gjson.GetBytes(found, "files.2.root").Str)
	c.Close()
}
