package workbench

import (
	"os"
	"path/filepath"
	"testing"

	"appserver/test/sample"

	"github.com/stretchr/testify/require"
)

// TestConversationIsShown starts a thread by keys, and shows messages, Markdown, commands and prices.
func TestConversationIsShown(t *testing.T) {
	t.Parallel()
	w := serve(t, t.TempDir()).open(t)
	w.start(t.TempDir())
	w.send("Hello, **what** can you do?")
	w.seeText(".message.agent", `Hello! You said: "Hello, what can you do?"`)
	w.see(".message.agent strong")
	w.send("run: printf '\\033[31mred\\033[0m\\n'")
	w.seeText(".fold.command code", "printf")
	w.seeText(".outcome", "exit 0")
	w.unfold("printf")
	w.seeText("pre.output", "red")
	w.see("pre.output span")
	w.seeText(".context-item", "Hello! You said")
	w.seeText(".top-title", "Hello, **what** can you do?")
	w.requireNoProblems()
}

// TestConversationSurvivesAReload shows the same conversation, the draft and the plan after a reload.
func TestConversationSurvivesAReload(t *testing.T) {
	t.Parallel()
	w := serve(t, t.TempDir()).open(t)
	w.start(t.TempDir())
	w.send("first")
	w.seeText(".message.agent", "first")
	w.see(".context-item")
	w.check("first")
	w.see(".footer .primary")
	w.write("not sent yet")
	w.reload()
	w.seeText(".message.agent", "first")
	w.see(".footer .primary")
	require.Equal(t, "not sent yet", eval[string](w, `document.querySelector(".composer textarea").value`))
	w.requireNoProblems()
}

// TestComposerCompletes offers files, commands and skills for the word at the caret.
func TestComposerCompletes(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home, folder := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "parser.go"), nil, 0o600))
	skill := filepath.Join(home, "skills", "tidy")
	require.NoError(t, os.MkdirAll(skill, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(skill, "SKILL.md"),
		[]byte("---\nname: tidy\ndescription: Tidies the code.\n---\nTidy it.\n"), 0o600))
	w := serve(t, home).open(t)
	w.start(folder)
	w.write("look at @pars")
	w.seeText(".suggestion", "@parser.go")
	w.press("\t")
	require.Equal(t, "look at parser.go ", eval[string](w, `document.querySelector(".composer textarea").value`))
	w.clear()
	w.write("$ti")
	w.seeText(".suggestion", "Tidies the code.")
	w.clear()
	w.write("/comp")
	w.seeText(".suggestion", "/compact")
	w.requireNoProblems()
}

// TestComposerRunsSlashCommands executes /clear instead of sending it to the model.
func TestComposerRunsSlashCommands(t *testing.T) {
	t.Parallel()
	w := serve(t, t.TempDir()).open(t)
	w.start(t.TempDir())
	w.send("first")
	w.seeText(".message.agent", "first")
	w.send("second")
	w.seeText(".message.agent", "second")
	w.send("/clear 1 ")
	w.seeText(".divider", "pruned")
	w.requireNoProblems()
}

// TestTurnIsSteeredAndStopped sends a message into a running turn, and interrupts it by a key.
func TestTurnIsSteeredAndStopped(t *testing.T) {
	t.Parallel()
	w := serve(t, t.TempDir(), "-c", "approval_policy=never", "-c", "sandbox_mode=danger-full-access").open(t)
	w.start(t.TempDir())
	w.send("run: sleep 600")
	w.seeText(".outcome", "running")
	w.see(".composer .stop")
	w.send("steer me")
	w.seeText(".message.user", "steer me")
	w.press(".", control)
	w.seeText(".turn-end", "Interrupted")
	w.gone(".composer .stop")
	w.requireNoProblems()
}

// TestMessageForATurnThatHasJustEndedStartsTheNext delays the request to steer until its turn has ended.
func TestMessageForATurnThatHasJustEndedStartsTheNext(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home := t.TempDir()
	w := serve(t, home, "-c", "model_providers.offline.script="+writeScript(t, home, map[string]any{"steps": []any{
		map[string]any{"deltas": []string{"One ", "moment. ", "Done."}, "gapMs": 300}, map[string]any{"text": "Second answer."},
	}})).open(t)
	w.start(t.TempDir())
	eval[bool](w, `(() => {
		const send = WebSocket.prototype.send;
		WebSocket.prototype.send = function (text) {
			const held = text.includes('"turn/steer"');
			const isRunning = () => [...document.querySelectorAll(".composer button")].some((b) => b.textContent.includes("Stop"));
			const attempt = () => (held && isRunning() ? setTimeout(attempt, 20) : send.call(this, text));
			attempt();
		};
		return true;
	})()`)
	w.send("first")
	w.seeText(".message.agent", "One")
	w.send("second")
	w.seeText(".message.agent", "Done.")
	w.seeText(".message.agent", "Second answer.")
	require.Zero(t, w.count(".banner"))
	w.requireNoProblems()
}
