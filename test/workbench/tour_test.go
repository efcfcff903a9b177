package workbench

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// tourStep is a numbered step of the tour in docs/workbench.md.
type tourStep struct {
	title string
	// labels are the texts in backticks, in their order.
	labels []string
}

// readTour returns the steps of the tour.
func readTour(t *testing.T) (steps []tourStep) {
	t.Helper()
	text, err := os.ReadFile(apptest.Root("docs", "workbench.md"))
	require.NoError(t, err)
	_, tour, found := strings.Cut(string(text), "## A tour of five minutes\n")
	require.True(t, found)
	tour, _, _ = strings.Cut(tour, "\n## ")
	for _, part := range regexp.MustCompile(`(?m)^\d+\. `).Split(tour, -1)[1:] {
		title := regexp.MustCompile(`(?s)^\*\*(.+?)\.\*\*`).FindStringSubmatch(part)
		require.NotNil(t, title, part)
		step := tourStep{title: title[1]}
		for _, label := range regexp.MustCompile("(?s)`(.+?)`").FindAllStringSubmatch(part, -1) {
			step.labels = append(step.labels, strings.Join(strings.Fields(label[1]), " "))
		}
		steps = append(steps, step)
	}
	return steps
}

// TestTourOfTheDocumentation takes every step of the tour, with the names that the text gives.
func TestTourOfTheDocumentation(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, prepare(t).Path).open(t)
	actions := tourActions()
	for _, step := range readTour(t) {
		action := actions[step.title]
		require.NotNil(t, action, "the step %q has no test", step.title)
		delete(actions, step.title)
		passed := t.Run(step.title, func(t *testing.T) {
			w.t = t
			action(w, step.labels)
		})
		require.True(t, passed)
	}
	w.t = t
	require.Empty(t, actions, "steps without a text")
	w.requireNoProblems()
}

