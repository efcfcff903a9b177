package workbench

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/sample"
)

// afterOf is the size of the next request in the price of a dialog.
const afterOf = `Number(/→ (?:at most )?([\d,]+) tokens/.exec(document.querySelector("dialog .price").textContent)?.[1].replaceAll(",", ""))`

// gaugeTokens is the size of the next request in the gauge.
const gaugeTokens = `Number(document.querySelector(".gauge strong").textContent.replaceAll(",", ""))`

// TestTrimShowsItsPriceBefore changes the price with the turns to keep and with the summary. The trim then makes
// the next request as long as its price said.
func TestTrimShowsItsPriceBefore(t *testing.T) {
	t.Parallel()
	_, w := talk(t)
	w.menu("Edit the context", "Trim to the last turns")
	w.seeText("dialog .price", "→")
	keepsTwo := eval[float64](w, afterOf)
	w.fill("dialog input[type=number]", "1")
	w.await(fmt.Sprintf("%s < %v", afterOf, keepsTwo))
	w.fill("dialog textarea", "They greeted each other three times, in this order: first, second, third.")
	w.seeText("dialog .price", "The summary has")
	said := eval[float64](w, afterOf)
	require.NotEqual(t, keepsTwo, said)
	w.accessible("trim with its price")
	w.shot("trim-price")
	w.clickIn(".dialog-buttons button", "Trim")
	w.gone("dialog")
	w.seeText(".divider", "pruned")
	require.InDelta(t, said, eval[float64](w, gaugeTokens), 1)
	w.requireNoProblems()
}

// TestCompactionShowsItsPriceBefore has a price for each way to compact, and says that the length of a summary by
// the model is not known.
func TestCompactionShowsItsPriceBefore(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	s := serve(t, t.TempDir(), "-c", "approval_policy=never", "-c", "sandbox_mode=danger-full-access")
	w := s.open(t)
	w.start(t.TempDir())
	w.send("run: seq 400")
	w.seeText(".message.agent", "Done")
	w.send("Thanks.")
	w.seeText(".context-item", "Thanks.")
	w.menu("Edit the context", "Compact")
	w.choose("dialog select", "all")
	w.seeText("dialog .price", "The model has yet to write the summary.")
	w.seeText("dialog .price", "at most")
	w.clickIn("label.option", "Summary without a model")
	w.seeText("dialog .price", "The summary has")
	w.accessible("compact with its price")
	w.shot("compact-price")
	said := eval[float64](w, afterOf)
	w.clickText("Review the draft")
	w.seeText(".draft-head strong", "→")
	require.Equal(t, said, eval[float64](w,
		`Number(/→ ([\d,]+)/.exec(document.querySelector(".draft-head strong").textContent)[1].replaceAll(",", ""))`))
	w.clickText("Cancel")
	w.gone("dialog")
	w.requireNoProblems()
}

// TestEditsNameTheirItemsAndUndoShowsItsPrice names an edit of one item by the item, lists the items of an edit of
// two, and shows the price of an undo and of each state before a click.
func TestEditsNameTheirItemsAndUndoShowsItsPrice(t *testing.T) {
	t.Parallel()
	_, w := talk(t)
	before := eval[float64](w, gaugeTokens)
	w.click(".footer .mode input")
	w.check("first")
	w.seeText(".context-item .badge", "excluded")
	w.click(".footer .mode input")
	w.focusItem("second")
	w.press(" ")
	w.focusItem("third")
	w.press(" ")
	w.clickText("Apply 2 changes")
	w.await(`document.querySelectorAll(".context-item .badge.off").length === 3`)
	w.press("2", alt)
	w.seeText(".history li:nth-child(2) .edit", "Exclude first")
	w.seeText(".history li:nth-child(1) .edit", "Several edits 2 items")
	w.click(`.history li:nth-child(1) button[aria-label="Items of this edit: Several edits"]`)
	w.await(`document.querySelectorAll(".edit-items li").length === 2`)
	w.seeText(".edit-items li:nth-child(1)", "second")
	w.seeText(".edit-items li:nth-child(2)", "sent → excluded")
	w.seeText(".undo-ahead", "Undo Several edits 2 items")
	w.await(`/→ [\d,]+ tokens: \+\d+ tokens/.test(document.querySelector(".undo-ahead").textContent)`)
	eval[bool](w, `(document.querySelector(".history > li:last-child button").focus(), true)`)
	w.seeText(".goto-ahead", "To the start: ")
	w.await(`/→ [\d,]+ tokens/.test(document.querySelector(".goto-ahead").textContent)`)
	w.accessible("edits with their items")
	w.shot("edits-items")
	w.clickIn(".undo-ahead button", "Undo")
	w.seeText(".history li.undone", "Several edits")
	w.seeText(".undo-ahead", "Undo Exclude first")
	w.clickIn(".undo-ahead button", "Undo")
	w.gone(".undo-ahead")
	require.Equal(t, before, eval[float64](w, gaugeTokens))
	w.requireNoProblems()
}
