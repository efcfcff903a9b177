package contextedit

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/cmd/appserver/internal/termtext"
	"appserver/protocol"
	"appserver/test/apptest"
	"appserver/test/sample"
)

func TestMain(m *testing.M) { apptest.Main(m) }

// fakeThread is a thread in memory. Each edit adds one to its revision.
type fakeThread struct {
	items    []protocol.ContextItem
	revision int64
	preview  protocol.ContextPreviewResponse
	applied  [][]protocol.ContextOperation
	calls    []string
	search   protocol.ContextSearchResponse
	item     protocol.ContextReadItemResponse
	failure  error
	usage    *protocol.ContextUsage // or nil for the usage of the items

	suggestions protocol.ContextSuggestResponse
	draft       protocol.ThreadCompactProposeResponse
}

func (t *fakeThread) call(name string) error {
	t.calls = append(t.calls, name)
	return t.failure
}

func (t *fakeThread) Head() (protocol.Thread, error) {
	name, model := "The parser", "gpt-5"
	return protocol.Thread{ID: "id", Name: &name, Model: &model}, nil
}

func (t *fakeThread) Items() (protocol.ContextGetItemsResponse, error) {
	window := int64(128_000)
	u := protocol.ContextUsage{PromptTokens: 12_800, ModelContextWindow: &window}
	for _, c := range []protocol.ContextCategory{protocol.CategoryUserMessage, protocol.CategoryToolOutput} {
		part := protocol.CategoryUsage{Category: c}
		for _, item := range t.items {
			if item.Category == c {
				part.Count++
				part.IncludedTokens += item.Tokens
			}
		}
		u.ByCategory = append(u.ByCategory, part)
	}
	if t.usage != nil {
		u = *t.usage
	}
	return protocol.ContextGetItemsResponse{Items: t.items, Revision: t.revision, Usage: u}, nil
}

func (t *fakeThread) Preview([]protocol.ContextOperation) (protocol.ContextPreviewResponse, error) {
	return t.preview, t.call("preview")
}

func (t *fakeThread) Apply(edits []protocol.ContextOperation, revision int64) (protocol.ContextApplyResponse, error) {
	var r protocol.ContextApplyResponse
	if err := t.call("apply"); err != nil {
		return r, err
	}
	if revision != t.revision {
		return r, &protocol.Error{Data: &protocol.ErrorData{Kind: protocol.KindStaleRevision}}
	}
	t.applied = append(t.applied, edits)
	t.revision++
	for _, e := range edits {
		t.change(e.ContextOperationVariant)
	}
	return protocol.ContextApplyResponse{Edit: &protocol.ContextEdit{Op: "apply", Count: 1}}, nil
}

// change makes an edit.
func (t *fakeThread) change(edit protocol.ContextOperationVariant) {
	var kept []protocol.ContextItem
	for _, item := range t.items {
		switch e := edit.(type) {
		case *protocol.SetInclusion:
			if slices.Contains(e.IDs, item.ID) {
				item.Included, item.InPrompt = e.Included, e.Included
			}
		case *protocol.Pin:
			if slices.Contains(e.IDs, item.ID) {
				item.Pinned = e.Pinned
			}
		case *protocol.SetNote:
			if item.Note = ""; slices.Contains(e.IDs, item.ID) && e.Note != nil {
				item.Note = *e.Note
			}
		case *protocol.PruneByIndices:
			if slices.Contains(e.IDs, item.ID) {
				continue
			}
		}
		kept = append(kept, item)
	}
	t.items = kept
}

func (t *fakeThread) Undo(int64) (protocol.ContextUndoResponse, error) {
	return protocol.ContextUndoResponse{Undone: protocol.ContextEdit{Op: "apply", Count: 2}}, t.call("undo")
}

func (t *fakeThread) Redo(int64) (protocol.ContextRedoResponse, error) {
	return protocol.ContextRedoResponse{Redone: protocol.ContextEdit{Op: "apply", Count: 2}}, t.call("redo")
}

func (t *fakeThread) ReadItem(string) (protocol.ContextReadItemResponse, error) {
	return t.item, t.call("read")
}

