package workbench

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"appserver/test/sample"
)

// suggestCards are the cards of suggestions.
const suggestCards = ".suggest-card"

// longReports starts a thread whose model runs a command with a long output twice, and a short one. The
// provider has the prefix of each request in its cache.
func longReports(t *testing.T, mode string, settings ...string) (*server, *workbench) {
	usage := func(input, cached int) map[string]any {
		return map[string]any{"input": input, "output": 10, "cached": cached}
	}
	run := func(command string, usage map[string]any) map[string]any {
		return map[string]any{"usage": usage, "toolCalls": []any{
			map[string]any{"name": "shell", "arguments": map[string]any{"command": command}}}}
	}
	report := "seq -f 'line %g of a long report' 60; date +%N"
	script := map[string]any{"steps": []any{
		run(report, usage(1300, 0)), run(report, usage(1800, 1280)), run("echo ok", usage(2300, 1792)),
		map[string]any{"text": "The report is long.", "usage": usage(2350, 2304)}}}
	home := t.TempDir()
	args := []string{"-c", "model_providers.offline.script=" + writeScript(t, home, script),
		"-c", "approval_policy=never", "-c", "sandbox_mode=danger-full-access",
		"-c", "context.economy.mode=" + mode, "-c", "context.economy.keep_last_outputs=1"}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	s := serve(t, home, args...)
	w := s.open(t)
	w.start(t.TempDir())
	w.send("Print the report.")
	w.seeText(".message.agent", "The report is long.")
	w.gone(".composer .stop")
	return s, w
}

// openSuggestions opens the cards and waits for both.
func (w *workbench) openSuggestions() {
	w.t.Helper()
	w.clickIn(".segments.views button", "Suggestions")
	w.await(`document.querySelectorAll(".suggest-card").length === 2`)
}

// TestSuggestionIsExplainedPlannedAndApplied gets the suggestions of a notification, which mark their items.
// A card explains its reason and price, plans its items in direct mode too, and is applied as one edit.
func TestSuggestionIsExplainedPlannedAndApplied(t *testing.T) {
	_, w := longReports(t, "suggest")
	w.seeText(".context-item .badge.suggested", "not used later")
	w.seeText(".segments.views button", "Suggestions1 found")
	w.openSuggestions()
	w.seeText(".suggest .price", "recommended: −")
	w.seeText(suggestCards, "It ran again later")
	require.Equal(t, 2, w.count(".context-item .badge.suggested"))

	w.clickIn(suggestCards+" button", "Why")
	w.seeText(".suggest-why", "No later answer or patch has a line of it. The model may have to read or run something again.")
	w.seeText(".suggest-why", "10 % of another one")
	w.seeText(".suggest-why", "Expected requestsabout 4")
	w.await(`document.querySelector(".context-item.highlighted")?.textContent.includes("not used later")`)
	w.accessible("suggestions")
	w.clickIn(".suggest-why li button", "Exit code: 0")
	w.await(`document.activeElement.matches(".context-item.highlighted")`)
	w.clickIn(suggestCards+" button", "Why")
	w.gone(".suggest-why")

	w.click(".footer .mode input")
	w.clickIn(suggestCards+" button", "Plan")
	w.seeText(".footer .primary", "Apply 1 change")
	w.seeText(".context-item.planned .badge.plan", "exclude")
	require.Zero(t, w.count(".context-item .badge.off"), "direct mode plans it")
	w.clickText("Discard")

	w.clickIn(suggestCards+" .primary", "Apply")
	w.seeText(".context-item .badge.off", "excluded")
	w.await(`document.querySelectorAll(".suggest-card").length === 1`)
	w.await(`document.activeElement.id === "suggest-refresh"`)
	require.Equal(t, 1, w.count(".context-item .badge.off"))
	w.press("z", control)
	w.gone(".context-item .badge.off")
	w.requireNoProblems()
}

