package workbench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSlashWordsAreCommandsOrRefused shows what /context returns, refuses a word that is no command, and sends
// paths and what begins with a space.
func TestSlashWordsAreCommandsOrRefused(t *testing.T) {
	t.Parallel()
	w := serve(t, t.TempDir()).open(t)
	w.start(t.TempDir())
	w.send("hello")
	w.seeText(".message.agent", "Hello!")
	w.gone(".composer .stop")
	w.send("/context ")
	w.seeText(".banner.done", "The next request has")
	w.seeText(".banner.done", "By category:")
	require.Equal(t, 1, w.count(".message.user"))
	w.write("/contxt")
	eval[bool](w, enter)
	w.seeText(".banner.error", "/contxt is no command, and nothing was sent")
	require.Equal(t, "/contxt", eval[string](w, `document.querySelector(".composer textarea").value`))
	require.Equal(t, 1, w.count(".message.user"))
	w.send(" /contxt")
	w.seeText(".message.user", "/contxt")
	w.gone(".composer .stop")
	w.send("/etc/hosts is a file")
	w.seeText(".message.user", "/etc/hosts is a file")
	w.requireNoProblems()
}

// enter presses Enter in the composer.
const enter = `(document.querySelector(".composer textarea").dispatchEvent(
	new KeyboardEvent("keydown", {key: "Enter", bubbles: true, cancelable: true})), true)`

// TestControlsShowTheirValueAfterSending has the policy and the mode of the turn in the controls, also for the next
// turn.
func TestControlsShowTheirValueAfterSending(t *testing.T) {
	t.Parallel()
	w := serve(t, t.TempDir(), "-c", "approval_policy=untrusted").open(t)
	w.start(t.TempDir())
	policy := `select[aria-label="Approval policy of the next turn"]`
	shown := `document.querySelector('` + policy + `').selectedOptions[0].text`
	w.await(shown + ` === "ask for each command"`)
	effort := `select[aria-label="Effort of the next turn"]`
	low := eval[string](w, `document.querySelector('`+effort+`').options[1].value`)
	w.choose(policy, "never")
	w.choose(effort, low)
	w.click(`.options input[type=checkbox]`)
	w.send("hello")
	w.seeText(".message.agent", "Hello!")
	w.see(policy)
	w.await(shown + ` === "never ask"`)
	w.await(`document.querySelector('` + effort + `').selectedOptions[0]?.text === "` + low + ` effort"`)
	w.await(`document.querySelector(".options input[type=checkbox]").checked`)
	w.seeText(".permissions-facts", "never ask")
	w.send("again")
	w.await(`document.querySelectorAll(".message.agent").length === 2`)
	w.see(policy)
	w.await(shown + ` === "never ask"`)
	w.requireNoProblems()
}
