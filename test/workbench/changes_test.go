package workbench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"appserver/test/sample"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

type object = map[string]any

// repository makes a folder with a git repository and some files.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "start"}} {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	return dir
}

// patch returns a step of the offline provider that changes files.
func patch(match, text string) object {
	return object{"match": match, "toolCalls": []object{
		{"name": "apply_patch", "arguments": object{"input": "*** Begin Patch\n" + text + "*** End Patch\n"}}}}
}

// serveScript starts a server whose model follows steps and needs no approval.
func serveScript(t *testing.T, steps ...object) *server {
	t.Helper()
	home := t.TempDir()
	return serve(t, home, "-c", "approval_policy=never", "-c", "sandbox_mode=danger-full-access",
		"-c", "model_providers.offline.script="+writeScript(t, home, object{"steps": steps}))
}

// edited opens a thread in a repository whose two turns have changed files.
func edited(t *testing.T) (w *workbench, dir string) {
	t.Helper()
	dir = repository(t, map[string]string{"src/main.go": "package main\n\nfunc main() {}\n", "README.md": "# Demo\n",
		"logo.png": "\x89PNG\x00\x01"})
	w = serveScript(t,
		patch("first", "*** Update File: src/main.go\n@@\n-func main() {}\n+func main() { run() }\n*** Add File: src/run.go\n+package main\n"),
		object{"match": "first", "text": "One."},
		patch("second", "*** Update File: README.md\n@@\n # Demo\n+A text.\n"), object{"match": "second", "text": "Two."},
	).open(t)
	w.start(dir)
	w.send("first")
	w.seeText(".message.agent", "One.")
	w.gone(".composer .stop")
	w.send("second")
	w.seeText(".message.agent", "Two.")
	w.gone(".composer .stop")
	return w, dir
}

// scope chooses the changes whose name has a text.
func (w *workbench) scope(name string) {
	w.t.Helper()
	w.await(fmt.Sprintf(`(() => {
		const s = document.querySelector(".side-head select");
		const o = [...(s?.options ?? [])].find((o) => (o.closest("optgroup")?.label ?? "") + ":" + o.text === %q);
		if (!o) return false;
		s.value = o.value;
		return s.dispatchEvent(new Event("change", {bubbles: true}));
	})()`, name))
}

// TestChangesAreShownByScope shows the files of the last turn, of one turn, of the thread, and since a
// checkpoint. A file opens to its lines, unified and side by side.
func TestChangesAreShownByScope(t *testing.T) {
	t.Parallel()
	w, dir := edited(t)
	w.press("3", alt)
	w.seeText(".tree-row", "README.md")
	require.Equal(t, 1, w.count(".tree-row.file"))
	w.scope(":Whole thread")
	w.seeText(".side-note", "3 files")
	w.seeText(".tree-row.folder", "src/")
	w.clickIn(".tree-row.file", "main.go")
	w.seeText(".diff-row.add", "func main() { run() }")
	w.seeText(".diff-row.del", "func main() {}")
	w.clickText("Split")
	w.seeText(".diff-row.split .half.add", "run()")
	w.clickText("Unified")
	w.gone(".diff-row.split")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "logo.png"), []byte("\x89PNG\x00\x02"), 0o600))
	w.scope("Turn:first")
	w.seeText(".side-note", "2 files")
	w.scope("Since the checkpoint before:second")
	w.seeText(".side-note", "2 files")
	w.seeText(".tree-row .badge", "binary")
	w.clickIn(".tree-row.file", "logo.png")
	w.seeText(".diff-note", "binary")
	w.requireNoProblems()
}

// TestChangesAreReadByKeys moves through the tree, opens a file and closes its folder by keys.
func TestChangesAreReadByKeys(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w, _ := edited(t)
	w.press("3", alt)
	w.scope(":Whole thread")
	w.seeText(".side-note", "3 files")
	eval[bool](w, `(document.querySelector(".tree-row").focus(), true)`)
	w.press(kb.ArrowDown)
	w.press("\r")
	w.see(".diff-row.hunk")
	w.press(kb.ArrowDown)
	w.await(`document.activeElement.classList.contains("hunk")`)
	w.press("k")
	w.press("k")
	w.await(`document.activeElement.classList.contains("folder")`)
	w.press(kb.ArrowLeft)
	w.gone(".diff-row")
	w.await(`document.querySelectorAll(".tree-row").length === 2`)
	w.press(kb.ArrowRight)
	w.see(".diff-row")
	w.requireNoProblems()
}

// TestChangesAppearWhileTheTurnRuns shows the changes of a turn before it ends, and those of a thread
// without any as empty.
func TestChangesAppearWhileTheTurnRuns(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	dir := repository(t, map[string]string{"a.txt": "a\n"})
	w := serveScript(t, patch("go", "*** Update File: a.txt\n@@\n a\n+b\n"),
		object{"match": "go", "toolCalls": []object{{"name": "shell", "arguments": object{"command": "sleep 600"}}}}).open(t)
	w.start(dir)
	w.press("3", alt)
	w.seeText(".hint", "No changes yet")
	w.send("go")
	w.seeText(".tree-row", "a.txt")
	w.seeText(".side-note", "the turn is running")
	w.clickText("Stop")
	w.gone(".composer .stop")
	w.seeText(".tree-row", "a.txt")
	w.offline(true)
	w.seeText(".banner", "connection")
	w.seeText(".tree-row", "a.txt")
	w.requireNoProblems()
}

// TestLongDiffsAreFolded opens a file of 5,000 changed lines: 400 are shown at first, few rows are mounted.
func TestLongDiffsAreFolded(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	dir := repository(t, map[string]string{"a.txt": "a\n"})
	command := "seq 1 5000 | sed 's/^/line /' > long.txt"
	w := serveScript(t, object{"match": "go", "toolCalls": []object{{"name": "shell", "arguments": object{"command": command}}}},
		object{"match": "go", "text": "Done."}).open(t)
	w.start(dir)
	w.send("go")
	w.seeText(".message.agent", "Done.")
	w.press("3", alt)
	w.seeText(".tree-row", "+5,000")
	w.clickIn(".tree-row", "long.txt")
	w.await(`(document.querySelector(".diff-list").scrollTo(0, 1e7), document.querySelector(".diff-more") !== null)`)
	w.clickIn(".diff-more button", "Show 4,601 more lines")
	w.await(`(document.querySelector(".diff-list").scrollTo(0, 1e7), document.querySelector(".diff-list").textContent.includes("line 5000"))`)
	require.LessOrEqual(t, w.count(".diff-list .row"), 2*maxRows)
	w.requireNoProblems()
}

// TestChangesNeedGit states the cause if the server could not capture files, and offers to try again.
func TestChangesNeedGit(t *testing.T) {
	sample.Long(t)
	t.Setenv("PATH", withoutGit(t))
	w := serveScript(t, patch("go", "*** Add File: a.txt\n+a\n"), object{"match": "go", "text": "Done."}).open(t)
	w.start(t.TempDir())
	w.send("go")
	w.seeText(".message.agent", "Done.")
	w.press("3", alt)
	w.seeText(".tab-panel [role=alert]", "git 2.36")
	w.seeText(".tab-panel button", "Try again")
	w.requireNoProblems()
}

// withoutGit returns a search path with the programs of the machine except git.
func withoutGit(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, from := range strings.Split(os.Getenv("PATH"), ":") {
		entries, _ := os.ReadDir(from)
		for _, e := range entries {
			if e.Name() != "git" {
				_ = os.Symlink(filepath.Join(from, e.Name()), filepath.Join(dir, e.Name()))
			}
		}
	}
	return dir
}
