package workbench

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/sample"
)

// reviewCompaction opens the draft of a compaction of all turns. They ran a command that the summary does
// not mention.
func reviewCompaction(t *testing.T) (*server, *workbench) {
	s := serve(t, t.TempDir(), "-c", "approval_policy=never", "-c", "sandbox_mode=danger-full-access")
	w := s.open(t)
	w.start(t.TempDir())
	w.send("run: echo x > out.txt")
	w.seeText(".message.agent", "Done")
	w.send("Thanks.")
	w.seeText(".context-item", "Thanks.")
	w.menu("Edit the context", "Compact")
	w.clickIn("label.option", "Your messages only")
	w.choose("dialog select", "all")
	w.clickText("Review the draft")
	w.seeText(".draft-losses", "out.txt")
	return s, w
}

// TestCompactionIsReviewed inserts one loss into the summary, pins the item of another, and commits. The
// context has the summary and the pinned call with its output.
func TestCompactionIsReviewed(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := reviewCompaction(t)
	w.await(`document.querySelector(".draft-part textarea").value.includes("The earlier requests of the user")`)
	w.seeText(".draft-item", "echo x > out.txt")
	w.clickIn(".draft-losses li:first-child button", "Insert")
	w.await(`document.querySelector(".draft-part textarea").value.endsWith("- out.txt")`)
	w.seeText(".draft-losses .covered", "out.txt")
	w.clickIn(".draft-losses ul:nth-of-type(2) button", "Pin 1 item")
	w.seeText(".draft-item .badge", "stays")
	w.seeText(".draft-head", "about")
	w.clickIn(".dialog-buttons button", "Compact")
	w.gone("dialog")
	w.seeText(".summary li", "out.txt")
	w.seeText(".context-item .badge", "pinned")
	w.seeText(".context-item", " → ")
	w.requireNoProblems()
}

// TestDraftKeepsTheTextIfTheContextChanges offers a new draft after an edit by another client.
func TestDraftKeepsTheTextIfTheContextChanges(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	s, w := reviewCompaction(t)
	w.fill(".draft-part textarea", "My own words.")
	second := s.openAgain(t)
	second.show("run: echo")
	second.focusItem("Thanks.")
	second.press("p")
	second.clickText("Apply 1 change")
	second.seeText(".context-item .badge", "pinned")
	w.clickIn(".dialog-buttons button", "Compact")
	w.seeText(".draft-head", "The context changed")
	w.clickText("Make a new draft")
	w.await(`document.querySelector(".draft-part textarea").value === "My own words."`)
	w.clickIn(".dialog-buttons button", "Compact")
	w.gone("dialog")
	w.seeText(".summary", "My own words.")
	w.requireNoProblems()
}

// TestDraftIsWatchedAndStopped shows the summary while the model writes it, and stops the model.
func TestDraftIsWatchedAndStopped(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home := t.TempDir()
	deltas := make([]string, 3000)
	for i := range deltas {
		deltas[i] = fmt.Sprintf("word%d ", i)
	}
	w := serve(t, home, "-c", "model_providers.offline.script="+writeScript(t, home, map[string]any{"steps": []any{
		map[string]any{"text": "An answer."}, map[string]any{"deltas": deltas, "gapMs": 20}}})).open(t)
	w.start(t.TempDir())
	w.send("first")
	w.seeText(".message.agent", "An answer.")
	w.seeText(".context-item", "An answer.")
	w.menu("Edit the context", "Compact")
	w.choose("dialog select", "all")
	w.clickText("Review the draft")
	w.await(`document.querySelector(".draft-part textarea")?.value.includes("word20")`)
	w.clickIn(".draft-head button", "Stop")
	w.seeText(".draft-head", "the draft was cancelled")
	w.clickText("Cancel")
	w.gone("dialog")
	require.Zero(t, w.count(".summary"))
	w.requireNoProblems()
}
