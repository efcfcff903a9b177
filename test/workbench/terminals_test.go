package workbench

import (
	"testing"

	"appserver/test/sample"

	"github.com/stretchr/testify/require"
)

// background returns a step of the offline provider that starts a command in the background.
func background(match, command string) object {
	return object{"match": match, "toolCalls": []object{
		{"name": "exec_command", "arguments": object{"cmd": command, "yield_time_ms": 300}}}}
}

// TestBackgroundTerminalsAreShownAndStopped shows the output of a background command as it grows, keeps
// it over a reload, and stops it after a confirmation.
func TestBackgroundTerminalsAreShownAndStopped(t *testing.T) {
	t.Parallel()
	w := serveScript(t, background("go", `echo ready; while sleep 0.2; do echo again; done`),
		background("go", "sleep 600"), object{"match": "go", "text": "Started."}).open(t)
	w.start(t.TempDir())
	w.press("6", alt)
	w.seeText(".hint", "No command runs in the background")
	w.send("go")
	w.seeText(".message.agent", "Started.")
	w.seeText(".terminal .output", "again\nagain\nagain")
	w.await(`document.querySelectorAll(".terminal").length === 2`)
	w.accessible("terminals")
	w.reload()
	w.see(".timeline article")
	w.press("6", alt)
	w.seeText(".terminal .output", "ready")
	w.seeText(".terminal .output", "again\nagain\nagain\nagain")
	w.clickIn(".terminal button", "Stop")
	w.seeText("dialog", "echo ready")
	w.clickIn("dialog button", "Cancel")
	w.gone("dialog")
	require.Equal(t, 2, w.count(".terminal"))
	w.clickIn(".terminal button", "Stop")
	w.clickIn("dialog .danger-button", "Stop")
	w.gone("dialog")
	w.await(`document.querySelectorAll(".terminal").length === 1`)
	w.seeText(".terminal", "sleep 600")
	w.clickIn(".terminal button", "Stop")
	w.clickIn("dialog .danger-button", "Stop")
	w.seeText(".hint", "No command runs in the background")
	w.requireNoProblems()
}

// TestTerminalsAreReadOnlyWithoutAConnection shows the terminals while the connection is lost, and stops none.
func TestTerminalsAreReadOnlyWithoutAConnection(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serveScript(t, background("go", "echo ready; sleep 600"), object{"match": "go", "text": "Started."}).open(t)
	w.start(t.TempDir())
	w.send("go")
	w.seeText(".message.agent", "Started.")
	w.press("6", alt)
	w.seeText(".terminal .output", "ready")
	w.offline(true)
	w.seeText(".banner", "connection")
	w.see(".terminal button:disabled")
	w.offline(false)
	w.see(".status-open")
	w.see(".terminal button:not(:disabled)")
	w.requireNoProblems()
}
