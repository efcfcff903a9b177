package workbench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"appserver/test/sample"

	"github.com/stretchr/testify/require"
)

// TestControlsOfChangedFiles opens changes in the conversation, reviews in a fork, commits a part of the files with the
// hooks of the repository, and uses the buttons of the checkpoints.
func TestControlsOfChangedFiles(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	dir := repository(t, map[string]string{"a.txt": "a\n"})
	for _, c := range [][2]string{{"user.name", "a"}, {"user.email", "a@example.com"}} {
		gitIn(t, dir, "config", c[0], c[1])
	}
	hook := filepath.Join(dir, ".git", "hooks", "pre-commit")
	require.NoError(t, os.MkdirAll(filepath.Dir(hook), 0o755))
	require.NoError(t, os.WriteFile(hook, []byte("#!/bin/sh\ntouch .git/hooked\n"), 0o755))
	result := fmt.Sprintf(`{"findings":[{"title":"B is missing","body":"Add it.","confidence_score":0.9,"priority":1,
		"code_location":{"absolute_file_path":%q,"line_range":{"start":1,"end":1}}}],"overall_correctness":"patch is incorrect",
		"overall_explanation":"Almost.","overall_confidence_score":0.9}`, filepath.Join(dir, "a.txt"))
	w := serveScript(t, patch("go", "*** Update File: a.txt\n@@\n a\n+b\n*** Add File: long.txt\n"+strings.Repeat("+line\n", 500)),
		object{"match": "go", "text": "Done."}, object{"match": "look for bugs", "text": result}).open(t)
	w.start(dir)
	w.send("go")
	w.ended("Done.")
	w.unfold("long.txt")
	w.clickIn(".changes .diff button", "Show 100 more lines")
	w.await(`document.querySelectorAll(".changes .diff-line").length === 500`)
	w.unfold("a.txt")
	w.click(`.changes button[aria-label="Open a.txt"]`)
	w.seeText(".panel .diff-row.add", "b")

	w.clickText("Commit…")
	w.clickIn("dialog .option", "In a worktree of its own")
	w.see("dialog input[type=text]")
	w.clickIn("dialog .option", "Here")
	w.gone("dialog input[type=text]")
	w.clickIn("dialog .option", "Run the hooks")
	w.clickIn(".commit-files .option", "long.txt")
	w.fill("dialog textarea", "Add b")
	w.clickIn("dialog .primary", "Commit 1 file")
	w.gone("dialog")
	require.Equal(t, "a.txt", gitIn(t, dir, "show", "--name-only", "--format="))
	require.FileExists(t, filepath.Join(dir, ".git", "hooked"))

	w.press("4", alt)
	w.click(".point:nth-child(1) input")
	w.clickText("Clear")
	w.await(`document.querySelectorAll(".point input:checked").length === 0`)
	w.openRevert("go")
	w.clickIn("dialog .option", "Files only")
	w.clickIn("dialog .danger-button", "Revert")
	w.gone("dialog")
	require.NoFileExists(t, filepath.Join(dir, "long.txt"))
	w.click(`.tab-panel .banner.done button[aria-label="Close"]`)
	w.gone(".tab-panel .banner.done")

	w.press("3", alt)
	w.clickText("Review…")
	w.clickIn("dialog .option", "Changes since a branch")
	w.fill("dialog input[type=text]", "no-such-branch")
	w.clickIn("dialog .primary", "Start")
	w.gone("dialog")
	w.seeText(".findings", "the branch 'no-such-branch'")
	w.gone(".composer .stop")
	w.clickText("Review…")
	w.clickIn("dialog .option", "Something else")
	w.fill("dialog textarea", "look for bugs")
	w.clickIn("dialog .mode", "Review in a fork")
	w.clickIn("dialog .primary", "Start")
	w.gone("dialog")
	w.await(`document.querySelectorAll(".thread-row").length === 2`)
	w.press("1", alt)
	w.clickText("Show findings")
	w.seeText(".findings", "Add it.")
	w.click(".findings summary")
	w.await(`!document.querySelector(".findings").open`)
	w.requireNoProblems()
}

