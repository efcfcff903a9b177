package workbench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/sample"
)

const findField = ".panel-find input"

// TestFindInContextSearchesWholeTexts finds a word far behind the preview of an output, and excludes all
// items that have it as one edit.
func TestFindInContextSearchesWholeTexts(t *testing.T) {
	sample.Long(t)
	w := serve(t, t.TempDir(), "-c", "approval_policy=never").open(t)
	w.start(t.TempDir())
	w.send("run: seq 1 300; echo the Needle; seq 301 400")
	w.seeText(".context-item", "Exit code: 0")
	w.fill(findField, "NEEDLE")
	w.seeText(".context-item mark", "Needle")
	w.await(`!document.querySelector(".context-list").textContent.includes("environment_context")`)
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