func (t *fakeThread) Suggest() (protocol.ContextSuggestResponse, error) {
	return t.suggestions, t.call("suggest")
}

func (t *fakeThread) Trim(keep uint32, lastTurn string) error {
	return t.call(fmt.Sprintf("trim %d %s", keep, lastTurn))
}

func (t *fakeThread) Draft() (protocol.ThreadCompactProposeResponse, error) {
	return t.draft, t.call("draft")
}

func (t *fakeThread) Commit(id string, text *string) error {
	if text != nil {
		id += ": " + *text
	}
	return t.call("commit " + id)
}

func (t *fakeThread) Cancel() error { return t.call("cancel") }

func (t *fakeThread) Search(string, bool) (protocol.ContextSearchResponse, error) {
	return t.search, t.call("search")
}

// newThread returns a thread with n items: messages and outputs in turn.
func newThread(n int) *fakeThread {
	t := &fakeThread{}
	for i := range n {
		item := protocol.ContextItem{Index: i, ID: fmt.Sprintf("r%d", i), Category: protocol.CategoryUserMessage,
			Preview: fmt.Sprintf("message %d", i), Included: true, InPrompt: true, Tokens: int64(100 * i)}
		if i%2 == 1 {
			shell := "shell"
			item.Category, item.ToolName = protocol.CategoryToolOutput, &shell
		}
		t.items = append(t.items, item)
	}
	return t
}

// editor runs the commands of a model at once.
type editor struct {
	*Model
	thread *fakeThread
}

func open(thread *fakeThread, size Size) *editor {
	m, command := New(size)
	e := &editor{m, thread}
	e.run(command)
	return e
}

func (e *editor) run(c Command) {
	for c != nil {
		c = e.Update(c(e.thread))
	}
}

// press presses keys, which are separated by spaces. The word Space is the key of that name.
func (e *editor) press(keys string) {
	for key := range strings.FieldsSeq(keys) {
		if key == "Space" {
			key = " "
		}
		e.run(e.Update(Key(key)))
	}
}

func (e *editor) text() string {
	var lines []string
	for _, line := range e.View() {
		lines = append(lines, line.String())
	}
	return strings.Join(lines, "\n")
}

// idsOf returns the ids of an edit of the plan.
func idsOf(o protocol.ContextOperation) []string {
	switch o := o.ContextOperationVariant.(type) {
	case *protocol.SetInclusion:
		return o.IDs
	case *protocol.Pin:
		return o.IDs
	case *protocol.PruneByIndices:
		return o.IDs
	}
	return nil
}

// TestEditorPlansThenAppliesOneEdit collects changes, shows their price, and applies them after a question.
func TestEditorPlansThenAppliesOneEdit(t *testing.T) {
	thread := newThread(6)
	n := int64(30)
	thread.preview = protocol.ContextPreviewResponse{Before: protocol.ContextUsage{PromptTokens: 12_800},
		After: protocol.ContextUsage{PromptTokens: 12_400}, Warnings: []string{"something is lost"},
		Changes:  []protocol.ContextSentChange{{ID: "r2", Was: protocol.SentItself, Is: protocol.SentNothing}},
		NetPrice: protocol.ContextNetPrice{TokensSaved: 400, TokensLeavingCache: 41_000, RequestsToPayBack: &n}}
	e := open(thread, Size{80, 24})
	e.press("Down Space Down Down d p End p")
	screen := e.text()
	require.Contains(t, screen, "12,800 -> 12,400 tokens of 128,000 [#.........] 10.0 %")
	require.Contains(t, screen, "  [ ]*   tool output  message 1")
	require.Contains(t, screen, "  [-]~   user         message 2", "the preview states the consequence")
	require.Contains(t, screen, "  [D]*P  tool output  message 3")
	require.Contains(t, screen, "> [x]*P  tool output  message 5")
	require.Contains(t, screen, "Plan of 3 changes: 400 tokens fewer (3.1 %), 1 warning")
	require.Contains(t, screen, "41,000 tokens leave the cache, pays back after 30 requests")
	require.Empty(t, thread.applied)

	e.press("a")
	require.Contains(t, e.text(), "Warning: something is lost")
	e.press("Esc a Enter")
	require.Len(t, thread.applied, 1, "Esc applies nothing")
	edits := thread.applied[0]
	require.Equal(t, [][]string{{"r1"}, {"r5"}, {"r3"}}, [][]string{idsOf(edits[0]), idsOf(edits[1]), idsOf(edits[2])})
	require.Contains(t, e.text(), "Applied the plan to 1 item. u undoes it.")
}

