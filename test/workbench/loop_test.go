package workbench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/sample"
)

// toolStep returns a step of the offline provider that calls a tool.
func toolStep(match, name string, arguments object) object {
	return object{"match": match, "toolCalls": []object{{"name": name, "arguments": arguments}}}
}

// planStep returns a step of the offline provider that sets the plan. The status of each step is a letter: c, i or
// p.
func planStep(match, statuses string) object {
	words := map[rune]string{'c': "completed", 'i': "in_progress", 'p': "pending"}
	var steps []object
	for i, s := range statuses {
		steps = append(steps, object{"step": fmt.Sprintf("Step %d <b>of</b> the plan", i+1), "status": words[s]})
	}
	return toolStep(match, "update_plan", object{"explanation": "Why so.", "plan": steps})
}

// TestPlanIsAPinnedChecklist shows the steps of the agent's plan above the message field, also after a reload, in
// the turn and after it. The next turn without a plan removes it, and a plan that is done leaves with its turn.
func TestPlanIsAPinnedChecklist(t *testing.T) {
	t.Parallel()
	w := serveScript(t, planStep("first", "cip"), toolStep("first", "shell", object{"command": "touch started; while [ ! -e go ]; do sleep 0.05; done"}),
		object{"match": "first", "text": "Half."}, object{"match": "second", "text": "No plan."},
		planStep("third", "ip"), planStep("third", "cc"), object{"match": "third", "text": "All done."}).open(t)
	folder := t.TempDir()
	w.start(folder)
	w.send("first")
	w.seeText(".agent-plan-head", "1 of 3 done")
	w.seeText(".agent-plan .step.inProgress", "Step 2 <b>of</b> the plan")
	w.seeText(".activity", "Running a command · ")
	w.accessible("plan of the agent")
	w.shot("plan-running")
	w.reload()
	w.seeText(".agent-plan .step.completed", "Step 1")
	w.seeText(".activity", "Working · ")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "go"), nil, 0o600))
	w.ended("Half.")
	w.see(".agent-plan .step.pending")
	w.reload()
	w.see(".agent-plan .step.pending")
	w.clickIn(".agent-plan-head", "Plan")
	w.gone(".agent-plan .step")
	w.seeText(".agent-plan-head", "Step 2")
	w.send("second")
	w.ended("No plan.")
	w.gone(".agent-plan")
	w.send("third")
	w.ended("All done.")
	w.gone(".agent-plan")
	w.reload()
	w.seeText(".message.agent", "All done.")
	w.see(".context-item")
	require.Equal(t, 0, w.count(".agent-plan"))
	w.requireNoProblems()
}

// TestThinkingShowsALifeSign counts the time and the streamed tokens while the model reasons.
func TestThinkingShowsALifeSign(t *testing.T) {
	t.Parallel()
	w := serveScript(t, object{"match": "go", "delayMs": 6000, "reasoning": "All work and no play makes a dull page. ", "deltas": []string{"One ", "two."}, "gapMs": 1200}).open(t)
	w.start(t.TempDir())
	w.send("go")
	w.seeText(".activity", "Thinking · ")
	w.await(`/Thinking · [2-9] s/.test(document.querySelector(".activity")?.textContent ?? "")`)
	w.seeText(".activity", "Writing · ")
	w.seeText(".activity", "about ")
	w.seeText(".message.agent", "One two.")
	w.gone(".activity")
	w.requireNoProblems()
}

// TestRetriesAndFailuresGoOn names the attempt and the wait of a request that is sent again. The last turn that
// failed has a button that asks the model again, with the message and the work of the turn.
func TestRetriesAndFailuresGoOn(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home := t.TempDir()
	script := writeScript(t, home, object{"steps": []object{
		{"match": "limit", "error": object{"status": 429, "message": "slow <i>down</i>", "retryAfterMs": 4000}, "text": "At last."},
		toolStep("fails", "shell", object{"command": "echo worked"}),
		{"match": "fails", "error": object{"status": 400, "message": "refused"}, "text": "Continued."},
	}})
	w := serve(t, home, "-c", "approval_policy=never", "-c", "sandbox_mode=danger-full-access", "-c", "model_providers.offline.script="+script).open(t)
	w.start(t.TempDir())
	w.send("limit")
	w.seeText(".banner.warning .attempt", "Attempt 1 of ")
	w.seeText(".banner.warning .attempt", "waits ")
	w.seeText(".banner.warning", "slow <i>down</i>")
	w.shot("retry-attempt")
	w.ended("At last.")
	w.gone(".attempt")
	w.send("fails")
	w.seeText(".turn-end.failed", "refused")
	w.gone(".composer .stop")
	w.seeText(".turn-end button", "Retry")
	w.accessible("failed turn")
	w.shot("retry-button")
	w.clickIn(".turn-end button", "Retry")
	w.seeText(".message.agent", "Continued.")
	w.gone(".composer .stop")
	require.Equal(t, 2, w.count(".message.user"))
	require.Equal(t, 0, w.count(".turn-end button"))
	w.requireNoProblems()
}

