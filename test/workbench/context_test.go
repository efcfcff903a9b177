package workbench

import (
	"testing"

	"appserver/test/sample"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// talk opens a thread with three turns.
func talk(t *testing.T) (*server, *workbench) {
	s := serve(t, t.TempDir())
	w := s.open(t)
	w.start(t.TempDir())
	for _, text := range []string{"first", "second", "third"} {
		w.send(text)
		w.seeText(".message.agent", text)
	}
	w.seeText(".context-item", "third")
	return s, w
}

// TestTrimUndoRedoAndCompact edits the context by the menu of the panel, and shows what it did.
func TestTrimUndoRedoAndCompact(t *testing.T) {
	t.Parallel()
	_, w := talk(t)
	w.menu("Edit the context", "Trim to the last turns")
	w.see("dialog")
	w.press("\r")
	w.gone("dialog")
	w.seeText(".divider", "pruned")
	require.Equal(t, 0, w.count(".entry.trimmed"))
	w.clickText("Earlier messages")
	w.see(".entry.trimmed")
	w.click(`button[aria-label="Undo the last edit"]`)
	w.gone(".divider")
	w.click(`button[aria-label="Redo"]`)
	w.seeText(".divider", "pruned")
	w.menu("Edit the context", "Compact")
	w.clickText("Compact now")
	w.gone("dialog")
	w.seeText(".summary", "The offline provider sums up")
	w.clickText("Edits")
	w.seeText(".history", "Trim")
	w.seeText(".history", "Compact")
	w.requireNoProblems()
}

// TestPlanIsAppliedAsOneEdit collects changes by keys, shows their price, applies them as one edit, and
// undoes them by one key.
func TestPlanIsAppliedAsOneEdit(t *testing.T) {
	t.Parallel()
	_, w := talk(t)
	w.focusItem("first")
	w.press(" ") // exclude
	w.press(kb.ArrowDown)
	w.press("p") // pin
	w.press(kb.ArrowDown)
	w.press(kb.ArrowDown, shift) // from the head of the turn to its first item
	w.press(kb.Delete)
	w.seeText(".price", "tokens")
	w.seeText(".footer .primary", "Apply 3 changes")
	require.Equal(t, 3, w.count(".context-item.planned"))
	w.press(kb.Enter, control)
	w.gone(".footer .primary")
	w.seeText(".context-item .badge", "excluded")
	w.seeText(".context-item .badge", "pinned")
	w.press("2", alt)
	w.seeText(".history", "Several edits")
	require.Equal(t, 1, w.count(".history li .age"))
	w.press("z", control)
	w.seeText(".history", "undone")
	w.press("1", alt)
	w.gone(".context-item .badge")
	w.requireNoProblems()
}

// TestPlanIsDiscarded removes the plan by a key; the context stays as it is.
func TestPlanIsDiscarded(t *testing.T) {
	t.Parallel()
	_, w := talk(t)
	w.focusItem("first")
	w.press(" ")
	w.see(".footer .primary")
	w.press(kb.Backspace)
	w.gone(".footer .primary")
	require.Equal(t, 0, w.count(".context-item .badge"))
	w.requireNoProblems()
}

// TestDirectModeAppliesEachChange excludes an item at once, without a plan.
func TestDirectModeAppliesEachChange(t *testing.T) {
	t.Parallel()
	_, w := talk(t)
	w.click(".footer .mode input")
	w.check("first")
	w.seeText(".context-item .badge", "excluded")
	require.Equal(t, 0, w.count(".footer .primary"))
	w.requireNoProblems()
}

// TestTwoClientsEditAtOnce shows an edit of a second tab at once. A plan of the first tab stays, loses
// the item that is gone, and says so.
func TestTwoClientsEditAtOnce(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	s, w := talk(t)
	w.check("first")
	w.check("second")
	w.seeText(".footer .primary", "Apply")
	second := s.openAgain(t)
	second.show("first")
	second.focusItem("first")
	second.press(kb.Delete)
	second.press(kb.Enter, control)
	second.gone(".footer .primary")
	w.seeText(".banner", "The plan lost 1 item")
	w.seeText(".footer .primary", "Apply 1 change")
	w.clickText("Apply 1 change")
	w.gone(".footer .primary")
	second.seeText(".context-item .badge", "excluded")
	w.requireNoProblems()
	second.requireNoProblems()
}

// TestPlanWaitsForTheTurn applies a plan when the running turn ends.
func TestPlanWaitsForTheTurn(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, t.TempDir(), "-c", "approval_policy=never", "-c", "sandbox_mode=danger-full-access").open(t)
	w.start(t.TempDir())
	w.send("first")
	w.seeText(".message.agent", "first")
	w.send("run: sleep 600")
	w.seeText(".outcome", "running")
	w.check("first")
	w.clickText("Apply after this turn")
	w.seeText(".banner", "The changes apply when the turn ends")
	require.Equal(t, 0, w.count(".context-item .badge"))
	w.clickText("Stop")
	w.seeText(".context-item .badge", "excluded")
	w.requireNoProblems()
}

// TestItemIsReadAndReplaced shows the full text of an output, and why it is sent; another text replaces
// it and is shown beside the original.
func TestItemIsReadAndReplaced(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, t.TempDir()).open(t)
	w.start(t.TempDir())
	w.send("run: seq 1 200")
	w.seeText(".context-item", " → ")
	w.focusItem(" → ")
	w.press("\r")
	w.seeText(".details-text", "199\n200")
	w.seeText(".why", "The next request has it")
	w.press("r")
	w.see("dialog textarea")
	eval[bool](w, `(document.querySelector("dialog textarea").select(), true)`)
	w.press("Two hundred numbers.")
	w.clickText("Add to the plan")
	w.gone("dialog")
	w.clickText("Apply 1 change")
	w.seeText(".context-item .badge", "replaced")
	w.seeText(".details-text", "Two hundred numbers.")
	w.seeText(".details-text", "199\n200")
	w.requireNoProblems()
}

