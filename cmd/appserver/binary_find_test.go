package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// findTree makes the files that testdata/find/names.txt lists.
func findTree(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	names, err := os.ReadFile("testdata/find/names.txt")
	require.NoError(t, err)
	for name := range strings.Lines(string(names)) {
		path := filepath.Join(root, strings.TrimSuffix(name, "\n"))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	return root
}

// findRanks returns the queries of testdata/find/ranks.txt and the results of each.
func findRanks(t *testing.T) (queries []string, ranks map[string]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/find/ranks.txt")
	require.NoError(t, err)
	ranks = map[string]string{}
	for part := range strings.SplitSeq(strings.TrimPrefix(string(text), "? "), "\n? ") {
		query, lines, _ := strings.Cut(part, "\n")
		queries = append(queries, query)
		ranks[query] = strings.TrimSuffix(lines, "\n")
	}
	return queries, ranks
}

// rankLines writes the results of a search as ranks.txt does: a score and a path in each line,
// with a slash behind directories.
func rankLines(result []byte) string {
	var lines []string
	for _, file := range gjson.GetBytes(result, "files").Array() {
		line := fmt.Sprintf("%d %s", file.Get("score").Int(), file.Get("path").Str)
		if file.Get("match_type").Str == "directory" {
			line += "/"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// TestBinaryRanksFilesByName holds searches and sessions to the ranks of the reference
// implementation: files named like the query, then one such directory, then files with the
// match in their names, then all others.
func TestBinaryRanksFilesByName(t *testing.T) {
	t.Parallel()
	root := findTree(t)
	queries, ranks := findRanks(t)
	c := startOffline(t, t.TempDir())
	c.call("fuzzyFileSearch/sessionStart", object{"sessionId": "s", "roots": []string{root}})
	for _, query := range queries {
		found := c.call("fuzzyFileSearch", object{"query": query, "roots": []string{root}})
		require.Equal(t, ranks[query], rankLines(found), "%q", query)
		c.call("fuzzyFileSearch/sessionUpdate", object{"sessionId": "s", "query": query})
		c.untilMethod("fuzzyFileSearch/sessionCompleted")
		var last message
		for _, m := range c.seen {
			if m.Method == "fuzzyFileSearch/sessionUpdated" {
				last = m
			}
		}
		require.Equal(t, query, gjson.GetBytes(last.Params, "query").Str)
		require.Equal(t, ranks[query], rankLines(last.Params), "%q in a session", query)
	}
	c.close()
}

// TestBinaryMarksFilesWithinTheirNames has the match once in a directory and once in the name.
func TestBinaryMarksFilesWithinTheirNames(t *testing.T) {
	t.Parallel()
	root := findTree(t)
	c := startOffline(t, t.TempDir())
	for _, want := range []struct{ query, path, indices string }{
		{"button", "web/button.css", "[4,5,6,7,8,9]"},
		{"button", "web/components/button/Button.tsx", "[22,23,24,25,26,27]"},
		{"config", "a/b/c/deep/nested/config", "[18,19,20,21,22,23]"},
		{"über", "lib/Über.txt", "[4,5,6,7]"},
		{"uber", "über/straße.txt", "[0,1,2,3]"},
		{"foo bar", "foo/bar-baz.txt", "[0,1,2,4,5,6]"},
	} {
		found := c.call("fuzzyFileSearch", object{"query": want.query, "roots": []string{root}})
		file := gjson.GetBytes(found, fmt.Sprintf("files.#(path==%q).indices", want.path))
		require.Equal(t, want.indices, file.Raw, "%q in %q", want.query, want.path)
	}
	c.close()
}

// TestBinaryBoostsOneDirectoryOfAllRoots searches two roots that both have the directory.
func TestBinaryBoostsOneDirectoryOfAllRoots(t *testing.T) {
	t.Parallel()
	far, near := t.TempDir(), t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(far, "u", "dirx"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(near, "dirx", "dirx"), 0o755))
	c := startOffline(t, t.TempDir())
	found := c.call("fuzzyFileSearch", object{"query": "dirx", "roots": []string{far, near}})
	require.Equal(t, "131181 dirx/\n109 dirx/dirx/\n109 u/dirx/", rankLines(found))
	require.Equal(t, near, gjson.GetBytes(found, "files.0.root").Str)
	require.Equal(t, far, gjson.GetBytes(found, "files.2.root").Str)
	c.close()
}
