package apptest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// AwaitNotification reads up to a notification, unless it has come already.
func (c *Client) AwaitNotification(method string) Message {
	c.T.Helper()
	for _, m := range c.Seen {
		if m.Method == method {
			return m
		}
	}
	return c.UntilMethod(method)
}

// FindTree makes the files that testdata/find/names.txt lists.
func FindTree(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	names, err := os.ReadFile(Root("test/apptest/testdata/find/names.txt"))
	require.NoError(t, err)
	for name := range strings.Lines(string(names)) {
		path := filepath.Join(root, strings.TrimSuffix(name, "\n"))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	return root
}

// FindRanks returns the queries of testdata/find/ranks.txt and the results of each.
func FindRanks(t *testing.T) (queries []string, ranks map[string]string) {
	t.Helper()
	text, err := os.ReadFile(Root("test/apptest/testdata/find/ranks.txt"))
	require.NoError(t, err)
	ranks = map[string]string{}
	for part := range strings.SplitSeq(strings.TrimPrefix(string(text), "? "), "\n? ") {
		query, lines, _ := strings.Cut(part, "\n")
		queries = append(queries, query)
		ranks[query] = strings.TrimSuffix(lines, "\n")
	}
	return queries, ranks
}

// RankLines writes the results of a search as ranks.txt does: a score and a path in each line,
// with a slash behind directories.
func RankLines(result []byte) string {
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
