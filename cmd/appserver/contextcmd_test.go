package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// legacyID is the thread of legacyRollout.
const legacyID = "0199a213-81c0-7800-8aa1-bbab2a035a53"

// legacyRollout is what earlier versions of the reference implementation write: lines
// without ordinals, turns and items only as events of their older form. A user's words
// hold characters that terminals obey.
const legacyRollout = `{"timestamp":"2025-10-01T10:00:00.000Z","type":"session_meta","payload":{"id":"0199a213-81c0-7800-8aa1-bbab2a035a53","timestamp":"2025-10-01T10:00:00.000Z","cwd":"/project","originator":"codex_cli_rs","cli_version":"0.44.0","instructions":null,"source":"cli","model_provider":"gone"}}
{"timestamp":"2025-10-01T10:00:00.100Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/project</cwd>\n</environment_context>"}]}}
{"timestamp":"2025-10-01T10:00:01.000Z","type":"turn_context","payload":{"cwd":"/project","approval_policy":"on-request","sandbox_policy":{"mode":"read-only"},"model":"gpt-5-codex","summary":"auto"}}
{"timestamp":"2025-10-01T10:00:01.100Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"list \u009b31mthe\u001b[2J \u202efiles"}]}}
{"timestamp":"2025-10-01T10:00:01.200Z","type":"event_msg","payload":{"type":"user_message","message":"list \u009b31mthe\u001b[2J \u202efiles","kind":"plain"}}
{"timestamp":"2025-10-01T10:00:02.000Z","type":"event_msg","payload":{"type":"agent_reasoning","text":"**Listing**"}}
{"timestamp":"2025-10-01T10:00:02.100Z","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"**Listing**"}],"content":null,"encrypted_content":"gAAAA"}}
{"timestamp":"2025-10-01T10:00:02.200Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"call_1"}}
{"timestamp":"2025-10-01T10:00:02.300Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":"{\"output\":\"README.md and many other files, one after the other\\n\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}"}}
{"timestamp":"2025-10-01T10:00:03.000Z","type":"event_msg","payload":{"type":"agent_message","message":"There is README.md."}}
{"timestamp":"2025-10-01T10:00:03.100Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"There is README.md."}]}}
{"timestamp":"2025-10-01T10:00:03.200Z","type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":null}}
`

// legacyHome is a home with legacyRollout.
func legacyHome(t *testing.T) (home, path string) {
	t.Helper()
	home = t.TempDir()
	return home, putRollout(t, home, legacyID, legacyRollout)
}

func putRollout(t *testing.T, home, id, text string) string {
	t.Helper()
	path := filepath.Join(home, "sessions/2025/10/01", "rollout-2025-10-01T12-00-00-"+id+".jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// inContext runs a context command that must end with this status. It is ready for
// nothing: no provider has a key.
func inContext(t *testing.T, home string, status int, args ...string) (out, errs string) {
	t.Helper()
	got, out, errs := execute(t, home, append([]string{"context"}, args...)...)
	require.Equal(t, status, got, "%s\n%s", out, errs)
	if status == 0 {
		require.Empty(t, errs)
	} else {
		require.Empty(t, out)
		require.NotEmpty(t, errs)
	}
	return out, errs
}

// itsTokens are in the row of an item, itsAge too.
var itsTokens, itsAge = regexp.MustCompile(`^(\d+ r[\d.]+ \w+) [\d,]+`), regexp.MustCompile(` \d+s `)

// rowsOf are the lines with single spaces, without the prices and ages of items.
func rowsOf(out string) (rows []string) {
	for line := range strings.Lines(out) {
		line = itsAge.ReplaceAllString(strings.Join(strings.Fields(line), " "), " 0s ")
		rows = append(rows, itsTokens.ReplaceAllString(line, "$1 N"))
	}
	return rows
}

// rowOf is the one row that begins so.
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

// TestContextListsThreadsOfTheReference as they are, and leaves them so.
func TestContextListsThreadsOfTheReference(t *testing.T) {
	t.Parallel()
	home, path := legacyHome(t)
	out, _ := inContext(t, home, 0, "list", legacyID)
	require.Equal(t, []string{
		"index id category tokens state preview", // when a turn began is not told
		"0 r1 environmentContext N <environment_context> <cwd>/project</cwd> </envir…",
		"1 r3 userMessage N list 31mthe[2J files",
		"2 r6 reasoning N not sent **Listing**",
		`3 r7 toolCall N shell {"command":["ls"]}`,
		`4 r8 toolOutput N {"output":"README.md and many other files, one af…`,
		"5 r10 assistantMessage N There is README.md.",
		"",
		"category items tokens sent share of request",
	}, rowsOf(out)[:9])
	require.Regexp(t, `^reasoning 1 \d+ 0 0\.0 %$`, rowOf(t, out, "reasoning"))
	require.Regexp(t, `^total 6 [\d,]+ [\d,]+ 100\.0 %$`, rowOf(t, out, "total"))
	require.Contains(t, out, "\nThe window of the model is not known")
	for line := range strings.Lines(out) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 100)
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, legacyRollout, string(text))
	require.NoFileExists(t, path+".bak")
}

