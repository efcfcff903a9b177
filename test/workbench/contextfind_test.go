package workbench

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"appserver/test/sample"
)

const findField = ".panel-find input"

// TestFindInContextSearchesWholeTexts finds a word far behind the preview of an output, and excludes all
// items that have it as one edit.
func TestFindInContextSearchesWholeTexts(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, t.TempDir(), "-c", "approval_policy=never").open(t)
	w.start(t.TempDir())
	w.send("run: seq 1 300; echo the Needle; seq 301 400")
	w.seeText(".context-item", " → ")
	w.fill(findField, "NEEDLE")
	w.seeText(".context-item mark", "Needle")
	w.await(`!document.querySelector(".context-list").textContent.includes("Environment")`)
	w.click(`button[aria-label="Match case"]`)
	w.seeText(".panel .hint", "No item matches")
	w.click(`button[aria-label="Match case"]`)
	w.click(`button[aria-label="Regular expression"]`)
	w.fill(findField, "n[e(")
	w.seeText(".find-error", "error parsing regexp")
	w.fill(findField, "e{2}dle")
	w.seeText(".context-item mark", "eedle")
	w.clickText("matches")
	w.seeText(".price", "tokens")
	w.clickText("Apply")
	w.seeText(".context-item .badge.off", "excluded")
	require.Zero(t, w.count(".find-error"))
	w.requireNoProblems()
}

// TestRemovedItemsAreFound finds items that a trim and a deletion took out of the list, with their
// state. Enter shows their text, leads to the timeline and includes them again.
func TestRemovedItemsAreFound(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, t.TempDir(), "-c", "approval_policy=never", "-c", "sandbox_mode=danger-full-access").open(t)
	w.start(t.TempDir())
	w.send("run: echo the needle of the first turn")
	w.seeText(".message.agent", "Done")
	w.gone(".composer .stop")
	w.send("A needle to delete.")
	w.seeText(".context-item", "A needle to delete.")
	w.gone(".composer .stop")
	w.menu("Edit the context", "Trim to")
	w.fill("dialog input", "1")
	w.clickIn(".dialog-buttons button", "Trim")
	w.gone("dialog")
	w.focusItem("A needle to delete.")
	w.press(kb.Delete)
	w.focusItem("You said") // the answer repeats the message
	w.press(kb.Delete)
	w.clickText("Apply 2 changes")
	w.gone(".footer .primary")

	w.fill(findField, "needle")
	w.seeText(".panel .hint", "No item matches")
	w.clickText("Search removed items, too")
	w.seeText(".find-removed", "removed items match")
	w.seeText(".context-item.gone .badge", "trimmed")
	w.seeText(".context-item.gone .badge", "deleted")
	w.seeText(".context-item.gone mark", "needle")
	w.accessible("removed items")
	w.look("find-removed")
	w.focusItem("the needle of the first turn")
	w.press("\r")
	w.seeText(".gone .details-text", "the needle of the first turn")
	w.seeText(".gone .why", "trim")
	w.accessible("details of a removed item")
	w.clickIn(".gone .details-actions button", "Show in conversation")
	w.seeText(".entry.trimmed", "the needle of the first turn")
	w.clickIn(".gone .details-actions button", "Include")
	w.seeText(".context-item:not(.gone)", "the needle of the first turn")
	w.click(`button[aria-label="Also removed items"]`)
	w.gone(".context-item.gone")
	w.requireNoProblems()
}