// TestCardsOfSuggestionsHighlightTheirItems marks the items of the card below the pointer, and of the card with
// the focus, in the list and in the conversation.
func TestCardsOfSuggestionsHighlightTheirItems(t *testing.T) {
	sample.Long(t)
	_, w := longReports(t, "off")
	require.Zero(t, w.count(".context-item .badge.suggested"))
	w.openSuggestions()
	highlighted := `[...document.querySelectorAll(".context-item.highlighted")].map((e) => e.textContent).join("\n")`
	w.do(chromedp.Focus(chromedp.CSS(suggestCards + ":nth-child(1) button")))
	w.await(highlighted + `.includes("not used later")`)
	require.Equal(t, 1, w.count(".entry.marked"))
	for range 3 {
		w.press(kb.Tab)
	}
	w.await(highlighted + `.includes("ran again later")`)
	w.do(chromedp.Focus(chromedp.CSS("#suggest-refresh")))
	w.gone(".context-item.highlighted")
	require.Zero(t, w.count(".entry.marked"))
	w.requireNoProblems()
}

// TestGoalOfSuggestionsIsCheckedAndAppliedAsOneEdit recommends as many suggestions as a goal needs, and applies
// them together.
func TestGoalOfSuggestionsIsCheckedAndAppliedAsOneEdit(t *testing.T) {
	sample.Long(t)
	_, w := longReports(t, "off")
	w.openSuggestions()
	w.fill(".suggest-goal input", "5")
	w.press("\r")
	w.seeText(".suggest", "They reach the goal.")
	w.seeText(".suggest .price", "1 of 2 recommended")
	w.fill(".suggest-goal input", "90")
	w.clickText("Refresh")
	w.seeText(".suggest", "All suggestions together do not reach the goal.")
	w.seeText(".suggest .price", "2 of 2 recommended")
	w.clickText("Apply 2 suggestions")
	w.await(`document.querySelectorAll(".context-item .badge.off").length === 2`)
	w.seeText(".suggest", "There is nothing to suggest.")
	w.press("2", alt)
	w.seeText(".history", "workbench")
	require.Equal(t, 1, w.count(".history li .age"))
	w.requireNoProblems()
}

// TestSuggestionsFollowTheContext shows new cards after an edit by another client.
func TestSuggestionsFollowTheContext(t *testing.T) {
	sample.Long(t)
	s, w := longReports(t, "off")
	w.openSuggestions()
	second := s.openAgain(t)
	second.show("Print the report.")
	second.openSuggestions()
	second.clickIn(suggestCards+" .primary", "Apply")
	second.seeText(".context-item .badge.off", "excluded")
	w.await(`document.querySelectorAll(".suggest-card").length === 1`)
	w.requireNoProblems()
	second.requireNoProblems()
}

// TestEditsOfTheServerShowTheirReason lists an automatic edit with its reason.
func TestEditsOfTheServerShowTheirReason(t *testing.T) {
	sample.Long(t)
	_, w := longReports(t, "auto", "model_providers.offline.cache_retention_secs=0")
	w.seeText(".context-item .badge.off", "excluded")
	w.press("2", alt)
	w.seeText(".history .edit-reason", "economy:")
	w.accessible("edits with a reason")
	w.requireNoProblems()
}

// TestLooksOfSuggestions opens the cards with one reason, and compares the page on a wide and a narrow screen.
func TestLooksOfSuggestions(t *testing.T) {
	sample.Long(t)
	_, w := longReports(t, "suggest")
	w.openSuggestions()
	w.clickIn(suggestCards+" button", "Why")
	w.await(`document.querySelector(".context-item.highlighted")?.checkVisibility()`)
	w.look("suggestions-cards")
	w.accessible("suggestions")
	w.theme("dark")
	w.accessible("suggestions, dark")
	w.theme("light")
	w.size(760, 800, 1)
	w.click(`button[aria-label="Panel"]`)
	w.see(".suggest-why")
	w.accessible("suggestions, narrow")
	w.look("suggestions-cards-narrow")
}
