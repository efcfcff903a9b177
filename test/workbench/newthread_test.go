package workbench

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// TestNewThreadAsksForTrust completes the path of a folder with settings of its own, and asks whether the user trusts
// it before a thread starts there.
func TestNewThreadAsksForTrust(t *testing.T) {
	t.Parallel()
	home := t.TempDir() // also the home of the server's user
	project := filepath.Join(home, "code", "parser")
	require.NoError(t, os.MkdirAll(filepath.Join(project, ".codex"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(home, "code", "party"), 0o755))
	settings := filepath.Join(project, ".codex", "config.toml")
	require.NoError(t, os.WriteFile(settings, []byte("model_verbosity = \"low\"\n"), 0o644))
	w := serve(t, home).open(t)
	w.click(`.threads-head button[aria-label="New thread"]`)
	w.fill("#folder", "~/code/pars")
	w.seeText(".folders [role=option]", "parser")
	w.press(kb.ArrowDown)
	w.see(".folders [aria-selected=true]")
	w.press(kb.Tab)
	w.seeText(".trust", "The settings in .codex apply")
	require.Equal(t, project+"/", eval[string](w, `document.querySelector("#folder").value`))
	require.Zero(t, w.count(".trust input:checked"), "settings of a folder apply only after a decision")
	require.True(t, eval[bool](w, `document.querySelector("dialog button[type=submit]").disabled`))
	w.accessible("new thread")
	w.shot("new-trust")
	w.click(".trust input[value=untrusted]")
	w.clickIn("dialog button", "Start")
	w.gone("dialog")
	w.seeText(".permissions-facts", "ask for each command")
	w.seeText(".facts", "parser")
	config, err := os.ReadFile(filepath.Join(home, "config.toml"))
	require.NoError(t, err)
	require.Contains(t, string(config), project)
	require.Contains(t, string(config), `trust_level = "untrusted"`)

	w.click(`.threads-head button[aria-label="New thread"]`)
	w.see(".trust input[value=untrusted]:checked")
	w.click(`button[aria-label="Folder above"]`)
	w.seeText(".folders [role=option]", "party")
	w.clickIn(".folders [role=option]", "party")
	w.see(".trust input[value=trusted]:checked")
	w.shot("new-browse")
	w.clickText("What the agent may do")
	w.choose(".permissions select", "read-only")
	w.clickIn("dialog button", "Start")
	w.gone("dialog")
	w.seeText(".facts", "party")
	w.seeText(".permissions-facts", "read only")
	w.requireNoProblems()
}
