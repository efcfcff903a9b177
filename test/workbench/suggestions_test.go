package workbench

import (
	"fmt"
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
	w.openCommands()
	return s, w
}

// openCommands opens the commands that ended before the page showed them. The others are open.
func (w *workbench) openCommands() {
	w.t.Helper()
	const closed = `.fold.command .fold-title[aria-expanded="false"]`
	eval[bool](w, fmt.Sprintf("document.querySelectorAll(`%s`).forEach((title) => title.click()), true", closed))
	w.gone(closed)
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
	t.Parallel()
	_, w := longReports(t, "suggest")
	w.seeText(".context-item .badge.suggested", "not used later")
	w.seeText(".segments.views button", "Suggestions2 found")
	w.openSuggestions()
	w.seeText(".suggest .price", "2 of 2 recommended together: −")
	w.seeText(suggestCards, "It ran again later")
	require.Equal(t, 2, w.count(".context-item .badge.suggested"))

	w.clickIn(suggestCards+" button", "Why")
	w.seeText(".suggest-why", "No later answer or patch has a line of it. The model may have to read or run something again.")
	w.seeText(".suggest-why", "10 % of another one")
	w.seeText(".suggest-why", "Expected requestsabout 4")
	w.await(`document.querySelector(".context-item.highlighted")?.textContent.includes("not used later")`)
	w.accessible("suggestions")
	w.clickIn(".suggest-why li button", " → ")
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
	t.Parallel()
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
	t.Parallel()
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
	w.clickText("Apply 2 suggestions, recommended together")
	w.await(`document.querySelectorAll(".context-item .badge.off").length === 2`)
	w.seeText(".suggest", "There is nothing to suggest.")
	w.press("2", alt)
	w.seeText(".history", "workbench")
	require.Equal(t, 1, w.count(".history li .age"))
	w.requireNoProblems()
}

// TestGoalInTokensIsTheSizeOfTheNextRequest changes the unit of a goal. Its number follows.
func TestGoalInTokensIsTheSizeOfTheNextRequest(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := longReports(t, "off")
	w.openSuggestions()
	w.fill(".suggest-goal input", "5")
	w.press("\r")
	w.seeText(".suggest .price", "1 of 2 recommended")
	w.choose(".suggest-unit", "tokens")
	w.await(`Number(document.querySelector(".suggest-goal input").value) > 1000`)
	w.press("\r")
	w.seeText(".suggest", "They reach the goal.")
	w.fill(".suggest-goal input", "10")
	w.clickText("Refresh")
	w.seeText(".suggest", "All suggestions together do not reach the goal.")
	w.fill(".suggest-goal input", "100000")
	w.clickText("Refresh")
	w.seeText(".suggest", "The goal is reached already.")
	w.requireNoProblems()
}

// TestWhyFindsItemsThatAreNotInTheList names the items that a search hides, and shows them again. The map outlines
// them.
func TestWhyFindsItemsThatAreNotInTheList(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := longReports(t, "off")
	w.openSuggestions()
	w.fill(findField, "echo ok")
	w.await(`document.querySelectorAll(".context-item").length === 1`)
	w.clickIn(suggestCards+" button", "Why")
	w.seeText(".suggest-where", "The search or the category hides 1 item.")
	w.accessible("suggestions whose items are hidden")
	w.clickIn(".suggest-where button", "Show all items")
	w.await(`document.querySelector(".context-item.highlighted")?.checkVisibility()`)
	w.gone(".suggest-where")
	require.Empty(t, eval[string](w, `document.querySelector(".panel-find input").value`))
	w.clickText("Map")
	w.seeText(".suggest-where", "The map outlines the item.")
	outlined := `(() => {
		const canvas = document.querySelector(".map canvas");
		if (!canvas?.width || !canvas.height) return -1;
		const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
		const [r, g, b] = getComputedStyle(document.querySelector(".badge.risk-medium")).color.match(/\d+/g).map(Number);
		let n = 0;
		for (let i = 0; i < data.length; i += 4) if (data[i] === r && data[i + 1] === g && data[i + 2] === b) n++;
		return n;
	})()`
	w.await(outlined + " > 50")
	w.clickIn(suggestCards+" button", "Why")
	w.click("#suggest-refresh")
	w.await(outlined + " === 0")
	w.clickIn(suggestCards+" button", "Why")
	w.clickIn(".suggest-where button", "Show in the list")
	w.await(`document.activeElement.matches(".context-item.highlighted")`)
	w.requireNoProblems()
}