// TestEditorTogglesBack leaves no plan if a change is reverted.
func TestEditorTogglesBack(t *testing.T) {
	e := open(newThread(3), Size{80, 24})
	e.press("Space d Space")
	require.Contains(t, e.text(), "[x]", "Space includes a deleted item")
	e.press("p p")
	require.Contains(t, e.text(), "No plan")
	e.press("a")
	require.Contains(t, e.text(), "There is no plan")
}

// TestEditorKeepsPlanAcrossChanges applies nothing to a context that changed, and keeps what fits.
func TestEditorKeepsPlanAcrossChanges(t *testing.T) {
	thread := newThread(5)
	e := open(thread, Size{80, 24})
	e.press("Space Down Space")
	thread.revision = 7
	thread.items = thread.items[1:]
	e.press("a Enter")
	require.Empty(t, thread.applied)
	require.Contains(t, e.text(), "The context changed in the meantime")
	require.Contains(t, e.text(), "planned change dropped: the items left the list.")
	e.press("a Enter")
	require.Equal(t, []string{"r1"}, idsOf(thread.applied[0][0]))
	require.Contains(t, e.text(), "No plan")
}

// TestEditorKeepsPlanOfLockedThread names the cause and the next action.
func TestEditorKeepsPlanOfLockedThread(t *testing.T) {
	thread := newThread(5)
	e := open(thread, Size{80, 24})
	e.press("Space")
	thread.failure = &protocol.Error{Data: &protocol.ErrorData{Kind: protocol.KindThreadLocked}}
	e.press("a Enter")
	require.Contains(t, e.text(), "another process has the thread open. Edit it there, end\nit, or start it with --web")
	require.Contains(t, e.text(), "Plan of 1 change")
	thread.failure = errors.New("the disk \x1b[31m is full")
	e.press("u")
	require.Contains(t, e.text(), "the disk \ufffd[31m is full")
}

// TestEditorUndoesAndRedoes sends the requests in the order of the keys.
func TestEditorUndoesAndRedoes(t *testing.T) {
	e := open(newThread(5), Size{80, 24})
	e.press("u u U Ctrl+R")
	require.Equal(t, []string{"undo", "undo", "redo", "redo"}, e.thread.calls)
	require.Contains(t, e.text(), "Redone: apply of 2 items. u undoes it.")
}

// TestEditorFinishesEditsBeforeItQuits loses no edit that a key asked for.
func TestEditorFinishesEditsBeforeItQuits(t *testing.T) {
	thread := newThread(5)
	e := open(thread, Size{80, 24})
	e.press("Space")
	undo := e.Update(Key("u"))
	require.Nil(t, e.Update(Key("U")), "one command runs at a time")
	e.Update(Key("q"))
	require.Contains(t, e.text(), "Finishing the edit, then quitting")
	redo := e.Update(undo(thread))
	e.run(e.Update(redo(thread)))
	require.Equal(t, []string{"preview", "undo", "redo", "preview"}, thread.calls)
	require.Contains(t, e.text(), "Quit and discard the plan of 1 change?")
	e.press("Esc Backspace")
	undo = e.Update(Key("u"))
	e.Update(Key("Ctrl+C"))
	e.Update(undo(thread))
	done, err := e.Done()
	require.True(t, done)
	require.NoError(t, err)
}

