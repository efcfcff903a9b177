package workbench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMapSelectsAndPlans selects items on the map by a rectangle, and excludes them by the same plan as
// the list.
func TestMapSelectsAndPlans(t *testing.T) {
	t.Parallel()
	_, w := talk(t)
	w.clickText("Map")
	w.drag(".map-box", 0.01, 0.01, 0.99, 0.99)
	w.seeText(".map-actions", "7 items")
	w.clickIn(".map-actions button", "Exclude")
	w.seeText(".price", "tokens")
	w.seeText(".footer .primary", "Apply 7 changes")
	w.clickText("Discard")
	w.clickIn(".map-actions button", "Clear")
	w.gone(".map-actions")
	w.choose(".segments.views select", "category")
	w.drag(".map-box", 0.01, 0.3, 0.02, 0.31)
	w.seeText(".map-actions", "1 item")
	w.clickText("Show in the list")
	w.await(`document.activeElement.matches(".context-item")`)
	require.Zero(t, w.count(".map"))
	w.requireNoProblems()
}
