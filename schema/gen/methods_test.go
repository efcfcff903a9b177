package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

const methodsFile = "../../docs/methods.md"

func TestMethodTablesAreCurrent(t *testing.T) {
	got, err := os.ReadFile(methodsFile)
	require.NoError(t, err)
	want, err := withTables(got)
	require.NoError(t, err)
	written := strings.Split(string(got), "\n")
	var stale []string
	for line := range strings.Lines(string(want)) {
		if line = strings.TrimSuffix(line, "\n"); !slices.Contains(written, line) {
			stale = append(stale, line)
		}
	}
	if !bytes.Equal(want, got) {
		t.Errorf("run `make generate`, and commit %s. These lines are missing:\n%s", methodsFile, strings.Join(stale, "\n"))
	}
}

func TestTablesNameEverythingInOrder(t *testing.T) {
	rest := methodTables()
	find := func(name, doc string) {
		_, after, ok := strings.Cut(rest, "| `"+name+"` | "+doc+" |\n")
		require.True(t, ok, "%s is missing or in another place", name)
		rest = after
	}
	for _, m := range protocol.Methods() {
		find(m.Name, m.Doc)
	}
	for _, n := range protocol.Notifications() {
		find(n.Method, n.Doc)
	}
	for _, r := range protocol.ServerRequests() {
		find(r.Name, r.Doc)
	}
	require.Empty(t, strings.TrimSpace(rest))
}

func TestTheRestOfTheDocumentStays(t *testing.T) {
	document := "# Title\n" + tablesBegin + "\nold\n" + tablesEnd + "\nThe end.\n"
	once, err := withTables([]byte(document))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(once), "# Title\n"+tablesBegin+"\n\n| request of the client |"))
	require.True(t, strings.HasSuffix(string(once), "|\n\n"+tablesEnd+"\nThe end.\n"))
	require.NotContains(t, string(once), "\nold\n")

	twice, err := withTables(once)
	require.NoError(t, err)
	require.Equal(t, string(once), string(twice))
}

func TestDocumentWithoutAPlaceForTables(t *testing.T) {
	for _, document := range []string{"", tablesBegin, tablesEnd, tablesEnd + tablesBegin} {
		_, err := withTables([]byte(document))
		require.ErrorContains(t, err, tablesBegin, "%q", document)
	}
}

func TestCellsCannotEndEarly(t *testing.T) {
	table := markdownTable("a", "b", [][2]string{{"m", "this | that"}})
	require.Equal(t, "| a | b |\n| --- | --- |\n| `m` | this \\| that |\n\n", table)
}

func TestRunWritesTheTables(t *testing.T) {
	document := emptyDocument(t)
	require.NoError(t, run(protocolDir, t.TempDir(), document))
	content, err := os.ReadFile(document)
	require.NoError(t, err)
	require.Contains(t, string(content), methodTables())
}

func TestRunWritesNothingWithoutTheDocument(t *testing.T) {
	out := t.TempDir()
	require.ErrorIs(t, run(protocolDir, out, filepath.Join(t.TempDir(), "methods.md")), os.ErrNotExist)
	require.NoDirExists(t, filepath.Join(out, "json"))
}

// emptyDocument returns the path of a document with a place for tables and nothing else.
func emptyDocument(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "methods.md")
	require.NoError(t, os.WriteFile(path, []byte(tablesBegin+tablesEnd), 0o644))
	return path
}