// TestOutputFollowsItsEndAndOpensToFullSize scrolls with a running command unless the user has scrolled up, and
// opens the whole output in a dialog. Addresses are links, hostile ones are not.
func TestOutputFollowsItsEndAndOpensToFullSize(t *testing.T) {
	t.Parallel()
	command := "seq 1 200; echo \"see https://example.com/a?b=1. and javascript:alert(1)\"; touch ready; " +
		"while [ ! -e go ]; do sleep 0.05; done; seq 201 400; while [ ! -e end ]; do sleep 0.05; done; echo last"
	w := serveScript(t, toolStep("go", "shell", object{"command": command}),
		object{"match": "go", "text": "Done."}).open(t)
	folder := t.TempDir()
	w.start(folder)
	w.send("go")
	atEnd := `(() => { const o = document.querySelector(".command .output"); return o && o.scrollHeight > o.clientHeight && o.scrollHeight - o.scrollTop - o.clientHeight < 3; })()`
	w.seeText(".command .output", "javascript:alert(1)")
	w.await(atEnd)
	require.Equal(t, []string{"https://example.com/a?b=1"}, eval[[]string](w, `[...document.querySelectorAll(".output a")].map((a) => a.getAttribute("href"))`))
	require.Equal(t, "noopener noreferrer _blank", eval[string](w, `(() => { const a = document.querySelector(".output a"); return a.rel + " " + a.target; })()`))
	eval[bool](w, `(document.querySelector(".command .output").scrollTo(0, 0), true)`)
	eval[bool](w, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "go"), nil, 0o600))
	w.seeText(".command .output", "400")
	require.Zero(t, eval[int](w, `document.querySelector(".command .output").scrollTop`))
	w.clickText("Full size")
	w.seeText("dialog .output.whole", "400")
	w.accessible("whole output")
	w.shot("output-full")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "end"), nil, 0o600))
	w.seeText("dialog .output.whole", "last")
	w.press("\x1b")
	w.gone("dialog")
	w.ended("Done.")
	w.requireNoProblems()
}

// TestPathsOpen opens a path in the changes of the thread, or else read-only at its line. Paths that lead out of
// the folder of the thread are not opened.
func TestPathsOpen(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{"src/main.go": "package main\n\nfunc main() {}\n", "README.md": "one\ntwo\n<b>three</b>\n"})
	w := serveScript(t, patch("go", "*** Update File: src/main.go\n@@\n-func main() {}\n+func main() { run() }\n"), object{"match": "go",
		"text": "See `src/main.go:3`, [the text](README.md#L3), `/etc/passwd`, `fmt.Println`, `../secret.txt` and [bad](javascript:alert(1))."}).open(t)
	w.start(dir)
	w.send("go")
	w.ended("See")
	require.Equal(t, []string{"src/main.go:3", "the text", "/etc/passwd"},
		eval[[]string](w, `[...document.querySelectorAll(".message.agent .pathlink")].map((e) => e.textContent)`))
	w.clickIn(".pathlink", "src/main.go:3")
	w.seeText(".diff-row.add", "func main() { run() }")
	w.await(`document.activeElement.matches(".diff-row")`)
	w.clickIn(".pathlink", "the text")
	w.seeText("dialog .file-view .marked", "<b>three</b>")
	w.accessible("file")
	w.shot("file-view")
	w.press("\x1b")
	w.gone("dialog")
	w.clickIn(".pathlink", "/etc/passwd")
	w.seeText(".banner.warning", "/etc/passwd is not in the folder of the thread")
	require.Equal(t, 0, w.count("dialog"))
	w.requireNoProblems()
}

// TestJumpToTheNewest counts the items that came while the user looked at earlier ones.
func TestJumpToTheNewest(t *testing.T) {
	t.Parallel()
	slow := "seq 1 60; while [ ! -e go ]; do sleep 0.05; done; rm go"
	w := serveScript(t, toolStep("one", "shell", object{"command": "seq 1 60"}), object{"match": "one", "text": strings.Repeat("A line.\n\n", 60)},
		toolStep("two", "shell", object{"command": slow}), object{"match": "two", "text": "Here."}).open(t)
	folder := t.TempDir()
	w.start(folder)
	w.send("one")
	w.ended("A line.")
	w.send("two")
	w.seeText(".outcome", "running")
	require.Equal(t, 0, w.count(".to-newest"))
	w.await(`(document.querySelector(".timeline").scrollTo(0, 0), document.querySelector(".to-newest") !== null)`)
	w.seeText(".to-newest", "Jump to the newest")
	w.accessible("scrolled up")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "go"), nil, 0o600))
	w.seeText(".to-newest", "1 new item: jump to the newest")
	w.shot("newest")
	w.click(".to-newest")
	w.gone(".to-newest")
	w.atEnd()
	w.seeText(".message.agent", "Here.")
	w.requireNoProblems()
}

// TestFilesAreDropped attaches an image, adds the path of a file of the folder, and says that another one is only a
// name.
func TestFilesAreDropped(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{"src/main.go": "package main\n", "a/same.txt": "", "b/same.txt": ""})
	w := serve(t, t.TempDir()).open(t)
	w.start(dir)
	w.write("look at")
	eval[bool](w, `(() => {
		const data = new DataTransfer();
		data.items.add(new File([Uint8Array.from(atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="), (c) => c.charCodeAt(0))], "dot.png", {type: "image/png"}));
		data.items.add(new File(["x"], "main.go", {type: "text/plain"}));
		data.items.add(new File(["x"], "same.txt", {type: "text/plain"}));
		const form = document.querySelector(".composer");
		const over = new DragEvent("dragover", {dataTransfer: data, bubbles: true, cancelable: true});
		form.dispatchEvent(over);
		return over.defaultPrevented && form.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true})) === false;
	})()`)
	w.see(".attachment img")
	w.await(`document.querySelector(".composer textarea").value === "look at src/main.go same.txt "`)
	w.seeText(".banner.warning", "The page has only the name of same.txt")
	require.Equal(t, 0, w.count(".composer.drop"))
	w.accessible("dropped files")
	w.shot("dropped")
	w.requireNoProblems()
}

// atEnd waits until the conversation is at its end.
func (w *workbench) atEnd() {
	w.t.Helper()
	w.await(`(({scrollHeight, scrollTop, clientHeight}) => scrollHeight - scrollTop - clientHeight < 5)(
		document.querySelector(".timeline"))`)
}
