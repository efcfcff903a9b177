package workbench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/sample"
)

// enabled waits until the open question accepts input.
func (w *workbench) enabled() {
	w.t.Helper()
	w.await(`document.querySelector("[data-answer=y]")?.disabled === false`)
}

// leaveFields moves the focus out of all fields.
func (w *workbench) leaveFields() {
	w.t.Helper()
	eval[bool](w, `(document.activeElement.blur(), true)`)
}

// TestDeclineHasAReason sends the reason to the turn of the question, so that the model gets it with the decline.
func TestDeclineHasAReason(t *testing.T) {
	t.Parallel()
	w := serveAsking(t,
		object{"match": "publish", "toolCalls": []object{{"name": "shell", "arguments": object{"command": "touch published"}}}},
		object{"match": "not on Fridays", "text": "I wait until Monday."},
	).open(t)
	folder := t.TempDir()
	w.start(folder)
	w.send("publish")
	w.enabled()
	w.accessible("question")
	w.fill(".question-reason input", "not on Fridays, y?")
	w.shot("question-reason")
	w.clickIn("[data-answer=n]", "Decline")
	w.gone(".question")
	w.seeText(".outcome", "declined")
	w.seeText(".message.user", "I declined the command: not on Fridays, y?")
	w.seeText(".message.agent", "I wait until Monday.")
	require.NoFileExists(t, filepath.Join(folder, "published"))
	w.requireNoProblems()
}

// TestQuestionSaysHowKeysAnswer has the keys in the card while a field has the focus, and takes them everywhere
// else. A key that is pressed twice does not answer the next question.
func TestQuestionSaysHowKeysAnswer(t *testing.T) {
	t.Parallel()
	two := []object{{"name": "shell", "arguments": object{"command": "touch one"}},
		{"name": "shell", "arguments": object{"command": "touch two"}}}
	w := serveAsking(t, object{"match": "both", "toolCalls": two}, object{"match": "both", "text": "Done."}).open(t)
	folder := t.TempDir()
	w.start(folder)
	w.send("both")
	w.enabled()
	w.await(`document.activeElement.matches(".composer textarea")`)
	w.seeText(".keys-typing", "Alt+Q, then Y, S, N or C")
	require.False(t, eval[bool](w, `document.querySelector(".keys-here").checkVisibility()`))
	w.shot("question-typing")
	w.write("y")
	w.seeText(".question-command", "touch one")
	w.clear()
	w.leaveFields()
	w.seeText(".keys-here", "Keys: Y, S, N or C")
	w.press("yy")
	w.seeText(".question-command", "touch two")
	w.enabled()
	w.press("n")
	w.seeText(".message.agent", "Done.")
	require.FileExists(t, filepath.Join(folder, "one"))
	require.NoFileExists(t, filepath.Join(folder, "two"))
	w.requireNoProblems()
}

// serveAsking starts a server that asks for each command, and whose model follows steps.
func serveAsking(t *testing.T, steps ...object) *server {
	t.Helper()
	home := t.TempDir()
	return serve(t, home, "-c", "approval_policy=untrusted", "-c", "sandbox_mode=danger-full-access",
		"-c", "model_providers.offline.script="+writeScript(t, home, object{"steps": steps}))
}

// TestQuestionSaysThatACommandFailed names the failure of a command in the sandbox, with its output.
func TestQuestionSaysThatACommandFailed(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	outside := filepath.Join(home, "outside")
	command := fmt.Sprintf("echo begin; echo text > %s", outside)
	w := serve(t, home, "-c", "approval_policy=on-request", "-c", "sandbox_mode=workspace-write",
		"-c", "model_providers.offline.script="+writeScript(t, home, object{"steps": []object{
			{"match": "go", "toolCalls": []object{{"name": "shell", "arguments": object{"command": command}}}},
			{"match": "go", "text": "Done."}}})).open(t)
	w.start(t.TempDir())
	w.send("go")
	w.seeText(".question h2", "The command failed. May it run again?")
	w.seeText(".question-failed", "ran in the sandbox and failed")
	w.seeText(".question-output", "begin")
	w.enabled()
	w.accessible("failed command")
	w.shot("question-failed")
	require.NoFileExists(t, outside)
	w.click("[data-answer=y]")
	w.seeText(".message.agent", "Done.")
	text, err := os.ReadFile(outside)
	require.NoError(t, err)
	require.Equal(t, "text\n", string(text))
	w.requireNoProblems()
}

// TestAlertsTellOfQuestionsAndTurns counts questions in the title of the tab, marks turns that ended while the user
// looked at something else, and shows notifications if the user wants them. They open their thread.
func TestAlertsTellOfQuestionsAndTurns(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serveAsking(t,
		object{"match": "ask", "toolCalls": []object{{"name": "shell", "arguments": object{"command": "touch asked"}}}},
		object{"match": "ask", "text": "Done."}).open(t)
	w.start(t.TempDir())
	require.Equal(t, "New thread – Workbench", eval[string](w, "document.title"))
	eval[bool](w, `(() => {
		window.alerts = [];
		window.Notification = class {
			static permission = "denied";
			static requestPermission = async () => Notification.permission;
			constructor(text, options) { alerts.push(this); this.line = text + ": " + options.body; }
			close() {}
		};
		document.hasFocus = () => false;
		return true;
	})()`)
	w.openSettings("Notifications")
	w.click(`.settings-panel input[type=checkbox]`)
	w.seeText(".settings-panel [role=alert]", "does not allow notifications")
	eval[bool](w, `(Notification.permission = "granted", true)`)
	w.click(`.settings-panel input[type=checkbox]`)
	w.await(`document.querySelector(".settings-panel input").checked`)
	w.accessible("notifications")
	w.shot("notifications")
	w.press("\x1b")
	w.gone("dialog")
	w.send("ask")
	w.enabled()
	w.await(`document.title === "(1) ask – Workbench"`)
	w.await(`window.alerts.some((a) => a.line === "Question: command: ask")`)
	w.click("[data-answer=y]")
	w.seeText(".message.agent", "Done.")
	w.await(`document.title === "✓ ask – Workbench"`)
	w.await(`window.alerts.at(-1).line === "The turn has ended: ask"`)
	eval[bool](w, `(location.hash = "", true)`)
	w.seeText(".empty", "No thread is open")
	eval[bool](w, `(window.alerts.at(-1).onclick(), window.dispatchEvent(new Event("focus")), true)`)
	w.seeText(".message.agent", "Done.")
	w.await(`document.title === "ask – Workbench"`)
	w.reload()
	w.openSettings("Notifications")
	w.see(".settings-panel input")
	w.requireNoProblems()
}
