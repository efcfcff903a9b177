package workbench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/sample"
)

// openEdits opens the tab with the edits and what was spent.
func (w *workbench) openEdits() {
	w.t.Helper()
	w.press("2", alt)
	w.see(".usage")
}

// TestUsageShowsWhatWasSpentAndSaved shows tokens, the cached share, and money by the configured price. An automatic
// edit is marked, has its reason, and is undone by its button.
func TestUsageShowsWhatWasSpentAndSaved(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := longReports(t, "auto", "model_providers.offline.cache_retention_secs=0", "model=priced",
		"model_prices.priced.input=2", "model_prices.priced.output=10", "model_prices.priced.cached_input=0.2")
	w.openEdits()
	w.seeText(".usage", "7,750 tokens in 4 requests, 69 % from the cache")
	w.seeText(".usage", "3,112 tokens at the full price = 0.0062")
	w.await(`/Saved by edits[\d,]{3,} tokens, 0\.00\d+ at the full price/.test(document.querySelector(".usage").textContent)`)
	w.seeText(".history .badge.auto", "automatic")
	w.seeText(".history .edit-reason", "economy:")
	w.accessible("spent and saved")
	w.look("usage")
	w.size(760, 800, 1)
	w.click(`button[aria-label="Panel"]`)
	w.see(".usage dl")
	w.accessible("spent and saved, narrow")
	w.look("usage-narrow")
	w.size(1280, 800, 1)
	n := w.count(".history .badge.auto")
	w.clickIn(".history li button.small", "Undo")
	w.seeText(".history .badge.off", "undone")
	require.Equal(t, n, w.count(".history .badge.auto"))
	w.requireNoProblems()
}

// TestAutomaticEditIsTakenBackBelowLaterEdits includes its items again, and keeps the later edit.
func TestAutomaticEditIsTakenBackBelowLaterEdits(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := longReports(t, "auto", "model_providers.offline.cache_retention_secs=0")
	w.seeText(".context-item .badge.off", "excluded")
	w.focusItem("Print the report.")
	w.press("p")
	w.clickText("Apply 1 change")
	w.seeText(".context-item .badge", "pinned")
	w.openEdits()
	w.clickIn(".history li:nth-child(2) button.small", "Include again")
	w.await(`!document.querySelector(".history li:nth-child(3) button.small")`)
	w.press("1", alt)
	w.seeText(".context-item .badge", "pinned")
	w.requireNoProblems()
}

// TestUsageOfAThreadWithoutRequestsIsSaid opens a new thread. Its usage is read anew after the first request.
func TestUsageOfAThreadWithoutRequestsIsSaid(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, t.TempDir()).open(t)
	w.start(t.TempDir())
	w.openEdits()
	w.seeText(".usage", "The thread has sent no request yet.")
	w.send("hello")
	w.seeText(".usage", "in 1 request")
	w.seeText(".usage", "The cost in money is not known: model_prices has no price of the model.")
	w.requireNoProblems()
}
