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

// AwaitNotification returns the first notification with a method; it reads on if none was read yet.
func (c *Client) AwaitNotification(method string) Message {
	c.T.Helper()
	for _, m := range c.Seen {
		if m.Method == method {
			return m
		}
	}
	return c.UntilMethod(method)
}

// FindTree creates the files that are listed in testdata/find/names.txt.
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

// FindRanks returns the queries of testdata/find/ranks.txt and the expected results of each.
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

// RankLines formats the results of a search as in ranks.txt: a score and a path per line, with a
// slash after a directory.
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