// TestContextJSONIsTheAnswer of the method, as a client of a server gets it.
func TestContextJSONIsTheAnswer(t *testing.T) {
	t.Parallel()
	home, _ := legacyHome(t)
	inContext(t, home, 0, "exclude", legacyID, "r8")
	c := startServer(t, home)
	c.initialize()
	for method, args := range map[string]string{
		"context/getItems":  "list",
		"context/getUsage":  "usage --json",
		"context/listEdits": "edits",
		"context/getPrompt": "prompt",
	} {
		out, _ := inContext(t, home, 0, append(strings.Fields(args), legacyID, "--json")...)
		require.JSONEq(t, string(c.call(method, object{"threadId": legacyID})), out, method)
		require.NotRegexp(t, "[\x00-\x09\x0b-\x1f\x7f\u0080-\u009f\u202e]", out, "%s obeys the text", method)
	}
	c.close()
}

// TestContextShowsThePrompt with the words of the items, which the terminal does not
// obey.
func TestContextShowsThePrompt(t *testing.T) {
	t.Parallel()
	home, _ := legacyHome(t)
	inContext(t, home, 0, "exclude", legacyID, "r8")
	out, _ := inContext(t, home, 0, "prompt", "--last")
	require.Regexp(t, `^\d+ messages to model gpt-5-codex of provider gone, [\d,]+ tokens\n`, out)
	require.Contains(t, out, "[2] user\nlist \ufffd31mthe\ufffd[2J \ufffdfiles\n")
	require.Contains(t, out, `{"tool_calls":[`)
	require.Contains(t, out, "\n[output excluded from context: ")
	require.Contains(t, out, "\n[tool] {")
	require.NotRegexp(t, "[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u202e]", out)
}

// TestContextEdits what the list shows then, and takes it back.
func TestContextEdits(t *testing.T) {
	t.Parallel()
	home, path := legacyHome(t)
	list := func() string { out, _ := inContext(t, home, 0, "list", legacyID); return out }
	untouched := list()

	out, _ := inContext(t, home, 0, "exclude", legacyID, "3-4", "r8", "5")
	require.Regexp(t, `^Excluded 3 items\. The next request has [\d,]+ tokens, \d+ fewer\.\n`, out)
	require.Contains(t, out, "appserver context undo "+legacyID+"\n", "it says how to take it back")
	require.Contains(t, rowOf(t, list(), "4 r8"), "4 r8 toolOutput N excluded {")
	require.FileExists(t, path+".bak", "it was rewritten as when a thread is unloaded")
	require.NoFileExists(t, filepath.Join(home, "thread-writer-locks", legacyID+".lock"))

	out, _ = inContext(t, home, 0, "include", legacyID, "--json", "--", "r7", "r8", "r10")
	var answer struct{ Revision, Changed, Ignored int }
	require.NoError(t, json.Unmarshal([]byte(out), &answer))
	require.Equal(t, 3, answer.Changed)
	require.Equal(t, 2, answer.Revision)
	require.Equal(t, rowsOf(untouched), rowsOf(list()))
}