// TestEditorReadsTheListAgain shows edits of other programs, and keeps the plan.
func TestEditorReadsTheListAgain(t *testing.T) {
	thread := newThread(5)
	e := open(thread, Size{80, 24})
	e.press("Down Space")
	thread.items = append(thread.items[:3:3], protocol.ContextItem{ID: "r9", Preview: "new\x1bitem"})
	e.press("r")
	require.Contains(t, e.text(), `new\x1bitem`)
	require.Contains(t, e.text(), "> [ ]*")
	require.Contains(t, e.text(), "item 2 of 4")
	thread.failure = errors.New("broken")
	e.press("Enter")
	require.Contains(t, e.text(), "broken")
}

// TestEditorMovesByTurns goes to the first item of a turn.
func TestEditorMovesByTurns(t *testing.T) {
	thread := newThread(7)
	for i := range thread.items {
		turn := fmt.Sprint(i / 3)
		thread.items[i].TurnID = &turn
	}
	e := open(thread, Size{80, 24})
	for _, step := range []struct{ keys, want string }{
		{"J", "item 4 of 7"}, {"J", "item 7 of 7"}, {"J", "item 7 of 7"}, {"K", "item 4 of 7"}, {"Down K", "item 4 of 7"},
		{"K K", "item 1 of 7"},
	} {
		e.press(step.keys)
		require.Contains(t, e.text(), step.want, step.keys)
	}
}

// TestEditorDiscardsPlanAndBringsItBack protects against an accidental Backspace.
func TestEditorDiscardsPlanAndBringsItBack(t *testing.T) {
	e := open(newThread(5), Size{80, 24})
	e.press("Space Down d Backspace")
	require.Contains(t, e.text(), "No plan")
	e.press("Backspace")
	require.Contains(t, e.text(), "Plan of 2 changes")
}

// TestEditorAsksBeforeItDropsThePlan quits at once only without a plan.
func TestEditorAsksBeforeItDropsThePlan(t *testing.T) {
	e := open(newThread(5), Size{80, 24})
	e.press("Space q")
	require.Contains(t, e.text(), "Quit and discard the plan of 1 change?")
	e.press("n")
	done, _ := e.Done()
	require.False(t, done)
	e.press("q y")
	done, err := e.Done()
	require.True(t, done)
	require.NoError(t, err)
	e = open(newThread(5), Size{80, 24})
	e.press("q")
	done, _ = e.Done()
	require.True(t, done)
}

// TestEditorFiltersCategories shows chosen categories, and keeps the place.
func TestEditorFiltersCategories(t *testing.T) {
	e := open(newThread(9), Size{80, 24})
	e.press("Down Down Down 2")
	require.Contains(t, e.text(), "[2 tool output 4 (1,600)]")
	require.Contains(t, e.text(), "item 2 of 4, 5 not shown")
	require.NotContains(t, e.text(), "message 2\n")
	e.press("1")
	require.NotContains(t, e.text(), "not shown")
	e.press("0 c")
	require.Contains(t, e.text(), "item 2 of 4, 5 not shown")
	e.press("c")
	require.Contains(t, e.text(), "item 4 of 9")
	e.press("2 v End Space")
	require.Contains(t, e.text(), "Plan of 3 changes", "hidden items are not in the range")
}

// TestEditorChangesRanges gives all items of a range one state.
func TestEditorChangesRanges(t *testing.T) {
	e := open(newThread(9), Size{80, 24})
	e.press("Down Space v Down Down")
	require.Contains(t, e.text(), ">|[x]")
	e.press("Space")
	require.Contains(t, e.text(), "Plan of 3 changes", "a mixed range is excluded")
	e.press("v Up Up Space")
	require.Contains(t, e.text(), "No plan")
	e.press("Home Shift+Down Shift+Down Shift+Up d")
	require.Contains(t, e.text(), "Plan of 2 changes")
}

