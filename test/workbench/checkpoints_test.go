package workbench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"appserver/test/sample"

	"github.com/stretchr/testify/require"
)

// read returns the text of a file.
func read(t *testing.T, elements ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elements...))
	require.NoError(t, err)
	return string(text)
}

// openRevert opens the dialog that reverts to the checkpoint before a message.
func (w *workbench) openRevert(message string) {
	w.t.Helper()
	w.await(fmt.Sprintf(`(() => {
		const row = [...document.querySelectorAll(".point")].find((e) => e.textContent.includes(%q));
		const b = row?.querySelector("button:not(:disabled)");
		b?.focus();
		b?.click();
		return b != null;
	})()`, message))
	w.see("dialog")
}

// TestRevertIsShownDoneAndUndone shows what a revert would do before it is done, reverts files and
// conversation, and undoes the revert of the files.
func TestRevertIsShownDoneAndUndone(t *testing.T) {
	t.Parallel()
	w, dir := edited(t)
	w.press("4", alt)
	w.openRevert("second")
	w.seeText(".revert-effect", "README.md")
	w.seeText(".revert-effect", "1 turn leaves the conversation")
	require.Equal(t, "# Demo\nA text.\n", read(t, dir, "README.md"))
	w.clickIn("dialog .option", "Files only")
	w.seeText("dialog .danger-button", "Revert 1 file")
	w.await(`!document.querySelector(".revert-effect").textContent.includes("conversation")`)
	w.clickIn("dialog .option", "Files and conversation")
	w.seeText("dialog .danger-button", "Revert 1 file, remove 1 turn")
	w.clickIn(".revert-effect summary", "README.md")
	w.seeText(".revert-effect .diff-row.del", "A text.")
	w.clickIn("dialog .danger-button", "Revert 1 file")
	w.gone("dialog")
	w.seeText(".banner.done", "Reverted 1 file, removed 1 turn")
	require.Equal(t, "# Demo\n", read(t, dir, "README.md"))
	w.await(`![...document.querySelectorAll(".message.agent")].some((e) => e.textContent.includes("Two."))`)
	w.clickIn(".banner.done button", "Undo this revert")
	w.seeText(".revert-effect .counts", "+1")
	w.clickIn("dialog .danger-button", "Revert 1 file")
	w.gone("dialog")
	w.seeText(".banner.done", "Reverted 1 file.")
	require.Equal(t, "# Demo\nA text.\n", read(t, dir, "README.md"))
	w.seeText(".point", "Undo this revert")
	w.requireNoProblems()
}

// TestConflictsOfARevertAreListed lists the files that something else has changed, and reverts nothing.
func TestConflictsOfARevertAreListed(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w, dir := edited(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "README.md"), []byte("mine\n"), 0o600))
	w.press("4", alt)
	w.openRevert("first")
	w.seeText(".conflict", filepath.Join(dir, "README.md"))
	w.await(`document.querySelector("dialog .danger-button").disabled`)
	w.accessible("conflict")
	w.clickIn("dialog .option", "Conversation only")
	w.seeText(".revert-effect", "2 turns leave the conversation")
	w.clickIn("dialog button", "Cancel")
	w.gone("dialog")
	require.Equal(t, "mine\n", read(t, dir, "README.md"))
	require.Equal(t, "package main\n\nfunc main() { run() }\n", read(t, dir, "src/main.go"))
	w.requireNoProblems()
}

// TestMessagesRevertTheirFiles opens the preview of a revert by the menu of a message.
func TestMessagesRevertTheirFiles(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w, dir := edited(t)
	w.menu("Item actions", "Revert files to here")
	w.seeText(".revert-effect", "src/run.go")
	w.clickIn("dialog .option", "Files only")
	w.clickIn("dialog .danger-button", "Revert 3 files")
	w.gone("dialog")
	require.NoFileExists(t, filepath.Join(dir, "src/run.go"))
	require.Equal(t, "# Demo\n", read(t, dir, "README.md"))
	w.press("4", alt)
	w.seeText(".banner.done", "Reverted 3 files.")
	w.requireNoProblems()
}

