package workbench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/sample"
)

// openPrompts opens the prompt inspector.
func (w *workbench) openPrompts() {
	w.t.Helper()
	w.menu("Edit the context", "Show prompts")
	w.see(".prompt-parts article")
}

// TestPromptsOfRequestsAreComparedWithNow shows a past request as it was sent, and what is different now:
// a message was added, and the output of a command is excluded.
func TestPromptsOfRequestsAreComparedWithNow(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, t.TempDir(), "-c", "approval_policy=never", "-c", "sandbox_mode=danger-full-access").open(t)
	w.start(t.TempDir())
	w.send("run: echo one story")
	w.seeText(".message.agent", "Done")
	w.send("second")
	w.seeText(".message.agent", "second")
	w.seeText(".context-item", " → ")
	w.focusItem(" → ")
	w.press(" ")
	w.seeText(".footer .primary", "Apply 1 change")
	w.openPrompts()
	w.seeText(".prompt-parts", "run: echo one story")
	w.await(`document.querySelectorAll(".prompt-points li").length >= 5`) // now, the plan, three requests
	w.clickIn(".prompt-point-name", "with the plan")
	w.clickIn(`.prompt-point button[aria-label="Compare with now"]`, "Compare")
	w.seeText(".part-row.changed .line.removed", "one story")
	w.seeText(".part-row.changed .line.added", "output excluded")
	w.await(`document.querySelectorAll(".part-row").length === 1`)
	w.await(`[...document.querySelectorAll(".prompt-turn")].map((e) => e.textContent).join() === "second 1 request,run: echo one story 2 requests"`)
	w.click(`.prompt-turns > li:last-child li:last-child .prompt-point-name`)
	w.seeText(".exact", "byte for byte")
	w.seeText(".part-row.added", "second")
	w.clickText("Close")
	w.gone("dialog")
	require.Zero(t, w.count(".error-text"))
	w.requireNoProblems()
}
