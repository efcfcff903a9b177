package workbench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// talk opens a thread with three turns.
func talk(t *testing.T) (*server, *workbench) {
	s := serve(t, t.TempDir())
	w := s.open(t)
	w.start(t.TempDir())
	for _, text := range []string{"first", "second", "third"} {
		w.send(text)
		w.seeText(".message.agent", text)
	}
	w.seeText(".context-item", "third")
	return s, w
}

// TestTrimUndoRedoAndCompact edits the context by the menu of the panel, and shows what it did.
func TestTrimUndoRedoAndCompact(t *testing.T) {
	_, w := talk(t)
	w.menu("Edit the context", "Trim to the last turns")
	w.see("dialog")
	w.press("\r")
	w.gone("dialog")
	w.seeText(".divider", "pruned")
	require.Equal(t, 0, w.count(".entry.trimmed"))
	w.clickText("Earlier messages")
	w.see(".entry.trimmed")
	w.click(`button[aria-label="Undo the last edit"]`)
	w.gone(".divider")
	w.click(`button[aria-label="Redo"]`)
	w.seeText(".divider", "pruned")
	w.menu("Edit the context", "Compact")
	w.see("dialog")
	w.press("\r")
	w.gone("dialog")
	w.seeText(".summary", "The offline provider sums up")
	w.clickText("Edits")
	w.seeText(".history", "Trim")
	w.seeText(".history", "Compact")
	w.requireNoProblems()
}
