package workbench

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"appserver/test/sample"

	"github.com/stretchr/testify/require"
)

// accessible fails the test if axe-core finds a violation of WCAG 2.2 AA or of a best practice in the
// page as it is now.
func (w *workbench) accessible(state string) {
	w.t.Helper()
	w.await(`document.getAnimations().every((a) => a.playState !== "running" || a.effect.getTiming().iterations === Infinity)`)
	if !eval[bool](w, `"axe" in window`) {
		source, err := os.ReadFile("testdata/axe/axe.min.js")
		require.NoError(w.t, err)
		eval[bool](w, string(source)+";true")
	}
	type node struct {
		HTML           string `json:"html"`
		FailureSummary string `json:"failureSummary"`
	}
	type violation struct {
		ID    string `json:"id"`
		Nodes []node `json:"nodes"`
	}
	type result struct {
		Passes     int         `json:"passes"`
		Violations []violation `json:"violations"`
	}
	found := eval[result](w, `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]})
		.then((r) => ({passes: r.passes.length, violations: r.violations.map(({id, nodes}) =>
			({id, nodes: nodes.map(({html, failureSummary}) => ({html, failureSummary}))}))}))`)
	require.Greater(w.t, found.Passes, 10, state)
	var report strings.Builder
	for _, v := range found.Violations {
		for _, n := range v.Nodes[:min(3, len(v.Nodes))] {
			fmt.Fprintf(&report, "%s: %.200s\n%s\n", v.ID, n.HTML, n.FailureSummary)
		}
	}
	require.Empty(w.t, report.String(), state)
}

// TestPageIsAccessible checks each screen in light, dark and narrow form.
func TestPageIsAccessible(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home := prepare(t)
	w := serve(t, home.Path).open(t)
	w.accessible("no thread")
	w.show("Slugs lose umlauts")
	w.accessible("thread")
	w.theme("dark")
	w.accessible("thread, dark")
	w.clickText("Earlier messages")
	w.unfold("sh test.sh && ls -l")
	w.check("apply_patch README.md")
	w.see(".price strong")
	w.accessible("plan, dark")
	w.theme("light")
	w.accessible("plan")
	w.click(`.context-item button[aria-label="Show details"]`)
	w.see(".details-text pre")
	w.accessible("details")
	w.clickText("Map")
	w.drag(".map-box", 0.3, 0.1, 0.8, 0.3)
	w.see(".map-actions")
	w.accessible("map")
	w.clickIn(".segments.views button", "List")
	w.press("f", control)
	w.fill(".find input", "titles")
	w.seeText(".find-count", "of")
	w.accessible("find")
	w.press("2", alt)
	w.see(".history li")
	w.accessible("edits")
	w.press("3", alt)
	w.scope(":Whole thread")
	w.clickIn(".tree-row.file", "slug.sh")
	w.see(".diff-row.add")
	w.accessible("changes")
	w.clickText("Split")
	w.see(".diff-row.split")
	w.theme("dark")
	w.accessible("changes, split, dark")
	w.theme("light")
	w.clickText("Review…")
	w.see("dialog")
	w.clickIn("dialog .option", "Something else")
	w.accessible("dialog review")
	w.press("\x1b")
	w.gone("dialog")
	w.press("4", alt)
	w.click(".point:nth-child(1) input")
	w.accessible("checkpoints")
	w.openRevert("Fix it")
	w.clickIn(".revert-effect summary", "slug.sh")
	w.see(".revert-effect .diff-row")
	w.accessible("dialog revert")
	w.press("\x1b")
	w.gone("dialog")
	w.press("1", alt)
	for _, entry := range []string{"Trim to", "Compact", "Exclude a category", "Restore"} {
		w.menu("Edit the context", entry)
		w.see("dialog")
		w.accessible("dialog " + entry)
		w.clickText("Cancel")
		w.gone("dialog")
	}
	w.menu("Edit the context", "Show prompts")
	w.click(".prompt-points ul:nth-of-type(2) li:nth-child(2) .prompt-point-name")
	w.see(".exact")
	w.click(`button[aria-label="Compare with now"]`)
	w.see(".part-row.removed, .part-row.added")
	w.accessible("prompts")
	w.clickText("Close")
	w.gone("dialog")
	w.menu("Edit the context", "Compact")
	w.clickIn("label.option", "Your messages only")
	w.clickText("Review the draft")
	w.see(".draft-losses li")
	w.accessible("draft of a compaction")
	w.clickText("Cancel")
	w.gone("dialog")
	w.press("k", control)
	w.see(".palette input")
	w.accessible("palette")
	w.clickText("Close")
	w.gone("dialog")
	w.send("Publish the project.")
	w.await(`document.querySelector("[data-answer=y]")?.disabled === false`)
	w.accessible("question")
	w.size(760, 900, 1)
	w.accessible("narrow")
	w.click(`button[aria-label="Panel"]`)
	w.see(".panel")
	w.accessible("narrow, panel")
	w.requireNoProblems()
}
