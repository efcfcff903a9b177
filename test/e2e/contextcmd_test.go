package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// tokensInRow match the tokens, and itsAge the age, in the row of an item.
var tokensInRow, ageInRow = regexp.MustCompile(`^(\d+ r[\d.]+ [a-z ]+) [\d,]+`), regexp.MustCompile(` \d+s `)

// rowsOf returns the lines with single spaces, without prices and ages.
func rowsOf(out string) (rows []string) {
	for line := range strings.Lines(out) {
		line = ageInRow.ReplaceAllString(strings.Join(strings.Fields(line), " "), " 0s ")
		rows = append(rows, tokensInRow.ReplaceAllString(line, "$1 N"))
	}
	return rows
}

// rowOf returns the only row with a prefix.
func rowOf(t *testing.T, out, begin string) string {
	t.Helper()
	for _, row := range rowsOf(out) {
		if strings.HasPrefix(row, begin) {
			return row
		}
	}
	require.Failf(t, "no such row", "%q in\n%s", begin, out)
	return ""
}

// TestContextListReadsReferenceThreads lists a rollout of the reference implementation, and does
// not change it.
func TestContextListReadsReferenceThreads(t *testing.T) {
	t.Parallel()
	home, path := apptest.LegacyHome(t)
	out, _ := apptest.ContextCommand(t, home, 0, "list", apptest.LegacyID)
	require.Equal(t, []string{
		"index id category tokens state preview", // the start of a turn is not known
		"0 r1 environment N cwd /project",
		"1 r3 user N list the files",
		"2 r6 reasoning N not sent: other API Listing",
		"3 r7 tool call N ls",
		"4 r8 tool output N ls → README.md and many other files, one afte…",
		"5 r10 agent N There is README.md.",
		"",
		"category items tokens sent share of request",
	}, rowsOf(out)[:9])
	require.Regexp(t, `^reasoning 1 \d+ 0 0\.0 %$`, rowOf(t, out, "reasoning"))
	require.Regexp(t, `^total 6 [\d,]+ [\d,]+ 100\.0 %$`, rowOf(t, out, "total"))
	require.Contains(t, out, "\nThe context window of the model is unknown")
	for line := range strings.Lines(out) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 100)
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, apptest.LegacyRollout, string(text))
	require.NoFileExists(t, path+".bak")
}

// TestContextJSONEqualsResponse prints the response of the method.
func TestContextJSONEqualsResponse(t *testing.T) {
	t.Parallel()
	home, _ := apptest.LegacyHome(t)
	apptest.ContextCommand(t, home, 0, "exclude", apptest.LegacyID, "r8")
	c := apptest.StartServer(t, home)
	c.Initialize()
	for method, args := range map[string]string{
		"context/getItems":  "list",
		"context/getUsage":  "usage --json",
		"context/listEdits": "edits",
		"context/getPrompt": "prompt",
	} {
		out, _ := apptest.ContextCommand(t, home, 0, append(strings.Fields(args), apptest.LegacyID, "--json")...)
		require.JSONEq(t, string(c.Call(method, apptest.Object{"threadId": apptest.LegacyID})), out, method)
		require.NotRegexp(t, "[\x00-\x09\x0b-\x1f\x7f\u0080-\u009f\u202e]", out, "%s prints control characters", method)
	}
	c.Close()
}

// TestContextPromptEscapesControlCharacters prints the items without control characters of
// terminals.
func TestContextPromptEscapesControlCharacters(t *testing.T) {
	t.Parallel()
	home, _ := apptest.LegacyHome(t)
	apptest.ContextCommand(t, home, 0, "exclude", apptest.LegacyID, "r8")
	out, _ := apptest.ContextCommand(t, home, 0, "prompt", "--last")
	require.Regexp(t, `^\d+ messages to model gpt-5-codex of provider gone, [\d,]+ tokens\n`, out)
	require.Contains(t, out, "\n\nlist \ufffd31mthe\ufffd[2J \ufffdfiles\n")
	require.Contains(t, out, `{"tool_calls":[`)
	require.Contains(t, out, "\n[output excluded from context: ")
	require.Contains(t, out, "\n[tool] {")
	require.NotRegexp(t, "[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u202e]", out)
}

// TestContextEditShowsNewList prints the list after each edit.
func TestContextEditShowsNewList(t *testing.T) {
	t.Parallel()
	home, path := apptest.LegacyHome(t)
	list := func() string { out, _ := apptest.ContextCommand(t, home, 0, "list", apptest.LegacyID); return out }
	untouched := list()

	out, _ := apptest.ContextCommand(t, home, 0, "exclude", apptest.LegacyID, "3-4", "r8", "5")
	require.Regexp(t, `^Excluded 3 items\. The next request has [\d,]+ tokens, \d+ fewer\.\n`, out)
	require.Contains(t, out, "appserver context undo "+apptest.LegacyID+"\n", "the output names the undo command")
	require.Contains(t, rowOf(t, list(), "4 r8"), "4 r8 tool output N excluded ls → README.md")
	apptest.RequireBackup(t, path)
	require.NoFileExists(t, filepath.Join(home, "thread-writer-locks", apptest.LegacyID+".lock"))

	out, _ = apptest.ContextCommand(t, home, 0, "include", apptest.LegacyID, "--json", "--", "r7", "r8", "r10")
	var answer struct{ Revision, Changed, Ignored int }
	require.NoError(t, json.Unmarshal([]byte(out), &answer))
	require.Equal(t, 3, answer.Changed)
	require.Equal(t, 2, answer.Revision)
	require.Equal(t, rowsOf(untouched), rowsOf(list()))
}