// TestAllTerminalsAreStopped stops two commands at once.
func TestAllTerminalsAreStopped(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serveScript(t, background("go", "sleep 600"), background("go", "sleep 601"), object{"match": "go", "text": "Started."}).open(t)
	w.start(t.TempDir())
	w.send("go")
	w.ended("Started.")
	w.press("6", alt)
	w.await(`document.querySelectorAll(".terminal").length === 2`)
	w.clickText("Stop all…")
	w.clickIn("dialog .danger-button", "Stop 2")
	w.gone("dialog")
	w.seeText(".hint", "No command runs in the background")
	w.requireNoProblems()
}

// TestControlsOfTheMemory shows the memories of all folders, opens the thread of one, and leads to the settings.
func TestControlsOfTheMemory(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, t.TempDir(), "-c", "memory.summarize_on_prune=true").open(t)
	w.start(t.TempDir())
	w.say("The endpoint listens on port 9137.")
	w.say("another thing")
	w.send("/clear 1 ")
	w.seeText(".divider", "pruned")
	w.start(t.TempDir())
	w.press("5", alt)
	w.see(".hint")
	require.Zero(t, w.count(".memory"))
	w.choose(`select[aria-label="Memories to show"]`, "all")
	w.clickIn(".memory .fold-title", "endpoint")
	w.clickIn(".memory a", "From")
	w.seeText(".message", "another thing")
	w.requireNoProblems()

	w = serve(t, t.TempDir()).open(t)
	w.start(t.TempDir())
	w.press("5", alt)
	w.clickIn(".tab-panel .hint button", "Settings…")
	w.see("dialog .setting")
	w.requireNoProblems()
}

// TestControlsOfManyItems compacts by the button of the warning, and lists all items of a long edit.
func TestControlsOfManyItems(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := manyReports(t, "model_auto_compact_token_limit=19000")
	w.clickIn(".limit-warning button", "Compact…")
	w.closeDialog("Compact")
	w.menu("Edit the context", "Exclude a category")
	w.submit()
	w.clickIn(".footer .primary", "Apply")
	w.gone(".footer .primary")
	w.press("2", alt)
	w.click(`.history button[aria-label="Items of this edit: Several edits"]`)
	w.await(`document.querySelectorAll(".edit-items li").length === 51`)
	w.clickIn(".edit-items button", "Show 70 more")
	w.await(`document.querySelectorAll(".edit-items li").length === 120`)
	w.requireNoProblems()
}

// TestControlsOfARunInAFork changes what tools may do, takes a changed text back, and stops the run.
func TestControlsOfARunInAFork(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home := t.TempDir()
	run := func(command string) []object {
		return []object{{"name": "shell", "arguments": object{"command": command}}}
	}
	w := serve(t, home, "-c", "approval_policy=never", "-c", "sandbox_mode=danger-full-access",
		"-c", "model_providers.offline.script="+writeScript(t, home, object{"steps": []object{
			{"toolCalls": run("echo a told story")}, {"text": "The first answer."},
			{"toolCalls": run("echo once more")}, {"text": "Too late.", "delayMs": 60000}}})).open(t)
	w.start(t.TempDir())
	w.send("Tell the story.")
	w.ended("The first answer.")
	w.openPrompts()
	w.click(`.prompt-turns > li:last-child li:first-child .prompt-point-name`)
	w.clickIn(".prompt-head button", "Run again in a fork")
	w.seeText("#rerun-tools", "Commands only read files.")
	w.choose("dialog .field:nth-of-type(2) select", "workspace-write")
	w.seeText("#rerun-tools", "Commands change the files of the folder")
	w.clickIn(`.rerun-item button`, "Replace")
	w.fill(".rerun-text textarea", "Another story.")
	w.seeText(".rerun-items legend", "1 replaced")
	w.clickText("Back to the text that was sent")
	w.seeText(".rerun-items legend", "0 replaced")
	w.clickIn(".dialog-buttons button", "Run")
	fork := `section[aria-label="In the fork"]`
	w.clickIn(fork+" summary", "echo once more")
	w.await(`document.querySelector('` + fork + ` details').open`)
	w.clickIn(".dialog-buttons button", "Stop")
	w.seeText(fork+" dl", "interrupted")
	w.clickIn(".dialog-buttons button", "Open the fork")
	w.seeText(".top-title", "(again with offline)")
	w.requireNoProblems()
}