// TestContextTakesBack every edit.
func TestContextTakesBack(t *testing.T) {
	t.Parallel()
	home, _ := legacyHome(t)
	list := func() string {
		out, _ := inContext(t, home, 0, "list", legacyID)
		return strings.Join(rowsOf(out), "\n")
	}
	untouched := list()
	edits := map[string][]string{
		"Excluded 2 items.": {"exclude", legacyID, "r7", "r8"},
		"Included 1 item.":  {"include", legacyID, "r7"},
		"Pinned 1 item.":    {"pin", legacyID, "5"},
		"Unpinned 1 item.":  {"unpin", "--last", "5"},
		"Deleted 1 item.":   {"delete", "--yes", legacyID, "5"},
	}
	for _, want := range []string{"Excluded 2 items.", "Included 1 item.", "Pinned 1 item.", "Unpinned 1 item.", "Deleted 1 item."} {
		before := list()
		out, _ := inContext(t, home, 0, edits[want]...)
		require.True(t, strings.HasPrefix(out, want), out)
		after := list()
		require.NotEqual(t, before, after, want)
		out, _ = inContext(t, home, 0, "undo", legacyID)
		require.Contains(t, out, "Undone: ")
		require.Contains(t, out, "appserver context redo "+legacyID)
		require.Equal(t, before, list(), want)
		out, _ = inContext(t, home, 0, "redo", legacyID)
		require.Contains(t, out, "Made again: ")
		require.Equal(t, after, list(), want)
	}
	out, _ := inContext(t, home, 0, "edits", legacyID)
	require.Regexp(t, `^revision edit items saved age state 1 exclude 2 \d+ \d+[sm] `, strings.Join(strings.Fields(out), " "))
	out, _ = inContext(t, home, 0, "exclude", legacyID, "r8")
	require.Equal(t, "Nothing changed: there was nothing to do.\n", out)
	_, errs := inContext(t, home, 2, "restore", legacyID)
	require.Contains(t, errs, "1 item excluded, 0 replaced, 1 deleted")
	require.Contains(t, errs, "--yes")
	out, _ = inContext(t, home, 0, "restore", legacyID, "--from-backup", "--yes")
	require.Regexp(t, `^Restored 2 items\. .* more\.\n`, out)
	require.Equal(t, untouched, list())
	out, _ = inContext(t, home, 0, "restore", legacyID)
	require.Equal(t, "Nothing changed: there was nothing to do.\n", out, "nothing is asked where nothing would happen")
	_, errs = inContext(t, home, 1, "redo", legacyID)
	require.Contains(t, errs, "no undone edit")
}

// TestContextPrunes what preview says it would, of the turns that are named.
func TestContextPrunes(t *testing.T) {
	t.Parallel()
	home, id, _ := stored(t) // two turns
	args := []string{id, "--category", "tool_output,assistantMessage", "--category=Reasoning", "--keep-last", "1"}
	before, _ := inContext(t, home, 0, "list", id)
	preview, _ := inContext(t, home, 0, append([]string{"preview"}, args...)...)
	require.Regexp(t, `^assistantMessage \d+ \d+ (\d+)$`, rowOf(t, preview, "assistantMessage"))
	require.Contains(t, preview, "Nothing was changed yet.")
	require.Contains(t, preview, "Note: ")
	usage, _ := inContext(t, home, 0, "usage", id)
	require.Contains(t, usage, "share of window")
	require.Regexp(t, `^total \d+ [\d,]+ [\d,]+ \d+\.\d %$`, rowOf(t, usage, "total"))
	require.Regexp(t, `\nThe next request has [\d,]+ of the [\d,]+ tokens of the window\.\n$`, usage)
	after, _ := inContext(t, home, 0, "list", id)
	require.Equal(t, rowsOf(before), rowsOf(after))

	out, _ := inContext(t, home, 0, append([]string{"prune"}, args...)...)
	saved := regexp.MustCompile(`(\d+) fewer\.`)
	require.True(t, strings.HasPrefix(out, "Excluded 1 item. "), out)
	require.Equal(t, saved.FindString(preview), saved.FindString(out))
	var list struct {
		Items []struct {
			TurnID   string
			Included bool
		}
	}
	asJSON, _ := inContext(t, home, 0, "list", id, "--json")
	require.NoError(t, json.Unmarshal([]byte(asJSON), &list))
	last := list.Items[len(list.Items)-1]
	require.True(t, last.Included)
	out, _ = inContext(t, home, 0, "prune", id, "--category", "userMessage", "--before-turn", last.TurnID)
	require.True(t, strings.HasPrefix(out, "Excluded 1 item. "), out)
	out, _ = inContext(t, home, 0, "prune", id, "--category", "assistantMessage", "--first", "2")
	require.True(t, strings.HasPrefix(out, "Excluded 1 item. "), out)
	_, errs := inContext(t, home, 1, "prune", id, "--category", "userMessage", "--before-turn", "nowhere")
	require.Contains(t, errs, "there is no turn nowhere")
}