// TestEditorPlansNotes writes a note for a range, and removes it again. Both are parts of the plan.
func TestEditorPlansNotes(t *testing.T) {
	thread := newThread(4)
	e := open(thread, Size{80, 24})
	e.press("v Down t")
	e.Update(Paste("why\x1b it stays"))
	require.Contains(t, e.text(), `Note for 2 items: why\x1b it stays_`)
	e.press("! Backspace Enter")
	require.Regexp(t, `\[x\]\* N user +message 0`, e.text())
	e.press("a")
	require.Contains(t, e.text(), "note     2 items")
	e.press("Enter")
	note := "why\x1b it stays"
	require.Equal(t, [][]protocol.ContextOperation{{{ContextOperationVariant: &protocol.SetNote{
		ContextTargets: protocol.ContextTargets{IDs: []string{"r0", "r1"}}, Note: &note}}}}, thread.applied)
	require.Regexp(t, `\[x\]  N user +message 0`, e.text())

	e.press("Home t Ctrl+U")
	e.Update(Paste(strings.Repeat("é", 2001)))
	e.press("Enter")
	require.Contains(t, e.text(), "The note has 2001 characters, and at most 2000 are accepted.")
	e.press("Ctrl+U Enter a")
	require.Contains(t, e.text(), "unnote   1 item")
	e.press("Esc t x Esc")
	require.NotContains(t, e.text(), "Note for")
}

// TestEditorFindsAndExcludesMatches moves between matches, and plans to exclude all.
func TestEditorFindsAndExcludesMatches(t *testing.T) {
	thread := newThread(9)
	thread.search = protocol.ContextSearchResponse{IDs: []string{"r2", "r7"}, Tokens: 900,
		Data: []protocol.ContextMatch{{ID: "r7", Before: "the ", Match: "pass\x1bword", After: " is"}}}
	e := open(thread, Size{80, 24})
	e.press("/ p a x Backspace s s Enter")
	require.Equal(t, []string{"search"}, thread.calls)
	screen := e.text()
	require.Contains(t, screen, ">/[x]    user         message 2")
	require.Contains(t, screen, ` /[x]    tool output  the pass\x1bword is`)
	require.Contains(t, screen, "pass: 2 items, 900 tokens of them in the request")
	e.press("n")
	require.Contains(t, e.text(), ">/[x]    tool output  the")
	e.press("2 x")
	require.Contains(t, e.text(), "Plan of 1 change: ", "hidden matches stay")
	e.press("0 n N N n x")
	require.Contains(t, e.text(), "Plan of 2 changes")
	e.press("Esc")
	require.NotContains(t, e.text(), " /[")
	e.run(e.Update(Key("/")))
	e.run(e.Update(Paste("a\tb q")))
	require.Contains(t, e.text(), "Find (text): a       b q_")
	e.press("Tab")
	require.Contains(t, e.text(), "Find (regular expression)")
}

// TestEditorShowsWholeText scrolls through an item, and shows the text that a replacement hides.
func TestEditorShowsWholeText(t *testing.T) {
	thread := newThread(2)
	short := "short"
	long := "first \x1b]0;title\x07 \u202eline\n" + strings.Repeat("word ", 500) + "\nlast line"
	thread.item = protocol.ContextReadItemResponse{Item: thread.items[0],
		Sent:     &[]protocol.ContextPart{{Type: "text", Text: &short}},
		Original: []protocol.ContextPart{{Type: "text", Text: &long}},
		Reason:   protocol.ContextItemReason{Text: "The next request has it, with another text."}}
	e := open(thread, Size{80, 24})
	e.press("Enter")
	require.Contains(t, e.text(), "Sent to the model:\nshort")
	e.press("Tab")
	require.Contains(t, e.text(), `first \x1b]0;title\x07 \u202eline`)
	require.NotContains(t, e.text(), "last line")
	e.press("End")
	require.Contains(t, e.text(), "last line")
	e.press("Space")
	require.Contains(t, e.text(), "Item r0: planned to be excluded")
	e.run(e.Update(Size{60, 15}))
	e.press("End")
	require.Contains(t, e.text(), "last line")
	e.press("Esc")
	require.Contains(t, e.text(), "> [ ]*")
	e.press("? PgDn End q q")
	require.Contains(t, e.text(), "Quit and discard")
}