// TestContextUndoRevertsEachEdit undoes every kind of edit.
func TestContextUndoRevertsEachEdit(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home, _ := apptest.LegacyHome(t)
	list := func() string {
		out, _ := apptest.ContextCommand(t, home, 0, "list", apptest.LegacyID)
		return strings.Join(rowsOf(out), "\n")
	}
	untouched := list()
	edits := map[string][]string{
		"Excluded 2 items.": {"exclude", apptest.LegacyID, "r7", "r8"},
		"Included 1 item.":  {"include", apptest.LegacyID, "r7"},
		"Pinned 1 item.":    {"pin", apptest.LegacyID, "5"},
		"Unpinned 1 item.":  {"unpin", "--last", "5"},
		"Noted 2 items.":    {"note", apptest.LegacyID, "r7", "5", "what the user wants"},
		"Deleted 1 item.":   {"delete", "--yes", apptest.LegacyID, "5"},

		"Removed the note of 2 items.": {"unnote", apptest.LegacyID, "r7", "5"},
	}
	for _, want := range []string{"Excluded 2 items.", "Included 1 item.", "Pinned 1 item.", "Unpinned 1 item.",
		"Noted 2 items.", "Removed the note of 2 items.", "Deleted 1 item."} {
		before := list()
		out, _ := apptest.ContextCommand(t, home, 0, edits[want]...)
		require.True(t, strings.HasPrefix(out, want), out)
		after := list()
		require.NotEqual(t, before, after, want)
		out, _ = apptest.ContextCommand(t, home, 0, "undo", apptest.LegacyID)
		require.Contains(t, out, "Undone: ")
		require.Contains(t, out, "appserver context redo "+apptest.LegacyID)
		require.Equal(t, before, list(), want)
		out, _ = apptest.ContextCommand(t, home, 0, "redo", apptest.LegacyID)
		require.Contains(t, out, "Redone: ")
		require.Equal(t, after, list(), want)
	}
	out, _ := apptest.ContextCommand(t, home, 0, "edits", apptest.LegacyID)
	require.Regexp(t, `^revision edit items saved age state 1 exclude 2 \d+ \d+[sm] `,
		strings.Join(strings.Fields(out), " "))
	out, _ = apptest.ContextCommand(t, home, 0, "exclude", apptest.LegacyID, "r8")
	require.Equal(t, "Nothing changed: the edit has no effect.\n", out)
	_, errs := apptest.ContextCommand(t, home, 2, "restore", apptest.LegacyID)
	require.Contains(t, errs, "1 item excluded, 0 replaced, 1 deleted")
	require.Contains(t, errs, "--yes")
	out, _ = apptest.ContextCommand(t, home, 0, "restore", apptest.LegacyID, "--from-backup", "--yes")
	require.Regexp(t, `^Restored 2 items\. .* more\.\n`, out)
	require.Equal(t, untouched, list())
	out, _ = apptest.ContextCommand(t, home, 0, "restore", apptest.LegacyID)
	require.Equal(t, "Nothing changed: the edit has no effect.\n", out, "no question without an effect")
	_, errs = apptest.ContextCommand(t, home, 1, "redo", apptest.LegacyID)
	require.Contains(t, errs, "no undone edit")
}

// TestContextPruneDoesWhatPreviewShows prunes the named turns as the preview shows.
func TestContextPruneDoesWhatPreviewShows(t *testing.T) {
	t.Parallel()
	home, id, _ := newStoredThread(t) // two turns
	args := []string{id, "--category", "tool_output,assistantMessage", "--category=Reasoning", "--keep-last", "1"}
	before, _ := apptest.ContextCommand(t, home, 0, "list", id)
	preview, _ := apptest.ContextCommand(t, home, 0, append([]string{"preview"}, args...)...)
	require.Regexp(t, `^agent \d+ \d+ (\d+)$`, rowOf(t, preview, "agent"))
	require.Contains(t, preview, "Nothing was changed.")
	require.Contains(t, preview, "Warning: ")
	usage, _ := apptest.ContextCommand(t, home, 0, "usage", id)
	require.Contains(t, usage, "share of window")
	require.Regexp(t, `^total \d+ [\d,]+ [\d,]+ \d+\.\d %$`, rowOf(t, usage, "total"))
	require.Regexp(t, `\nThe next request has [\d,]+ tokens of the window of [\d,]+ tokens\.\n$`, usage)
	after, _ := apptest.ContextCommand(t, home, 0, "list", id)
	require.Equal(t, rowsOf(before), rowsOf(after))

	out, _ := apptest.ContextCommand(t, home, 0, append([]string{"prune"}, args...)...)
	saved := regexp.MustCompile(`(\d+) fewer\.`)
	require.True(t, strings.HasPrefix(out, "Excluded 1 item. "), out)
	require.Equal(t, saved.FindString(preview), saved.FindString(out))
	var list struct {
		Items []struct {
			TurnID   string
			Included bool
		}
	}
	asJSON, _ := apptest.ContextCommand(t, home, 0, "list", id, "--json")
	require.NoError(t, json.Unmarshal([]byte(asJSON), &list))
	last := list.Items[len(list.Items)-1]
	require.True(t, last.Included)
	out, _ = apptest.ContextCommand(t, home, 0, "prune", id, "--category", "userMessage", "--before-turn", last.TurnID)
	require.True(t, strings.HasPrefix(out, "Excluded 1 item. "), out)
	out, _ = apptest.ContextCommand(t, home, 0, "prune", id, "--category", "assistantMessage", "--first", "2")
	require.True(t, strings.HasPrefix(out, "Excluded 1 item. "), out)
	_, errs := apptest.ContextCommand(t, home, 1, "prune", id, "--category", "userMessage", "--before-turn", "nowhere")
	require.Contains(t, errs, "there is no turn nowhere")
}
