package cli

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/test/apptest"
)

// TestContextRejectsWrongArguments expects status 2 and no change.
func TestContextRejectsWrongArguments(t *testing.T) {
	t.Parallel()
	home, _ := apptest.LegacyHome(t)
	for args, want := range map[string]string{
		"context lost":                           `unknown command "context lost"`,
		"context list":                           "THREAD is missing",
		"context note T r1":                      "TEXT is missing",
		"context note T":                         "ITEM is missing",
		"context list T extra":                   `unexpected argument "extra"`,
		"context list --last extra":              `unexpected argument "extra"`,
		"context list T --yes":                   "no flag --yes",
		"context list T --lost":                  "-lost",
		"context exclude T":                      "ITEM is missing",
		"context exclude --last":                 "ITEM is missing",
		"context exclude T r":                    `"r" is not an item`,
		"context exclude T 1 7-3":                `"7-3" is not a range`,
		"context delete T -- -1":                 `"-1" is not an item`,
		"context prune T":                        "--category is missing",
		"context prune T --category lost":        "lost",
		"context prune T --first x":              "expected a number",
		"context preview T --first 1 --last=yes": "-last",
		"context prune T --category reasoning --first 1 --keep-last 1": "only one of",
		"context prune T --first 1 --keep-last-outputs 1":              "only one of",
	} {
		status, out, errs := apptest.Execute(t, home, strings.Fields(args)...)
		require.Equal(t, 2, status, args)
		require.Empty(t, out)
		require.Contains(t, errs, want, args)
	}
	_, errs := apptest.ContextCommand(t, home, 2, "delete", apptest.LegacyID, "0")
	require.Contains(t, errs, "This would delete 1 item of thread ")
	require.Contains(t, errs, "add --yes")
}

// TestContextEditsExpectARevision names items by index after another edit of the context: nothing changes, unless the
// revision is the one of the list.
func TestContextEditsExpectARevision(t *testing.T) {
	t.Parallel()
	home, _ := apptest.LegacyHome(t)
	list := func() (list protocol.ContextGetItemsResponse) {
		out, _ := apptest.ContextCommand(t, home, 0, "list", "--json", apptest.LegacyID)
		require.NoError(t, protocol.Unmarshal([]byte(out), &list))
		return list
	}
	was := list()
	known := strconv.FormatInt(was.Revision, 10)
	apptest.ContextCommand(t, home, 0, "delete", "--yes", apptest.LegacyID, "0", "--revision", known)
	now := list()
	require.Len(t, now.Items, len(was.Items)-1)
	for _, args := range [][]string{
		{"exclude", apptest.LegacyID, "0"}, {"include", apptest.LegacyID, "0"}, {"delete", "--yes", apptest.LegacyID, "0"},
		{"pin", apptest.LegacyID, "0"}, {"prune", apptest.LegacyID, "--category", "userMessage"},
		{"undo", apptest.LegacyID}, {"restore", "--yes", apptest.LegacyID},
	} {
		_, errs := apptest.ContextCommand(t, home, 1, append(args, "--revision", known)...)
		require.Contains(t, errs, "the context has revision", args)
	}
	require.Equal(t, now, list())
}

// TestContextPrintsUsage expects the usage on standard output, because it was requested.
func TestContextPrintsUsage(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"", "--help", "--json", "help"} {
		out, _ := apptest.ContextCommand(t, t.TempDir(), 0, strings.Fields(args)...)
		require.Contains(t, out, "Usage: appserver context ")
		for _, row := range contextRows() {
			require.Contains(t, out, "\n  "+row.name+" THREAD")
		}
	}
	for _, row := range contextRows() {
		out, _ := apptest.ContextCommand(t, t.TempDir(), 0, row.name, "THREAD", "--help")
		require.Contains(t, out, "Usage: appserver context "+row.name+" THREAD")
		for name := range strings.FieldsSeq(row.flags) {
			require.Contains(t, out, "\n  --"+name)
		}
	}
}

// TestContextReportsUnknownItems expects that the known items stay unchanged.
func TestContextReportsUnknownItems(t *testing.T) {
	t.Parallel()
	home, _ := apptest.LegacyHome(t)
	for _, name := range []string{"exclude", "delete", "pin"} {
		_, errs := apptest.ContextCommand(t, home, 1, name, apptest.LegacyID, "r8", "r99", "5-6", "0", "r8.1")
		require.Contains(t, errs, "context "+name+": 3 unknown items: r99, 5-6, r8.1: thread "+apptest.LegacyID+
			" has 6 items: nothing was changed")
	}
	out, _ := apptest.ContextCommand(t, home, 0, "edits", apptest.LegacyID)
	require.Equal(t, "There are no edits.\n", out)
}

// TestContextNeedsNoProvider has no ready provider, and one whose script is missing.
func TestContextNeedsNoProvider(t *testing.T) {
	t.Parallel()
	home, _ := apptest.LegacyHome(t)
	apptest.WriteConfig(t, home, "model_provider = \"offline\"\n[model_providers.offline]\nscript = \"gone.json\"\n")
	apptest.ContextCommand(t, home, 0, "exclude", "--last", "0")
	apptest.ContextCommand(t, home, 0, "prompt", "--last")
	apptest.WriteConfig(t, home, "model_provider = \n")
	_, errs := apptest.ContextCommand(t, home, 1, "list", "--last")
	require.Contains(t, errs, "config.toml:1")
}

// TestTargetsSelectItems selects items by ids, indices and ranges, each once.
func TestTargetsSelectItems(t *testing.T) {
	items := []protocol.ContextItem{{ID: "r1"}, {ID: "r2.0"}, {ID: "r2.1"}, {ID: "r9"}}
	targets, err := parseTargets([]string{"r9", "1-2", "2", "0", "4", "2-4", "r2", "999999999"})
	require.NoError(t, err)
	ids, unknown := idsOf(targets, items, false)
	require.Equal(t, []string{"r9", "r2.0", "r2.1", "r1"}, ids)
	require.Equal(t, []string{"4", "2-4", "r2", "999999999"}, unknown)
	ids, unknown = idsOf(targets, items, true)
	require.Equal(t, []string{"r9", "r2.0", "r2.1", "r1", "r2"}, ids)
	require.Equal(t, []string{"4", "2-4", "999999999"}, unknown)
	for _, word := range []string{"", "r", "R1", "r1.2.3", "-1", "1-", "1-2-3", "1.5", "9999999999", "r1\n"} {
		_, err := parseTargets([]string{word})
		require.Error(t, err, "%q", word)
	}
}
