package workbench

import (
	"testing"

	"appserver/test/sample"

	"github.com/stretchr/testify/require"
)

// TestMemoryIsListedRecalledAndForgotten keeps a summary of a trimmed turn. A later question recalls it, and
// the page states for which words. The memory is found by a search, and forgotten, also after a reload.
func TestMemoryIsListedRecalledAndForgotten(t *testing.T) {
	t.Parallel()
	w := serve(t, t.TempDir(), "-c", "memory.summarize_on_prune=true", "-c", "memory.inject=true").open(t)
	w.start(t.TempDir())
	w.press("5", alt)
	w.seeText(".hint", "Nothing is remembered yet")
	for _, text := range []string{"For the dashboards: the metrics endpoint listens on port 9137.", "another thing"} {
		w.send(text)
		w.seeText(".message.agent", text)
		w.gone(".composer .stop")
	}
	w.press("1", alt)
	w.menu("Edit the context", "Trim to the last turns")
	w.see("dialog")
	eval[bool](w, `(document.querySelector("dialog input").select(), true)`)
	w.press("1\r")
	w.gone("dialog")
	w.press("5", alt)
	w.seeText(".memory-title", "metrics endpoint")
	w.send("Which ports do the metrics use?")
	w.seeText(".recalled", "9137")
	w.seeText(".memory .badge", "in the context now")
	w.clickIn(".recalled button", "Why?")
	w.seeText(".why-recalled blockquote", "Which ports do the metrics use?")
	w.seeText(".why-recalled .badge", "recalled")
	w.accessible("memory")
	w.clickIn(".recalled button", "Show in context")
	w.seeText(".context-item:focus", "memory:summary")
	w.press("5", alt)
	w.fill(".tab-panel input[type=search]", "nonsense")
	w.seeText(".hint", "Nothing that is remembered matches")
	w.fill(".tab-panel input[type=search]", "dashboard")
	w.seeText(".memory-title", "metrics endpoint")
	w.clickIn(".memory .fold-title", "metrics")
	w.seeText(".memory-body pre", "9137")
	w.click(`.memory button[title="Forget…"]`)
	w.clickIn("dialog button", "Cancel")
	require.Equal(t, 1, w.count(".memory"))
	w.click(`.memory button[title="Forget…"]`)
	w.accessible("dialog forget")
	w.clickIn("dialog .danger-button", "Forget")
	w.gone("dialog")
	w.gone(".memory")
	w.reload()
	w.see(".timeline article")
	w.press("5", alt)
	w.seeText(".hint", "Nothing is remembered yet")
	w.requireNoProblems()
}

// TestMemoryIsOffByDefault states that the memory is off and where to turn it on.
func TestMemoryIsOffByDefault(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, t.TempDir()).open(t)
	w.start(t.TempDir())
	w.press("5", alt)
	w.seeText(".hint", "The memory is off")
	w.requireNoProblems()
}