// rewrite changes the next message of the page that has a text. The expression gives its new form; m is the old one.
func (w *workbench) rewrite(text, expression string) {
	w.t.Helper()
	eval[bool](w, fmt.Sprintf(`(() => {
		const send = WebSocket.prototype.send;
		WebSocket.prototype.send = function (m) {
			if (!m.includes(%q)) return send.call(this, m);
			WebSocket.prototype.send = send;
			return send.call(this, %s);
		};
		return true;
	})()`, text, expression))
}

// TestSuggestionOfAnOldContextIsRenewed applies a card whose context has changed. The card says that nothing was
// applied, and the new one is applied.
func TestSuggestionOfAnOldContextIsRenewed(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := longReports(t, "off")
	w.openSuggestions()
	w.rewrite(`"context/apply"`, `m.replace(/"expectedRevision":\d+/, '"expectedRevision":7')`)
	w.clickIn(suggestCards+" .primary", "Apply")
	w.seeText(suggestCards+" .warn-text", "It was not applied: the context had changed.")
	w.seeText(".suggest [role=status]", "The context changed in the meantime, so nothing was applied.")
	w.await(`document.activeElement.matches(".suggest-card:first-child .primary")`)
	require.Zero(t, w.count(".context-item .badge.off"))
	require.Zero(t, w.count(".notices .banner"))
	w.accessible("a suggestion that was refused")
	w.look("suggestions-refused")
	w.press("\r")
	w.seeText(".context-item .badge.off", "excluded")
	w.gone(".suggest .warn-text")
	w.requireNoProblems()
}

// TestSuggestionsThatCannotBeReadAreTriedAgain shows the reason of the server, and a button.
func TestSuggestionsThatCannotBeReadAreTriedAgain(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := longReports(t, "off")
	w.rewrite(`"context/suggest"`, `m.replace(/"threadId":"[^"]*"/, '"threadId":"00000000-0000-7000-8000-000000000000"')`)
	w.clickIn(".segments.views button", "Suggestions")
	w.seeText(".suggest-failure", "The suggestions could not be read: ")
	require.Zero(t, w.count(suggestCards))
	w.accessible("suggestions that cannot be read")
	w.look("suggestions-failed")
	w.clickText("Try again")
	w.await(`document.querySelectorAll(".suggest-card").length === 2`)
	w.gone(".suggest-failure")
	w.requireNoProblems()
}

// TestSuggestionsAreSearchedWithTheKeyboard opens the cards by Enter. Until the answer comes, the section says that it
// searches. Tab leads to the reason of the first card.
func TestSuggestionsAreSearchedWithTheKeyboard(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := longReports(t, "off")
	w.rewrite(`"context/suggest"`, `'{"jsonrpc":"2.0","method":"initialized"}'`) // the request is never answered
	w.do(chromedp.Focus(chromedp.CSS(".suggest-toggle")))
	w.press("\r")
	w.seeText(".suggest [role=status]", "Looking for items that the next requests can do without…")
	w.seeText("#suggest-refresh", "Refreshing…")
	require.Equal(t, "true", eval[string](w, `document.querySelector(".suggest").getAttribute("aria-busy")`))
	w.accessible("suggestions that are searched")
	for range 3 { // the goal, its unit, the button
		w.press(kb.Tab)
	}
	w.await(`document.activeElement.id === "suggest-refresh"`)
	w.press("\r")
	w.await(`document.querySelectorAll(".suggest-card").length === 2`)
	for range 6 { // the cards, Apply and Plan of all, Apply, Plan, Why
		w.press(kb.Tab)
	}
	w.await(`document.activeElement.textContent === "Why"`)
	w.press("\r")
	w.see(".suggest-why")
	require.Equal(t, "true", eval[string](w, `document.activeElement.getAttribute("aria-expanded")`))
	w.requireNoProblems()
}