// TestFailedComparisonsAreTriedAgain states why git could not compare the files. The page compares them when
// the cause is gone.
func TestFailedComparisonsAreTriedAgain(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w, dir := edited(t)
	require.NoError(t, os.Rename(dir, dir+"-away"))
	w.press("3", alt)
	w.scope("Since the checkpoint before:second")
	w.seeText(".tab-panel [role=alert]", "Git could not compare the files")
	w.accessible("failed")
	require.NoError(t, os.Rename(dir+"-away", dir))
	w.clickIn(".tab-panel button", "Try again")
	w.seeText(".tree-row", "README.md")
}

// TestCheckpointsCanBeOff states that checkpoints are turned off, and leads to the settings.
func TestCheckpointsCanBeOff(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, t.TempDir(), "-c", "checkpoints.enabled=false").open(t)
	w.start(t.TempDir())
	w.press("4", alt)
	w.seeText(".tab-panel .hint", "turned off")
	w.accessible("checkpoints off")
	w.clickIn(".tab-panel button", "Settings")
	w.see("dialog .setting")
	w.press("\x1b")
	w.gone("dialog")
	w.press("3", alt)
	w.seeText(".hint", "No changes yet")
	w.accessible("empty")
	w.requireNoProblems()
}

// TestCheckpointsAreCompared compares two checkpoints, and one with the files of now.
func TestCheckpointsAreCompared(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w, _ := edited(t)
	w.press("4", alt)
	w.await(`document.querySelectorAll(".point input").length === 2`)
	w.click(".point:nth-child(1) input")
	w.click(".point:nth-child(2) input")
	w.clickText("Compare the two")
	w.seeText(".side-note", "2 files")
	w.seeText(".tree-row", "run.go")
	w.press("4", alt)
	w.click(".point:nth-child(1) input")
	w.clickText("Compare with now")
	w.seeText(".side-note", "1 file")
	w.seeText(".tree-row", "README.md")
	w.requireNoProblems()
}

// TestArchivedThreadsKeepTheirCheckpoints lists the checkpoints of an archived thread, without a revert.
func TestArchivedThreadsKeepTheirCheckpoints(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w, _ := edited(t)
	w.menu("Actions for first", "Archive")
	w.gone(".thread-row")
	w.clickText("Archived")
	w.clickText("first")
	w.seeText(".banner", "archived")
	w.press("4", alt)
	w.await(`document.querySelectorAll(".point button:disabled").length === 2`)
	w.press("3", alt)
	w.seeText(".tree-row", "README.md")
	w.requireNoProblems()
}

// TestFindingsOfAReviewLeadToTheirLines reviews the uncommitted changes. A finding opens its file at its
// line, also after a reload.
func TestFindingsOfAReviewLeadToTheirLines(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n"})
	result := fmt.Sprintf(`{"findings":[{"title":"[P1] Nine is missing","body":"Add it.","confidence_score":0.9,"priority":1,
		"code_location":{"absolute_file_path":%q,"line_range":{"start":8,"end":9}}}],"overall_correctness":"patch is incorrect",
		"overall_explanation":"Almost.","overall_confidence_score":0.9}`, filepath.Join(dir, "a.txt"))
	w := serveScript(t, patch("go", "*** Update File: a.txt\n@@\n 7\n-8\n+eight\n"), object{"match": "go", "text": "Done."},
		object{"match": "untracked", "text": result}).open(t)
	w.start(dir)
	w.send("go")
	w.seeText(".message.agent", "Done.")
	w.gone(".composer .stop")
	w.press("3", alt)
	w.clickText("Review…")
	w.see("dialog")
	w.clickIn("dialog .option", "A commit")
	w.await(`document.querySelector("dialog .primary").disabled`)
	w.clickIn("dialog .option", "Uncommitted changes")
	w.clickIn("dialog .primary", "Start")
	w.gone("dialog")
	w.seeText(".findings summary", "1 finding")
	w.seeText(".finding code", "a.txt:8-9")
	w.clickIn(".finding", "Nine is missing")
	w.await(`document.activeElement.matches(".diff-row.add") && document.activeElement.textContent.includes("eight")`)
	w.reload()
	w.see(".timeline article")
	w.press("3", alt)
	w.seeText(".findings", "Add it.")
	w.requireNoProblems()
}
