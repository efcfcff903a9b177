package contextedit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// newTurns returns a thread with three turns of three items each: a message, a call and its output.
func newTurns() *fakeThread {
	t := newThread(9)
	for i := range t.items {
		item := &t.items[i]
		item.TurnID = new([]string{"one", "two", "three"}[i/3])
		item.Category = []protocol.ContextCategory{
			protocol.CategoryUserMessage, protocol.CategoryToolCall, protocol.CategoryToolOutput}[i%3]
	}
	n := int64(4)
	t.preview = protocol.ContextPreviewResponse{Before: protocol.ContextUsage{PromptTokens: 12_800},
		After: protocol.ContextUsage{PromptTokens: 9_000}, Warnings: []string{"careful"},
		NetPrice: protocol.ContextNetPrice{TokensSaved: 3_800, TokensLeavingCache: 500, RequestsToPayBack: &n}}
	return t
}

// TestEditorHeadsTurns shows a heading above each turn, and always that of the first visible row.
func TestEditorHeadsTurns(t *testing.T) {
	e := open(newTurns(), Size{80, 24})
	lines := strings.Split(e.text(), "\n")
	require.Equal(t, "Turn 1  message 0"+strings.Repeat(" ", 60)+"300", lines[3])
	require.Contains(t, lines[4], "> [x]    user         message 0")
	require.Contains(t, lines[7], "Turn 2  message 3")
	require.Contains(t, lines[11], "Turn 3  message 6")
	require.Equal(t, 9, strings.Count(e.text(), "[x] "), "headings hide no item if there is room")

	e = open(newTurns(), Size{80, 12})
	e.press("End")
	for range 12 {
		lines = strings.Split(e.text(), "\n")
		require.Contains(t, lines[3], "Turn ", "the first visible row has the heading of its turn")
		require.Equal(t, 1, strings.Count(e.text(), "\n> "), "the cursor is visible")
		e.press("Up")
	}
	require.Contains(t, e.text(), "> [x]    user         message 0")
}

// TestEditorSorts sorts by price and by age. The cursor stays on its item, and edits mean the same items.
func TestEditorSorts(t *testing.T) {
	thread := newTurns()
	thread.items[1].Tokens = 5000
	e := open(thread, Size{80, 24})
	e.press("Down Down s")
	screen := e.text()
	require.NotContains(t, screen, "Turn 1", "headings are of the order by turn")
	require.Contains(t, screen, "Sorted by price.")
	rows := itemRows(screen)
	require.Contains(t, rows[0], "message 1")
	require.Contains(t, rows[1], "message 8")
	require.Contains(t, rows[7], "> [x]    tool output  message 2")
	e.press("Home Space a Enter")
	require.Equal(t, []string{"r1"}, idsOf(thread.applied[0][0]))
	e.press("s")
	require.Contains(t, itemRows(e.text())[0], "message 8")
	e.press("2")
	require.Contains(t, e.text(), "item 3 of 3, newest first, 6 not shown")
	e.press("0 s")
	require.Contains(t, e.text(), "Turn 1")
}

func itemRows(screen string) (rows []string) {
	for line := range strings.Lines(screen) {
		if strings.Contains(line, "message ") && strings.Contains(line, "[") {
			rows = append(rows, line)
		}
	}
	return rows
}

// TestEditorUsesTheWidth shows the long preview as far as the terminal has columns.
func TestEditorUsesTheWidth(t *testing.T) {
	thread := newTurns()
	thread.items[1].Preview, thread.items[1].LongPreview = strings.Repeat("p", 79)+"…", strings.Repeat("p", 159)+"…"
	for columns, shown := range map[int]int{60: 27, 80: 47, 160: 127, 200: 159} {
		e := open(thread, Size{columns, 24})
		require.Contains(t, e.text(), "  "+strings.Repeat("p", shown)+"…", columns)
		require.NotContains(t, e.text(), strings.Repeat("p", shown+1), columns)
	}
}

// TestEditorReplacesText plans another text, from the user's editor or from a field, and shows its price.
func TestEditorReplacesText(t *testing.T) {
	thread := newTurns()
	text := "the whole\ntext"
	thread.item.Original = []protocol.ContextPart{{Type: "text", Text: &text}}
	e := open(thread, Size{80, 24})
	e.press("R")
	require.Contains(t, e.text(), "Only the text of tool outputs and of reasoning can be replaced.")
	e.press("Down Down R")
	require.Contains(t, e.text(), "Text: the whole text_")
	e.press("Ctrl+U s h o r t Enter")
	require.Contains(t, e.text(), "> [x]* R tool output  message 2")
	require.Contains(t, e.text(), "Plan of 1 change: 3,800 tokens fewer")
	e.press("a")
	require.Contains(t, e.text(), "replace  1 item")
	e.press("Enter")
	require.Equal(t, "short", thread.applied[0][0].ContextOperationVariant.(*protocol.Replace).Text)
	require.Equal(t, "r2", *thread.applied[0][0].ContextOperationVariant.(*protocol.Replace).ID)
	require.Contains(t, e.text(), "No plan", "the text was applied")

	e.hasEditor = true
	e.press("R")
	given, ok := e.Editing()
	require.True(t, ok)
	require.Equal(t, text, given)
	e.run(e.Update(EditedText{Text: text}))
	require.Contains(t, e.text(), "The text is unchanged.")
	e.press("R")
	e.run(e.Update(EditedText{Text: "new\ntext"}))
	e.press("R")
	given, _ = e.Editing()
	require.Equal(t, "new\ntext", given, "the planned text is edited again")
	e.run(e.Update(EditedText{Text: "newer"}))
	e.press("a Enter")
	require.Equal(t, "newer", thread.applied[1][0].ContextOperationVariant.(*protocol.Replace).Text)
}