// TestEditorAppliesWhatItShows applies random plans. Each item then has the state that its row had.
func TestEditorAppliesWhatItShows(t *testing.T) {
	keys := []string{"Up", "Down", "PgDn", "Home", "Space", "d", "p", "v", "Shift+Down", "c", "2", "0", "x", "Backspace"}
	sample.Check(t, func(t *rapid.T) {
		thread := newThread(rapid.IntRange(1, 20).Draw(t, "items"))
		for i := range thread.items {
			thread.items[i].Pinned = rapid.Bool().Draw(t, "pinned")
			if !rapid.Bool().Draw(t, "included") {
				thread.items[i].Included, thread.items[i].InPrompt = false, false
			}
		}
		thread.search.IDs = []string{"r1", "r2"}
		e := open(thread, Size{80, 60})
		e.press("/ r Enter")
		for _, key := range rapid.SliceOfN(rapid.SampledFrom(keys), 1, 30).Draw(t, "keys") {
			e.press(key)
		}
		e.press("0 Esc")
		want := map[string]wish{}
		for i := range e.list.items {
			if w, _ := e.plan.of(&e.list.items[i]); !w.deleted {
				want[e.list.items[i].ID] = w
			}
		}
		e.press("a Enter")
		got := map[string]wish{}
		for i := range thread.items {
			got[thread.items[i].ID] = stateOf(&thread.items[i])
		}
		require.Equal(t, want, got)
		require.LessOrEqual(t, len(thread.applied), 1)
		require.False(t, e.HasPlan())
	})
}

// TestEditorFitsEveryScreen draws random states in all sizes without a control character.
func TestEditorFitsEveryScreen(t *testing.T) {
	keys := []string{"Up", "Down", "PgDn", "End", "Home", "Space", "d", "p", "v", "Enter", "/", "n", "N", "x", "a", "u", "U",
		"Backspace", "Esc", "?", "c", "1", "2", "0", "Tab", "j", "k"}
	sample.Check(t, func(t *rapid.T) {
		thread := newThread(rapid.IntRange(0, 40).Draw(t, "items"))
		for i := range thread.items {
			thread.items[i].Preview = rapid.String().Draw(t, "preview")
			tool := rapid.String().Draw(t, "tool")
			thread.items[i].ToolName = &tool
			thread.search.IDs = append(thread.search.IDs, thread.items[i].ID)
			thread.item.Original = append(thread.item.Original, protocol.ContextPart{Type: "text", Text: &tool})
		}
		e := open(thread, Size{80, 24})
		for _, key := range rapid.SliceOfN(rapid.SampledFrom(keys), 0, 40).Draw(t, "keys") {
			if rapid.IntRange(0, 9).Draw(t, "resize") == 0 {
				e.run(e.Update(Size{rapid.IntRange(1, 200).Draw(t, "columns"), rapid.IntRange(1, 60).Draw(t, "rows")}))
			}
			e.press(key)
			lines := e.View()
			require.LessOrEqual(t, len(lines), max(3, e.size.Rows))
			for _, line := range lines {
				require.LessOrEqual(t, termtext.Columns(line.String()), e.size.Columns, "%q", line)
				require.False(t, strings.ContainsFunc(line.String(), termtext.ControlsTerminal), "%q", line)
			}
			require.True(t, len(e.list.rows) == 0 || e.isTooSmall() || strings.Contains(e.text(), ">") || e.screen > onFind,
				"the cursor is visible")
		}
	})
}

// TestEditorDrawsVisibleRowsOnly has costs that do not depend on the number of items.
func TestEditorDrawsVisibleRowsOnly(t *testing.T) {
	cost := func(items int) float64 {
		e := open(newThread(items), Size{80, 24})
		e.press("PgDn")
		return testing.AllocsPerRun(20, func() {
			e.Update(Key("j"))
			e.View()
			e.Update(Key("k"))
		})
	}
	require.Less(t, cost(10_000), 1.5*cost(100))
	e := open(newThread(10_000), Size{80, 24})
	e.press("End")
	require.Len(t, e.View(), 24)
	require.Contains(t, e.text(), "item 10,000 of 10,000")
}

