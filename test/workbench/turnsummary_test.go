package workbench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/sample"
)

// TestTurnSummaryHasTokensMoneyAndTime shows beside the composer what a turn adds and costs, while it runs and
// after it, until the next turn starts. A reload does not lose it, and no live region has its clock.
func TestTurnSummaryHasTokensMoneyAndTime(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	script := map[string]any{"steps": []any{
		map[string]any{"usage": map[string]any{"input": 2000, "output": 50}, "toolCalls": []any{
			map[string]any{"name": "shell", "arguments": map[string]any{"command": "seq 200"}}}},
		map[string]any{"text": "Counted.", "delayMs": 4000, "usage": map[string]any{"input": 2500, "output": 10}},
		map[string]any{"text": "Again.", "usage": map[string]any{"input": 2600, "output": 10}}}}
	w := serve(t, home, "-c", "model_providers.offline.script="+writeScript(t, home, script),
		"-c", "approval_policy=never", "-c", "sandbox_mode=danger-full-access", "-c", "model=priced",
		"-c", "model_prices.priced.input=20", "-c", "model_prices.priced.output=100").open(t)
	w.start(t.TempDir())
	require.Zero(t, w.count(".turn-summary"))
	w.send("Count.")
	w.seeText(".turn-summary", "This turn: +")
	w.await(`/ · cost 0\.045 · \d+ s$/.test(document.querySelector(".turn-summary").textContent)`) // (2000 + 5 * 50) * 20 / 1e6
	require.Equal(t, "off", eval[string](w, `document.querySelector(".turn-summary [role=timer]").getAttribute("aria-live")`))
	require.Zero(t, eval[int](w, `document.querySelectorAll("[aria-live=polite] .clock, [role=status] .clock").length`))
	w.await(`[...document.querySelectorAll(".turn-summary .clock")].some((e) => parseInt(e.textContent) >= 2)`)
	w.shot("turn-summary")
	w.seeText(".message.agent", "Counted.")
	w.gone(".composer .stop")
	w.await(`/^Last turn: \+[\d.]+K? tokens · cost 0\.096 · \d+ s$/.test(document.querySelector(".turn-summary").textContent)`)
	items := `[...document.querySelectorAll(".context-item .tokens")].reduce((sum, e) => sum + Number(e.textContent), 0)`
	added := `Number(document.querySelector(".turn-summary [title]").title.match(/[\d,]+/)[0].replaceAll(",", ""))`
	require.Equal(t, eval[float64](w, items), eval[float64](w, added), "the items of a first turn are those of the context")
	w.accessible("summary of a turn")
	text := eval[string](w, `document.querySelector(".turn-summary").textContent`)
	w.reload()
	w.await(`document.querySelector(".turn-summary")?.textContent === "` + text + `"`)
	w.send("Again.")
	w.seeText(".message.agent", "Again.")
	w.await(`/^Last turn: \+\d+ tokens · cost 0\.053 · /.test(document.querySelector(".turn-summary").textContent)`)
	w.requireNoProblems()
}

// TestWarningBeforeTheLimitDropsStaleOutputs warns near the size that is compacted, and drops the five biggest
// stale outputs as one edit whose price it showed. One undo takes that back. A dismissed warning stays away.
func TestWarningBeforeTheLimitDropsStaleOutputs(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := manyReports(t, "model_auto_compact_token_limit=19000")
	w.seeText(".limit-warning", "of the limit. Above 19,000 tokens the server compacts the context.")
	w.seeText(".limit-warning button", "Drop the five biggest stale outputs")
	price := `/([\d,]+) → ([\d,]+) tokens: −[\d,]+ tokens/.exec(document.querySelector(".limit-warning .price").textContent)`
	w.await(price + ` !== null`)
	w.clickIn(".limit-warning summary", "Which ones")
	require.Equal(t, 5, w.count(".limit-warning li"))
	w.accessible("warning before the limit")
	w.shot("limit-warning")
	w.size(420, 800, 1)
	w.shot("limit-warning-narrow")
	w.accessible("warning before the limit, narrow")
	w.size(1280, 800, 1)
	w.see(".gauge strong")
	before := eval[string](w, price+`[1]`)
	after := eval[string](w, price+`[2]`)
	w.clickIn(".limit-warning button", "Drop the five biggest stale outputs")
	w.seeText(".limit-warning", "5 outputs are not sent any more.")
	w.seeText(".gauge strong", after)
	w.clickIn(".limit-warning button", "Undo")
	w.seeText(".gauge strong", before)
	w.seeText(".limit-warning button", "Drop the five biggest stale outputs")
	w.click(`.limit-warning button[aria-label="Dismiss the warning"]`)
	w.gone(".limit-warning")
	w.press("2", alt)
	w.seeText(".history li:first-child .edit", "Several edits 5 items")
	require.Equal(t, 1, w.count(".history li .age"), "five outputs are one edit")
	require.Zero(t, w.count(".limit-warning"))
	w.requireNoProblems()
}
