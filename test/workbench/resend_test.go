package workbench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// resend opens the dialog that edits a message that is shown, and replaces its text.
func (w *workbench) resend(message, text string) {
	w.t.Helper()
	w.await(`(() => {
		const m = [...document.querySelectorAll(".message.user")].find((e) => e.textContent.includes("` + message + `"));
		m?.querySelector("button[aria-label='Item actions']")?.click();
		return m !== undefined;
	})()`)
	w.clickIn("[role=menuitem]", "Edit and send again")
	w.await(`document.querySelector("dialog textarea")?.value === "` + message + `"`)
	w.fill("dialog textarea", text)
}

// TestMessageIsEditedAndSentAgain sends an edited message in a fork, which has the turns before it, and in this
// thread, where the turn and the later ones leave. The dialog names them first.
func TestMessageIsEditedAndSentAgain(t *testing.T) {
	t.Parallel()
	w := serve(t, t.TempDir()).open(t)
	w.start(t.TempDir())
	for _, text := range []string{"first", "second", "third"} {
		w.send(text)
		w.ended(`You said: "` + text + `"`)
	}
	original := eval[string](w, "location.hash")
	w.resend("second", "changed")
	w.seeText("dialog", "This thread stays as it is")
	w.accessible("edit and send again")
	w.clickIn("dialog .primary", "Send in a fork")
	w.gone("dialog")
	w.ended(`You said: "changed"`)
	require.NotEqual(t, original, eval[string](w, "location.hash"))
	w.awaitMessages("first", "changed")
	eval[bool](w, `(location.hash = "`+original+`", true)`)
	w.ended(`You said: "third"`)
	w.awaitMessages("first", "second", "third")
	w.resend("second", "other")
	w.clickIn("dialog .option", "In this thread")
	w.seeText("dialog", "2 turns leave the conversation")
	w.seeText("dialog .removed-turns", "third")
	w.shot("resend")
	w.clickIn("dialog .danger-button", "Remove 2 turns and send")
	w.gone("dialog")
	w.ended(`You said: "other"`)
	w.awaitMessages("first", "other")
	require.Equal(t, original, eval[string](w, "location.hash"))
	w.requireNoProblems()
}

// awaitMessages waits until these messages of the user are shown.
func (w *workbench) awaitMessages(texts ...string) {
	w.t.Helper()
	w.await(fmt.Sprintf(`[...document.querySelectorAll(".message.user p")].map((e) => e.textContent).join("|") === %q`,
		strings.Join(texts, "|")))
}

// TestCommentsOnLinesAreOneMessage writes comments by a click and by keys, changes and removes one, and sends the
// others together with their places and lines.
func TestCommentsOnLinesAreOneMessage(t *testing.T) {
	t.Parallel()
	w, _ := edited(t)
	w.press("3", alt)
	w.scope(":Whole thread")
	w.clickIn(".tree-row.file", "main.go")
	w.clickIn(".diff-row.add", "run()")
	w.seeText("dialog h2", "Comment on src/main.go:3")
	w.fill("dialog textarea", "Call it start.")
	w.accessible("comment")
	w.clickIn("dialog .primary", "Keep the comment")
	w.gone("dialog")
	w.see(".diff-row.commented")
	w.leaveFields()
	eval[bool](w, `([...document.querySelectorAll(".tree-row.file")].find((e) => e.textContent.includes("main.go")).focus(), true)`)
	w.press(kb.ArrowDown)
	w.press(kb.ArrowDown, shift)
	w.press("c")
	w.seeText("dialog h2", "Comment on src/main.go:1")
	w.fill("dialog textarea", "To be removed")
	w.clickIn("dialog .primary", "Keep the comment")
	w.gone("dialog")
	w.seeText(".comments .primary", "Send 2 comments")
	w.accessible("comments")
	w.shot("comments")
	w.click(`button[aria-label="Remove the comment on src/main.go:1"]`)
	w.clickIn(".comments .pathlink", "src/main.go:3")
	w.fill("dialog textarea", "Call it begin.")
	w.clickIn("dialog .primary", "Keep the comment")
	w.gone("dialog")
	w.clickIn(".comments .primary", "Send 1 comment")
	w.gone(".comments")
	w.seeText(".message.user", "Comments on the changes:\n\nsrc/main.go:3, added line\n> func main() { run() }\n\nCall it begin.")
	w.requireNoProblems()
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	require.NoError(t, err, string(out))
	return strings.TrimRight(string(out), "\n")
}