func tourActions() map[string]func(w *workbench, label []string) {
	gauge := `document.querySelector(".gauge strong").textContent`
	var before string
	return map[string]func(w *workbench, label []string){
		"Open the conversation": func(w *workbench, label []string) {
			w.show(label[0])
			w.seeText(".divider", "Earlier messages")
			w.see(".ring")
		},
		"Ask what can go": func(w *workbench, label []string) {
			w.clickIn(".segments.views button", label[0])
			w.seeText(".suggest-card:first-child", "No later answer or patch uses 1 output.")
			w.seeText(".suggest-card:first-child", "recommended")
			w.clickIn(suggestCards+" button", label[1])
			w.seeText(".suggest-why", "Saved in each request")
			w.await(`document.querySelector(".context-item.highlighted")?.checkVisibility()`)
			w.clickIn(".segments.views button", label[2])
			w.gone(suggestCards)
		},
		"Sort by price": func(w *workbench, label []string) {
			order := `[...document.querySelectorAll(".segments.views option")].find((o) => o.textContent === "%s").value`
			w.choose(".segments.views select", eval[string](w, fmt.Sprintf(order, label[0])))
			w.await(`document.querySelector(".context-item").textContent.includes(" → ")`)
			w.choose(".segments.views select", eval[string](w, fmt.Sprintf(order, label[2])))
			w.seeText(".context-list", "Turn ")
		},
		"See where the tokens go": func(w *workbench, label []string) {
			w.clickIn(".segments.views button", label[0])
			w.drag(".map-box", 0.5, 0.7, 0.5, 0.7)
			w.seeText(".map-actions", "1 item")
			w.clickIn(".map-actions button", label[1])
			w.await(`document.activeElement.matches(".context-item") && document.activeElement.textContent.includes(" → ")`)
		},
		"Ask why it is sent": func(w *workbench, label []string) {
			w.press("\r")
			w.seeText(".why", label[0])
			w.press("\r")
			w.gone(".why")
		},
		"See a price before you pay it": func(w *workbench, label []string) {
			before = eval[string](w, gauge)
			w.press(" ")
			w.seeText(".price", "leave the cache")
			require.Equal(w.t, before, eval[string](w, gauge))
			w.clickIn(".footer button", label[0])
			w.await(gauge + " !== '" + before + "'")
		},
		"Take it back": func(w *workbench, label []string) {
			w.press("z", control)
			w.await(gauge + " === '" + before + "'")
			w.clickIn("[role=tab]", label[0])
			w.see(".history .undone")
			w.clickIn("[role=tab]", label[1])
		},
		"Find everything about a subject": func(w *workbench, label []string) {
			w.fill(findField, label[0])
			require.Equal(w.t, label[1], eval[string](w, `document.querySelector(".panel-find input").placeholder`))
			w.seeText(".context-item mark", "mlaut")
			w.clickIn(".panel-find button", label[2])
			w.see(".price strong")
			w.clickIn(".footer button", label[3])
			w.fill(findField, " ")
			w.press(kb.Backspace)
			w.gone(".context-item mark")
		},
		"Read what the model got": func(w *workbench, label []string) {
			w.menu("Edit the context", label[0])
			w.seeText(".prompt-points h3", label[1])
			w.click(".prompt-points ul:nth-of-type(2) li:nth-child(2) .prompt-point-name")
			w.seeText(".exact", label[2])
			w.click(`button[aria-label="` + label[3] + ` with ` + label[4] + `"]`)
			w.see(".part-row.removed, .part-row.added")
		},
		"Ask the same again": func(w *workbench, label []string) {
			w.clickIn(".prompt-head button", label[0])
			w.clickIn(".dialog-buttons button", label[1])
			answer := `section[aria-label="In the fork"]`
			w.seeText(answer+" dl", "completed")
			w.seeText(answer+" dl", "Money")
			w.seeText(answer+" .answer-text", "All 48 tests pass.")
			w.seeText(`section[aria-label="As it was"] .answer-text`, "All tests pass")
			w.shot("tour-answers")
			w.clickIn(".dialog-buttons button", label[2])
			w.gone("dialog")
		},
		"Compact by hand": func(w *workbench, label []string) {
			w.menu("Edit the context", label[0])
			w.clickIn("label.option", label[1])
			w.seeText("dialog .price", "→")
			w.clickIn("dialog button", label[2])
			w.clickIn(".draft-losses button", label[3])
			w.clickIn(".dialog-buttons button", label[4])
			w.gone("dialog")
			w.await(gauge + " !== '" + before + "'")
		},
		"Go back in time": func(w *workbench, label []string) {
			w.clickIn("[role=tab]", label[0])
			w.await(`document.querySelector(".history li:last-child .edit")?.textContent.includes("` + label[1] + `")`)
			eval[bool](w, `(document.querySelector(".history li:last-child .edit").focus(), true)`)
			w.seeText(".goto-ahead", "To the start")
			w.clickIn(".history button", label[1])
			w.await(`[...document.querySelectorAll(".history li .age")].length === document.querySelectorAll(".history .undone").length`)
		},
		"See what changed on the disk": func(w *workbench, label []string) {
			w.clickIn("[role=tab]", label[0])
			option := `[...document.querySelectorAll(".panel option")].find((o) => o.textContent === "` + label[1] + `")`
			w.await(option + " !== undefined")
			w.choose(".panel select", eval[string](w, option+".value"))
			w.seeText(".panel", "slug.sh")
			w.clickIn("[role=tab]", label[2])
			w.clickIn(".panel button", label[3])
			w.seeText("dialog", "Files and conversation")
			w.clickIn("dialog button", label[4])
			w.gone("dialog")
		},
		"Answer a question": func(w *workbench, label []string) {
			w.send(label[0])
			w.await(`document.querySelector("[data-answer=n]")?.disabled === false`)
			w.seeText(".turn-summary", "This turn")
			w.clickIn("[data-answer]", label[1])
			w.gone("[data-answer]")
		},
	}
}
