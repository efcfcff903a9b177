package workbench

import (
	"fmt"
	"testing"

	"appserver/test/sample"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// submit clicks on the main button of the dialog and waits until the dialog is closed.
func (w *workbench) submit() {
	w.t.Helper()
	w.click("dialog .dialog-buttons button[type=submit]")
	w.gone("dialog")
}

// TestControlsOfContextItems uses the controls in the details of an item, in the list and on the map.
func TestControlsOfContextItems(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := talk(t)
	w.click(".footer .mode input")
	w.focusItem("first")
	w.press("\r")
	action := func(text string) { w.clickIn(".details-actions button", text) }
	action("Exclude")
	w.seeText(".context-item .badge.off", "excluded")
	action("Include")
	w.gone(".context-item .badge.off")
	action("Pin")
	w.see(".context-item .badge.pinned")
	action("Unpin")
	w.gone(".context-item .badge.pinned")
	w.clickText("Add note…")
	w.fill(".details textarea", "not kept")
	w.clickIn(".details form button", "Cancel")
	w.gone(".details form")
	require.Zero(t, w.count(".context-item .badge"))
	items := w.count(".context-item")
	action("Delete")
	w.await(fmt.Sprintf(`document.querySelectorAll(".context-item").length === %d`, items-1))

	w.clickIn("button.chip", "User")
	w.await(`document.querySelectorAll(".context-item").length === 2`)
	w.clickIn("button.chip", "User")
	w.await(fmt.Sprintf(`document.querySelectorAll(".context-item").length === %d`, items-1))
	w.fill(findField, "first")
	w.click(`button[aria-label="Also removed items"]`)
	w.click(`.context-item.gone button[aria-label="Hide details"]`) // the details of the item were open
	w.gone(".gone .details-text")
	w.click(`.context-item.gone button[aria-label="Show details"]`)
	w.seeText(".gone .details-text", "first")
	w.click(`button[aria-label="Also removed items"]`)
	w.fill(findField, " ")
	w.press(kb.Backspace)
	w.requireNoProblems()
}

// TestControlsOfTheMap plans that the items of a rectangle are pinned, deleted and included.
func TestControlsOfTheMap(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := talk(t)
	w.clickText("Map")
	w.drag(".map-box", 0.01, 0.01, 0.99, 0.99)
	w.seeText(".map-actions", "7 items")
	for _, name := range []string{"Pin", "Delete"} {
		w.clickIn(".map-actions button", name)
		w.seeText(".footer .primary", "Apply 7 changes")
		w.clickText("Discard")
		w.gone(".footer .primary")
	}
	w.clickIn(".map-actions button", "Exclude")
	w.clickText("Apply 7 changes")
	w.gone(".footer .primary")
	w.clickIn(".map-actions button", "Include")
	w.clickText("Apply 7 changes")
	w.gone(".footer .primary")
	w.clickIn(".segments.views button", "List")
	w.see(".context-item")
	require.Zero(t, w.count(".context-item .badge"))
	w.requireNoProblems()
}

// TestControlsOfContextDialogs excludes a category, restores it, writes a summary of removed turns and edits it, and
// changes the turns that a compaction keeps. The edits then lead to their items.
func TestControlsOfContextDialogs(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := talk(t)
	w.menu("Edit the context", "Exclude a category")
	w.clickIn("dialog label.option", "User")
	w.submit()
	w.clickText("Apply 3 changes")
	w.await(`document.querySelectorAll(".context-item .badge.off").length === 3`)
	w.press("2", alt)
	w.click(`.history button[aria-label="Items of this edit: Several edits"]`)
	w.clickIn(`.edit-items button[title="Show in the list"]`, "second")
	w.await(`document.activeElement.matches(".context-item") && document.activeElement.textContent.includes("second")`)
	w.menu("Edit the context", "Restore everything")
	w.submit()
	w.gone(".context-item .badge.off")

	w.menu("Edit the context", "Trim to the last turns")
	w.submit()
	w.clickIn(".divider button", "Add summary")
	w.fill(`dialog textarea[aria-label="Summary"]`, "They greeted.")
	w.submit()
	w.seeText(".summary", "They greeted.")
	w.clickIn(".summary button", "Edit summary")
	w.fill(`dialog textarea[aria-label="Summary"]`, "They said hello.")
	w.submit()
	w.seeText(".summary", "They said hello.")

	w.menu("Edit the context", "Compact")
	w.clickIn("label.option", "Your messages only")
	w.choose("dialog select", "keepLast")
	w.fill("dialog input[type=number]", "1")
	w.seeText("dialog .price", "→")
	one := eval[float64](w, afterOf)
	w.fill("dialog input[type=number]", "2")
	w.await(fmt.Sprintf("%s !== %v", afterOf, one))
	w.press(kb.Escape)
	w.gone("dialog")
	w.requireNoProblems()
}

// TestFailedReadsAreTriedAgain fails to read the checkpoints and what was spent. A button reads them.
func TestFailedReadsAreTriedAgain(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := talk(t)
	const lost = `m.replace(/"threadId":"[^"]*"/, '"threadId":"00000000-0000-7000-8000-000000000000"')`
	w.rewrite(`"thread/checkpoint/list"`, lost)
	w.press("4", alt)
	w.seeText(".tab-panel [role=alert]", "The checkpoints cannot be read.")
	w.clickIn(".tab-panel button", "Try again")
	w.gone(".tab-panel [role=alert]")
	w.see(".point")
	w.rewrite(`"thread/usage/list"`, lost)
	w.press("2", alt)
	w.clickIn(".usage button", "Try again")
	w.seeText(".usage dl", "tokens in")
	w.requireNoProblems()
}

// TestControlsOfPastRequests shows changes alone, a whole text, and one part of a request.
func TestControlsOfPastRequests(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, t.TempDir(), "-c", "approval_policy=never", "-c", "sandbox_mode=danger-full-access").open(t)
	w.start(t.TempDir())
	w.send("run: seq 1 6000")
	w.seeText(".message.agent", "Done")
	w.gone(".composer .stop")
	w.say("second")
	w.focusItem(" → ")
	w.press("\r")
	w.clickIn(".details-text button", "more characters")
	w.await(`[...document.querySelectorAll(".details-text button")].every((b) => !b.textContent.includes("more characters"))`)
	w.openPrompts()
	w.await(`document.querySelectorAll(".prompt-points li").length >= 4`)
	open := `document.querySelector(".part-title").getAttribute("aria-expanded")`
	before := eval[string](w, open)
	w.click(".part-title")
	w.await(open + ` !== "` + before + `"`)
	eval[bool](w, `(document.querySelectorAll(".part-title[aria-expanded=false]").forEach((b) => b.click()), true)`)
	more := `[...document.querySelectorAll(".prompt-parts button")].find((b) => b.textContent.includes("more characters"))`
	w.scrollThrough(".prompt-parts", 300, more+" !== undefined")
	eval[bool](w, `(window.part = `+more+`.closest("article"), `+more+`.click(), true)`)
	w.await(`part.textContent.length > 8000 && part.querySelector(":scope > button.small") === null`)
	w.click(`.prompt-turns > li:last-child li:last-child button[aria-label^="Compare with"]`)
	w.see(".part-row.added")
	changed := w.count(".part-row")
	w.click(".prompt-head .mode input")
	w.await(fmt.Sprintf(`document.querySelectorAll(".part-row").length > %d`, changed))
	w.requireNoProblems()
}
