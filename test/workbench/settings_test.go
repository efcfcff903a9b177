package workbench

import (
	"os"
	"path/filepath"
	"testing"

	"appserver/test/apptest"
	"appserver/test/sample"

	"github.com/stretchr/testify/require"
)

// openSettings opens the settings with a view.
func (w *workbench) openSettings(view string) {
	w.t.Helper()
	w.click(`button[aria-label="Settings"]`)
	w.clickIn("dialog [role=tab]", view)
}

// TestSettingsAreWrittenAndKept writes a value to the file, shows its source, and has it after a reload. A
// comment in the file stays.
func TestSettingsAreWrittenAndKept(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, "config.toml")
	require.NoError(t, os.WriteFile(file, []byte("# mine\nmodel_reasoning_effort = \"low\"\n"), 0o600))
	w := serve(t, home).open(t)
	w.openSettings("Settings")
	w.see(`[id="set-model_reasoning_effort"]`)
	w.accessible("settings")
	w.choose(`[id="set-model_reasoning_effort"]`, "high")
	w.seeText("dialog .good-text", "Saved")
	require.Equal(t, "# mine\nmodel_reasoning_effort = \"high\"\n", read(t, file))
	w.fill(`[id="set-compaction.limit_percent"]`, "80")
	w.clickIn("dialog .setting button", "Save")
	w.await(`document.querySelectorAll("dialog .good-text").length === 2`)
	require.Contains(t, read(t, file), "limit_percent = 80")
	w.reload()
	w.openSettings("Configuration")
	w.seeText("dialog tr", "model_reasoning_effort")
	w.fill(`dialog input[type=search]`, "your file")
	w.await(`[...document.querySelectorAll("dialog tbody tr")].map((r) => r.textContent).join() ===
		"compaction.limit_percent80your file,model_reasoning_efforthighyour file"`)
	w.clickIn("dialog [role=tab]", "Settings")
	w.await(`document.querySelector('[id="set-compaction.limit_percent"]')?.value === "80"`)
	w.clickIn("dialog .setting button", "Use the default")
	w.seeText("dialog .good-text", "Saved")
	require.NotContains(t, read(t, file), "model_reasoning_effort")
	w.requireNoProblems()
}

// TestRejectedSettingsShowTheReason shows at the field why a value was not written, and if another source
// overrides it.
func TestRejectedSettingsShowTheReason(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home := t.TempDir()
	w := serve(t, home, "-c", "approval_policy=never").open(t)
	w.openSettings("Settings")
	w.fill(`[id="set-compaction.limit_percent"]`, "800")
	w.clickIn("dialog .setting button", "Save")
	w.seeText("dialog .error-text", "compaction.limit_percent")
	w.await(`document.querySelector('[id="set-compaction.limit_percent"]').getAttribute("aria-invalid") === "true"`)
	w.accessible("rejected setting")
	w.choose(`[id="set-approval_policy"]`, "untrusted")
	w.seeText("dialog .error-text", "command line")
	file := filepath.Join(home, "config.toml")
	require.NoError(t, os.WriteFile(file, []byte("model_reasoning_effort = \"high\"\n"), 0o600))
	w.choose(`[id="set-sandbox_mode"]`, "workspace-write")
	w.seeText("dialog .error-text", "changed in the meantime")
	w.await(`document.querySelector("#set-model_reasoning_effort").value === "high"`)
	w.choose(`[id="set-sandbox_mode"]`, "workspace-write")
	w.seeText("dialog .good-text", "Saved")
	w.offline(true)
	w.see("#set-model:disabled")
	w.requireNoProblems()
}

// TestMcpServersAndDiagnosticsAreShown lists a server that works with its tools, one that fails with its
// reason, and the state of the server.
func TestMcpServersAndDiagnosticsAreShown(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	program, err := apptest.MCPProgram()
	require.NoError(t, err)
	w := serve(t, t.TempDir(), "-c", `mcp_servers.broken.command="/does/not/exist"`, "-c", "mcp_servers.docs.command="+program).open(t)
	w.start(t.TempDir())
	w.openSettings("MCP servers")
	w.seeText("dialog tr", "broken")
	w.seeText("dialog tr .error-text", "exist")
	w.seeText("dialog tr .badge", "connected")
	w.clickIn("dialog summary", "tool")
	w.see("dialog tr li code")
	w.clickText("Read the configuration again")
	w.seeText("dialog tr .badge", "connected")
	w.accessible("MCP servers")
	w.clickIn("dialog [role=tab]", "Diagnostics")
	w.seeText("dialog tr", "connections")
	w.seeText("dialog tr", "sandbox.enforced")
	w.see(`dialog button[aria-label="Copy as JSON"]`)
	w.accessible("diagnostics")
	w.requireNoProblems()
}
