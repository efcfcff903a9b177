package workbench

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/sample"
)

// TestDialogShowsTheErrorOfItsRequest starts a thread in a folder that does not exist. The error is in the
// dialog, and is gone once the request succeeds.
func TestDialogShowsTheErrorOfItsRequest(t *testing.T) {
	t.Parallel()
	w := serve(t, t.TempDir()).open(t)
	w.clickText("New thread")
	w.fill("dialog input", filepath.Join(t.TempDir(), "missing"))
	w.clickIn("dialog button", "Start")
	w.seeText("dialog [role=alert]", "does not exist")
	require.Zero(t, w.count(".banner"))
	w.fill("dialog input", t.TempDir())
	w.clickIn("dialog button", "Start")
	w.gone("dialog")
	w.see(".composer")
	require.Zero(t, w.count(".banner"))
	w.requireNoProblems()
}

// TestFailedTurnIsShownOnce shows the error of a turn at its end only. While a request is sent again, the
// page says why.
func TestFailedTurnIsShownOnce(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home := t.TempDir()
	w := serve(t, home, "-c", "model_providers.offline.script="+writeScript(t, home, map[string]any{"steps": []any{
		map[string]any{"error": map[string]any{"status": 400, "message": "no such model"}},
		map[string]any{"error": map[string]any{"status": 429, "message": "slow down", "retryAfterMs": 3000}, "text": "At last."},
	}})).open(t)
	w.start(t.TempDir())
	w.send("first")
	w.seeText(".turn-end.failed", "no such model")
	require.Zero(t, w.count(".notices .banner"))
	w.send("second")
	w.seeText(".notices .banner", "slow down")
	w.seeText(".message.agent", "At last.")
	w.gone(".notices .banner")
	w.requireNoProblems()
}

// TestNarrowPageFitsWithAnOpenQuestion opens a thread from the list, which then makes room, and asks a
// question. Nothing is outside of the page.
func TestNarrowPageFitsWithAnOpenQuestion(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w, _ := ask(t)
	w.size(390, 844, 1)
	w.click(`header button[aria-label="Threads"]`)
	w.clickIn(".thread-row .thread", "echo yes")
	w.clickText("Later")
	require.Equal(t, 390.0, eval[float64](w, "document.documentElement.scrollWidth"))
	require.Equal(t, "waits for you", eval[string](w, `document.querySelector(".outcome").innerText`))
	w.requireNoProblems()
}