// TestChangesAreCommitted commits chosen files with a message that the agent drafts, here and in a worktree of its
// own. Names of files are no options or patterns, hooks do not run, and other changes stay.
func TestChangesAreCommitted(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{"a.txt": "a\n", "other.txt": "other\n"})
	for _, c := range [][2]string{{"user.name", "a"}, {"user.email", "a@example.com"}} {
		gitIn(t, dir, "config", c[0], c[1])
	}
	hook := filepath.Join(dir, ".git", "hooks", "pre-commit")
	require.NoError(t, os.MkdirAll(filepath.Dir(hook), 0o755))
	require.NoError(t, os.WriteFile(hook, []byte("#!/bin/sh\ntouch hooked\nexit 1\n"), 0o755))
	w := serveScript(t, patch("go", "*** Update File: a.txt\n@@\n a\n+b\n*** Add File: --all\n+x\n"),
		object{"match": "go", "text": "Done."},
		object{"match": "message of a git commit", "text": "```\nAdd a line\n\nIt was missing.\n```"}).open(t)
	w.start(dir)
	w.send("go")
	w.ended("Done.")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other.txt"), []byte("mine\n"), 0o600))
	w.press("3", alt)
	w.clickText("Commit…")
	w.seeText("dialog .commit-files", "--all")
	w.await(`document.querySelectorAll(".commit-files input:checked").length === 2`)
	require.Equal(t, []string{"a.txt", "--all"}, eval[[]string](w,
		`[...document.querySelectorAll(".commit-files input:checked")].map((e) => e.parentElement.querySelector("code").textContent)`))
	w.clickText("Draft by the agent")
	w.await(`document.querySelector("dialog textarea").value === "Add a line\n\nIt was missing."`)
	w.accessible("commit")
	w.shot("commit")
	w.clickIn("dialog .option", "In a worktree of its own")
	w.fill("dialog input[type=text]", "topic/one")
	w.clickIn("dialog .primary", "Commit 2 files")
	w.gone("dialog")
	w.seeText(".banner.done", "on the branch topic/one, in the worktree "+dir+"-topic-one")
	t.Cleanup(func() { _ = os.RemoveAll(dir + "-topic-one") })
	require.Equal(t, "Add a line\n\nIt was missing.", gitIn(t, dir, "log", "-1", "--format=%B", "topic/one"))
	require.Equal(t, "--all\na.txt", gitIn(t, dir, "diff", "--name-only", "HEAD", "topic/one"))
	require.FileExists(t, filepath.Join(dir+"-topic-one", "--all"))
	require.Equal(t, "start", gitIn(t, dir, "log", "-1", "--format=%s"))
	require.Empty(t, gitIn(t, dir, "diff", "--cached", "--name-only"))
	w.clickText("Commit…")
	w.fill("dialog textarea", "-m by hand")
	w.clickIn("dialog .primary", "Commit 2 files")
	w.gone("dialog")
	w.seeText(".banner.done", "Committed 2 files as")
	require.Equal(t, "-m by hand", gitIn(t, dir, "log", "-1", "--format=%s"))
	require.Equal(t, " M other.txt", gitIn(t, dir, "status", "--porcelain"))
	require.NoFileExists(t, filepath.Join(dir, "hooked"))
	require.Equal(t, 1, w.count(".thread-row"))
	w.requireNoProblems()
}