// TestNothingToSuggestIsSaid opens the suggestions of a short thread.
func TestNothingToSuggestIsSaid(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, t.TempDir()).open(t)
	w.start(t.TempDir())
	w.send("hello")
	w.see(".message.agent")
	w.gone(".composer .stop")
	w.clickIn(".segments.views button", "Suggestions")
	w.seeText(".suggest", "There is nothing to suggest. Messages, pinned items and the last tool outputs always stay.")
	w.seeText(".suggest", "The next request has ")
	w.accessible("no suggestions")
	w.look("suggestions-none")
	w.requireNoProblems()
}

// TestManySuggestionsLeaveTheListVisible has 60 suggestions with one reason. They are one card with their number
// and the price of all. The list stays visible, and cards of each come on demand with the focus on the first new
// one.
func TestManySuggestionsLeaveTheListVisible(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := manyReports(t)
	w.clickIn(".segments.views button", "Suggestions")
	w.seeText(".suggest-card.group", "suggestions: ran again later")
	w.await(`/→ [\d,]+ tokens: −[\d,]+ tokens/.test(document.querySelector(".suggest-card.group .price").textContent)`)
	w.seeText(".suggest-card.group .badge", "recommended together")
	require.Equal(t, 1, w.count(".suggest-card.group"))
	w.shot("suggestions-group")
	w.clickIn(".suggest-card.group button", "Show each")
	w.await(`document.querySelectorAll(".suggest-each .suggest-card").length === 10`)
	visibleList := `document.querySelector(".context-list").getBoundingClientRect()`
	require.GreaterOrEqual(t, eval[float64](w, visibleList+".height"), 130.0)
	require.LessOrEqual(t, eval[float64](w, visibleList+".bottom"), 800.0)
	w.accessible("many suggestions")
	w.look("suggestions-many")
	w.clickIn(".suggest-cards button", "Show 20 more")
	w.await(`document.activeElement.matches(".suggest-each .suggest-card:nth-child(11) button:first-child")`)
	require.Equal(t, 30, w.count(".suggest-each .suggest-card"))
	w.size(1280, 600, 1)
	require.GreaterOrEqual(t, eval[float64](w, visibleList+".height"), 130.0)
	w.requireNoProblems()
}

// manyReports starts a thread whose model runs 60 commands twice.
func manyReports(t *testing.T, settings ...string) *workbench {
	commands := func() []any {
		calls := make([]any, 60)
		for i := range calls {
			calls[i] = map[string]any{"name": "shell", "arguments": map[string]any{
				"command": fmt.Sprintf("seq -f 'line %%g of report %d' 20; date +%%N", i)}}
		}
		return calls
	}
	home := t.TempDir()
	script := map[string]any{"steps": []any{
		map[string]any{"toolCalls": commands()}, map[string]any{"toolCalls": commands()},
		map[string]any{"text": "All reports are there."}}}
	args := []string{"-c", "model_providers.offline.script=" + writeScript(t, home, script),
		"-c", "approval_policy=never", "-c", "sandbox_mode=danger-full-access",
		"-c", "context.economy.keep_last_outputs=60"}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	w := serve(t, home, args...).open(t)
	w.start(t.TempDir())
	w.send("Print all reports.")
	w.seeText(".message.agent", "All reports are there.")
	w.gone(".composer .stop")
	return w
}

// TestSuggestionsFollowTheContext shows new cards after an edit by another client.
func TestSuggestionsFollowTheContext(t *testing.T) {
	sample.Long(t)
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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

// TestSuggestionsAreCountedWhenAThreadIsOpened loads the page again in the mode that notifies of suggestions.
func TestSuggestionsAreCountedWhenAThreadIsOpened(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := longReports(t, "suggest")
	w.reload()
	w.show("Print the report.")
	w.seeText(".segments.views button", "Suggestions2 found")
	require.Equal(t, 2, w.count(".context-item .badge.suggested"))
	require.Zero(t, w.count(suggestCards))
	w.requireNoProblems()
}