// TestEditorTrimsAfterItsPrice asks for a number, shows the price, and names the last turn.
func TestEditorTrimsAfterItsPrice(t *testing.T) {
	thread := newTurns()
	thread.items[4].Pinned = true
	e := open(thread, Size{80, 24})
	e.press("T Backspace x Enter")
	require.Contains(t, e.text(), "Give a number of turns")
	e.press("Ctrl+U 5 Enter")
	require.Contains(t, e.text(), "The context has no turn before the last 5.")
	e.press("T Ctrl+U 1 Enter")
	screen := e.text()
	for _, text := range []string{"Trim the context to the last 1 turn?", "2 turns with 5 items leave the context.",
		"3,800 tokens fewer", "500 tokens leave the cache, pays back after 4 requests", "9,000 tokens", "Warning: careful"} {
		require.Contains(t, screen, text)
	}
	e.press("Esc")
	require.Equal(t, []string{"preview"}, thread.calls)
	e.press("T Ctrl+U 1 Enter Enter")
	require.Equal(t, []string{"preview", "preview", "trim 1 three"}, thread.calls)
	require.Contains(t, e.text(), "Trimmed to the last 1 turn. u undoes it.")
	e.press("Space T")
	require.Contains(t, e.text(), "Apply or discard the plan first.")
}

// TestEditorCompactsAfterReview shows the draft with what it loses. The user edits the summary, or drops the draft.
func TestEditorCompactsAfterReview(t *testing.T) {
	thread := newTurns()
	warning := "no model"
	thread.draft = protocol.ThreadCompactProposeResponse{DraftID: "d", Strategy: "local", Summary: "We did\nmuch.\x1b[2J",
		Replaces: protocol.CompactionScope{ItemIDs: []string{"r1", "r2"}, TurnIDs: []string{"one"}}, TokensBefore: 12_800,
		TokensAfter: 2_000, Warning: &warning, LossDetails: []protocol.CompactionLoss{{Text: "a.go changed"}}}
	e := open(thread, Size{80, 24})
	e.press("C")
	screen := e.text()
	for _, text := range []string{"replaces 2 items of 1 turn by a summary (local)", "2,000 tokens instead of 12,800",
		"Warning: no model", "1 fact that the summary does not mention:", "  - a.go changed", "We did", "Enter compacts"} {
		require.Contains(t, screen, text)
	}
	require.NotContains(t, screen, "\x1b")
	require.NotContains(t, screen, "e edits", "there is no editor")
	e.press("Esc")
	require.Equal(t, []string{"draft", "cancel"}, thread.calls)

	e.hasEditor = true
	e.press("C e")
	e.run(e.Update(EditedText{Text: "Other words."}))
	require.Contains(t, e.text(), "Other words.")
	e.press("Enter")
	require.Equal(t, "commit d: Other words.", thread.calls[len(thread.calls)-1])
	require.Contains(t, e.text(), "Compacted the context. u undoes it.")
	e.press("C Enter")
	require.Equal(t, "commit d", thread.calls[len(thread.calls)-1], "the summary of the draft is not sent again")
}

// TestEditorAppliesSuggestions shows each with its price, and the price of the chosen ones before they are applied.
func TestEditorAppliesSuggestions(t *testing.T) {
	thread := newTurns()
	e := open(thread, Size{80, 24})
	e.press("S")
	require.Contains(t, e.text(), "There are no suggestions")
	suggest := func(id string, tokens int64, selected bool) protocol.ContextSuggestion {
		return protocol.ContextSuggestion{ID: id, Text: "because of " + id, ItemIDs: []string{id}, Selected: selected,
			NetPrice: protocol.ContextNetPrice{TokensSaved: tokens}, Edits: []protocol.ContextOperation{
				{ContextOperationVariant: &protocol.SetInclusion{ContextTargets: protocol.ContextTargets{IDs: []string{id}}}}}}
	}
	thread.suggestions.Suggestions = []protocol.ContextSuggestion{suggest("r2", 3_000, true), suggest("r5", 800, false)}
	e.press("S")
	require.Contains(t, e.text(), "> [x]     3,000  1 item    because of r2")
	require.Contains(t, e.text(), "  [ ]       800  1 item    because of r5")
	e.press("Space Enter")
	require.Contains(t, e.text(), "No suggestion was chosen.")
	e.press("S Down Space Enter")
	require.Contains(t, e.text(), "Apply 2 suggestions for 2 items?")
	require.Contains(t, e.text(), "3,800 tokens fewer")
	require.Empty(t, thread.applied)
	e.press("Enter")
	require.Len(t, thread.applied[0], 2)
	require.Contains(t, e.text(), "u undoes it.")
}

// TestEditorRunsTheUsersEditor gives it a private file, and takes what it wrote.
func TestEditorRunsTheUsersEditor(t *testing.T) {
	require.Equal(t, []string{"code", "--wait"}, editorOf(func(name string) string {
		return map[string]string{"EDITOR": "code --wait"}[name]
	}))
	require.Empty(t, editorOf(func(string) string { return "" }))
	_, err := runEditor(nil, "x")
	require.ErrorContains(t, err, "EDITOR is not set")
	_, err = runEditor([]string{"/no/such/editor"}, "x")
	require.ErrorContains(t, err, "the editor /no/such/editor failed")
}