// TestEditsAreListedAndRevisited names the client of each edit, and goes to an earlier state and back.
func TestEditsAreListedAndRevisited(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := talk(t)
	w.click(".footer .mode input")
	w.check("first")
	w.seeText(".context-item .badge", "excluded")
	w.check("second")
	w.await(`document.querySelectorAll(".context-item .badge.off").length === 2`)
	w.press("2", alt)
	w.seeText(".history", "workbench")
	w.clickText("Start")
	w.await(`document.querySelectorAll(".history .undone").length === 2`)
	w.press("1", alt)
	w.gone(".context-item .badge.off")
	w.press("2", alt)
	w.click(".history li:nth-child(2) button")
	w.await(`document.querySelectorAll(".history .undone").length === 1`)
	w.press("1", alt)
	w.await(`document.querySelectorAll(".context-item .badge.off").length === 1`)
	w.requireNoProblems()
}

// TestMessagesAreFound shows the messages with a text, also in the folded part of the thread.
func TestMessagesAreFound(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := talk(t)
	w.menu("Edit the context", "Trim to the last turns")
	w.see("dialog")
	w.press("\r")
	w.gone("dialog")
	w.seeText(".divider", "pruned")
	w.press("f", control)
	w.fill(".find input", "FIRST")
	w.seeText(".find-count", "2 of 2")
	w.seeText(".entry.trimmed", "first")
	w.see(".entry.found")
	w.press("\r")
	w.seeText(".find-count", "1 of 2")
	w.press("\x1b")
	w.gone(".find")
	w.requireNoProblems()
}

// TestReplaceEditsTheWholeText opens the editor by its key and by the details, for a long output, for an excluded one
// and for one that is replaced: it has the whole text each time, not the beginning that the list shows.
func TestReplaceEditsTheWholeText(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, t.TempDir()).open(t)
	w.start(t.TempDir())
	w.send("run: seq 1 3000")
	w.seeText(".context-item", " → ")
	const edited = `document.querySelector("dialog textarea")?.value.includes("\n1499\n1500\n") &&
		document.querySelector("dialog textarea").value.startsWith("Exit code: 0") &&
		document.querySelector("dialog textarea").value.trimEnd().endsWith("\n3000")`
	w.focusItem(" → ")
	w.press("r")
	w.await(edited)
	w.accessible("replace")
	w.shot("replace")
	w.clickText("Cancel")
	w.gone("dialog")
	w.check(" → ")
	w.clickText("Apply 1 change")
	w.seeText(".context-item .badge", "excluded")
	w.focusItem(" → ")
	w.press("\r")
	w.clickText("Replace…")
	w.await(edited)
	w.press(kb.End, control)
	w.press("and more")
	w.clickText("Add to the plan")
	w.gone("dialog")
	w.check(" → ")
	w.clickText("Apply 1 change")
	w.seeText(".context-item .badge", "replaced")
	w.focusItem(" → ")
	w.press("r")
	w.await(`document.querySelector("dialog textarea")?.value.endsWith("and more") && ` +
		`document.querySelector("dialog textarea").value.includes("\n1500\n")`)
	w.requireNoProblems()
}

// TestCutTextsAreNotSentAgain brings a long message back to the composer by a key: the timeline has its beginning only,
// the composer gets all of it.
func TestCutTextsAreNotSentAgain(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, t.TempDir()).open(t)
	w.start(t.TempDir())
	eval[bool](w, `(() => {
		const area = document.querySelector(".composer textarea");
		area.value = "begin " + "x".repeat(30000) + " end";
		area.dispatchEvent(new Event("input", {bubbles: true}));
		return true;
	})()`)
	w.clickIn(".composer .primary", "Send")
	w.await(`document.querySelector(".composer textarea").value === ""`)
	w.seeText(".message.user", "begin")
	w.gone(".composer .stop")
	w.reload()
	w.seeText(".truncated", "cut")
	eval[bool](w, `(document.querySelector(".composer textarea").focus(), true)`)
	w.press(kb.ArrowUp)
	w.await(`document.querySelector(".composer textarea").value.endsWith(" end")`)
	require.Equal(t, 30010, eval[int](w, `document.querySelector(".composer textarea").value.length`))
	w.requireNoProblems()
}

// TestUndoAtATrimPointTakesNothingElseBack excludes an item after a trim. The button at the trim point undoes neither.
func TestUndoAtATrimPointTakesNothingElseBack(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := talk(t)
	w.menu("Edit the context", "Trim to the last turns")
	w.see("dialog")
	w.press("\r")
	w.gone("dialog")
	w.seeText(".divider", "pruned")
	w.click(".footer .mode input")
	w.check("third")
	w.seeText(".context-item .badge", "excluded")
	w.clickIn(".divider button", "Undo")
	w.seeText(".banner.warning", "Other edits followed")
	w.seeText(".context-item .badge", "excluded")
	w.click(`button[aria-label="Undo the last edit"]`)
	w.gone(".context-item .badge")
	w.clickIn(".divider button", "Undo")
	w.gone(".divider")
	w.requireNoProblems()
}
