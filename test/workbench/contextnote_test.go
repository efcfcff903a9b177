package workbench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNoteIsWrittenAndRemoved writes a note in the details of an item. The list marks the item, a second client sees
// the note, and an empty note removes it.
func TestNoteIsWrittenAndRemoved(t *testing.T) {
	t.Parallel()
	s, w := talk(t)
	w.focusItem("first")
	w.press("\r")
	w.clickText("Add note…")
	w.fill(".details textarea", "what the <b>user</b> wants")
	w.clickText("Save note")
	w.seeText(".details .why", "Note: what the <b>user</b> wants")
	w.seeText(".context-item .badge", "note")
	w.seeText(".details", "The next request has it")
	second := s.openAgain(t)
	second.show("first")
	second.seeText(".context-item .badge", "note")

	w.clickText("Edit note…")
	w.fill(".details textarea", " ")
	w.clickText("Save note")
	w.gone(".context-item .badge.edited")
	second.gone(".context-item .badge.edited")
	require.Zero(t, w.count(".details form"))
	w.requireNoProblems()
	second.requireNoProblems()
}
