package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

const readmeFile = "../../README.md"

func TestTablesOfTheReadmeAreCurrent(t *testing.T) {
	got, err := os.ReadFile(readmeFile)
	require.NoError(t, err)
	want, err := withTables(got)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "%s is out of date: run `make generate`", readmeFile)
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

func TestTheRestOfTheReadmeStays(t *testing.T) {
	readme := "# Title\n" + tablesBegin + "\nold\n" + tablesEnd + "\nThe end.\n"
	once, err := withTables([]byte(readme))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(once), "# Title\n"+tablesBegin+"\n\n| request of the client |"))
	require.True(t, strings.HasSuffix(string(once), "|\n\n"+tablesEnd+"\nThe end.\n"))
	require.NotContains(t, string(once), "\nold\n")

	twice, err := withTables(once)
	require.NoError(t, err)
	require.Equal(t, string(once), string(twice))
}

func TestReadmeWithoutAPlaceForTables(t *testing.T) {
	for _, readme := range []string{"", tablesBegin, tablesEnd, tablesEnd + tablesBegin} {
		_, err := withTables([]byte(readme))
		require.ErrorContains(t, err, tablesBegin, "%q", readme)
	}
}

func TestCellsCannotEndEarly(t *testing.T) {
	table := markdownTable("a", "b", [][2]string{{"m", "this | that"}})
	require.Equal(t, "| a | b |\n| --- | --- |\n| `m` | this \\| that |\n\n", table)
}

func TestRunWritesTheTables(t *testing.T) {
	readme := emptyReadme(t)
	require.NoError(t, run(protocolDir, t.TempDir(), readme))
	content, err := os.ReadFile(readme)
	require.NoError(t, err)
	require.Contains(t, string(content), methodTables())
}

func TestRunWritesNothingWithoutAReadme(t *testing.T) {
	out := t.TempDir()
	require.ErrorIs(t, run(protocolDir, out, filepath.Join(t.TempDir(), "README.md")), os.ErrNotExist)
	require.NoDirExists(t, filepath.Join(out, "json"))
}

// emptyReadme is a README with a place for tables and nothing else.
func emptyReadme(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "README.md")
	require.NoError(t, os.WriteFile(path, []byte(tablesBegin+tablesEnd), 0o644))
	return path
}