// TestEditorNeedsRoom states the size that it needs, and continues in a larger terminal.
func TestEditorNeedsRoom(t *testing.T) {
	e := open(newThread(2), Size{59, 24})
	require.Equal(t, "The terminal has 59 x 24.\nThe editor needs 60 x 12.\nq quits", e.text())
	e.press("Space")
	e.run(e.Update(Size{60, 15}))
	require.Contains(t, e.text(), "No plan")
	require.Contains(t, e.text(), "? keys  q quit")
	require.Contains(t, e.text(), "12,800 tokens of 128,000 10.0 %", "a narrow terminal has no bar")
}

// TestEditorLooksAsDocumented compares the screen with the one in the documentation.
func TestEditorLooksAsDocumented(t *testing.T) {
	thread, window, n := &fakeThread{}, int64(128_000), int64(30)
	for i, row := range []struct {
		category      protocol.ContextCategory
		turn, preview string
		tokens        int64
	}{
		{protocol.CategoryEnvironmentContext, "one", "cwd /project, shell bash, current_date 2026-07-01", 64},
		{protocol.CategoryUserMessage, "one", "what is in this folder?", 9},
		{protocol.CategoryReasoning, "one", "Looking at the folder", 120},
		{protocol.CategoryToolCall, "one", "find .", 10},
		{protocol.CategoryToolOutput, "one", "find . → ./README.md ./go.mod ./main.go ./parser.go ./test/parser_test.go", 12_390},
		{protocol.CategoryAssistantMessage, "one", "There are 214 files; the tests are in test/.", 464},
		{protocol.CategoryUserMessage, "two", "Fix the parser", 7},
		{protocol.CategoryToolCall, "two", "apply_patch parser.go", 410},
		{protocol.CategoryToolOutput, "two", "apply_patch parser.go → applied: M parser.go", 22},
	} {
		item := protocol.ContextItem{Index: i, ID: fmt.Sprint("r", i), Category: row.category, Preview: row.preview,
			Tokens: row.tokens, Included: true, InPrompt: row.category != protocol.CategoryReasoning,
			ContextItemMarks: protocol.ContextItemMarks{Pinned: i == 1}, TurnID: &row.turn}
		thread.items = append(thread.items, item)
	}
	part := func(c protocol.ContextCategory, count int, tokens int64) protocol.CategoryUsage {
		return protocol.CategoryUsage{Category: c, Count: count, IncludedTokens: tokens}
	}
	thread.usage = &protocol.ContextUsage{PromptTokens: 61_204, ModelContextWindow: &window,
		ByCategory: []protocol.CategoryUsage{part(protocol.CategoryEnvironmentContext, 1, 64),
			part(protocol.CategoryUserMessage, 2, 16), part(protocol.CategoryAssistantMessage, 1, 464),
			part(protocol.CategoryReasoning, 1, 0), part(protocol.CategoryToolCall, 2, 420),
			part(protocol.CategoryToolOutput, 2, 12_412)}}
	thread.preview = protocol.ContextPreviewResponse{Before: *thread.usage,
		After: protocol.ContextUsage{PromptTokens: 48_804}, Warnings: []string{"one", "two"},
		Changes:  []protocol.ContextSentChange{{ID: "r4", Was: protocol.SentItself, Is: protocol.SentNothing}},
		NetPrice: protocol.ContextNetPrice{TokensSaved: 12_400, TokensLeavingCache: 41_000, RequestsToPayBack: &n}}
	e := open(thread, Size{80, 20})
	e.press("End d Up Up Up Up Up Space")
	text, err := os.ReadFile(apptest.Root("docs/cli.md"))
	require.NoError(t, err)
	_, documented, _ := strings.Cut(string(text), "$ appserver context edit --last\n")
	documented, _, _ = strings.Cut(documented, "\n```\n")
	require.Equal(t, documented, e.text())
}

// TestEditorEndsIfTheContextCannotBeRead returns the cause.
func TestEditorEndsIfTheContextCannotBeRead(t *testing.T) {
	m, _ := New(Size{80, 24})
	m.Update(loaded{err: errors.New("no thread")})
	done, err := m.Done()
	require.True(t, done)
	require.EqualError(t, err, "no thread")
}
