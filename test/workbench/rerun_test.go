package workbench

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// rerunServer answers a first turn with a command, and then by the number of the request.
func rerunServer(t *testing.T) (*workbench, string) {
	home, folder := t.TempDir(), t.TempDir()
	usage := func(input int) map[string]any { return map[string]any{"input": input, "output": 10} }
	run := func(command string) []any {
		return []any{map[string]any{"name": "shell", "arguments": map[string]any{"command": command}}}
	}
	script := map[string]any{"steps": []any{
		map[string]any{"toolCalls": run("echo a told story"), "usage": usage(1000)},
		map[string]any{"text": "The first answer is **short**.", "usage": usage(1100)},
		map[string]any{"text": "A later turn.", "usage": usage(1200)},
		map[string]any{"toolCalls": run("echo changed > new.txt"), "usage": usage(900)},
		map[string]any{"text": "The second answer is longer.", "usage": usage(950), "delayMs": 500},
		map[string]any{"text": "A third answer.", "usage": usage(950)}}}
	w := serve(t, home, "-c", "model_providers.offline.script="+writeScript(t, home, script),
		"-c", "approval_policy=never", "-c", "sandbox_mode=danger-full-access", "-c", "model=priced",
		"-c", "model_prices.priced.input=20", "-c", "model_prices.priced.output=100").open(t)
	w.start(folder)
	w.send("Tell the story.")
	w.seeText(".message.agent", "The first answer is short.")
	w.gone(".composer .stop")
	w.send("More.")
	w.seeText(".message.agent", "A later turn.")
	w.gone(".composer .stop")
	w.openPrompts()
	w.await(`document.querySelectorAll(".prompt-turns > li").length === 2`)
	return w, folder
}

// TestPastRequestRunsAgainInAForkWithEdits runs the second request of a turn again, with another output of the command.
// Both answers stand side by side with tokens, money and time. The fork reads files only, and is kept and opened.
func TestPastRequestRunsAgainInAForkWithEdits(t *testing.T) {
	t.Parallel()
	w, folder := rerunServer(t)
	require.Equal(t, []string{"More. 1 request", "Tell the story. 2 requests"},
		eval[[]string](w, `[...document.querySelectorAll(".prompt-turn")].map((e) => e.textContent)`))
	w.click(`.prompt-turns > li:last-child li:first-child .prompt-point-name`) // the request after the command
	w.seeText(".exact", "byte for byte")
	w.accessible("prompts by turns")
	w.shot("prompts-turns")
	w.clickIn(".prompt-head button", "Run again in a fork")
	w.seeText("dialog h2", "Run the request again in a fork")
	w.seeText("#rerun-tools", "Commands only read files.")
	w.clickIn(`.rerun-item button`, "Replace")
	w.await(`document.querySelector(".rerun-text textarea").value.includes("a told story")`)
	w.fill(".rerun-text textarea", "Another story.")
	w.seeText(".rerun-items legend", "4 items, 0 left out, 1 replaced")
	w.accessible("run again")
	w.shot("rerun-choice")
	w.clickIn(".dialog-buttons button", "Run")
	w.seeText("dialog h2", "Both answers")
	before, after := `section[aria-label="As it was"]`, `section[aria-label="In the fork"]`
	w.seeText(before+" .answer-text", "The first answer is short.")
	w.seeText(after+" .answer-text", "The second answer is longer.")
	w.seeText(after+" dl", "Statecompleted")
	w.seeText(before+" dl", "Tokens1,100 in, 10 out, 1 request")
	w.seeText(before+" dl", "Money0.023")
	w.seeText(after+" dl", "Tokens1,850 in, 20 out, 2 requests")
	w.seeText(after+" dl", "Money0.039")
	w.await(`/Time[\d.]+ (ms|s)/.test(document.querySelector('` + after + ` dl').textContent)`)
	require.NotContains(t, eval[string](w, `document.querySelector('`+before+`').textContent`), "echo a told story",
		"the command is before the request")
	w.accessible("both answers")
	w.shot("rerun-answers")
	_, err := os.Stat(filepath.Join(folder, "new.txt"))
	require.ErrorIs(t, err, os.ErrNotExist, "the fork reads files only")
	w.clickIn(".dialog-buttons button", "Open the fork")
	w.gone("dialog")
	w.seeText(".top-title", "(again with priced)")
	w.seeText(".message.agent", "The second answer is longer.")
	w.seeText(".permissions-facts", "read only")
	w.seeText(".context-item .badge", "replaced")
	require.Zero(t, eval[int](w, `[...document.querySelectorAll(".message.agent")].filter((e) => e.textContent.includes("first answer")).length`))
	w.requireNoProblems()
}

// TestForkOfARunIsDeletedFromTheComparison leaves an item out, and deletes the fork. The thread is as it was.
func TestForkOfARunIsDeletedFromTheComparison(t *testing.T) {
	t.Parallel()
	w, _ := rerunServer(t)
	w.click(`.prompt-turns > li:first-child .prompt-point-name`)
	w.clickIn(".prompt-head button", "Run again in a fork")
	w.clickIn(".rerun-item label", "More.")
	w.seeText(".rerun-items legend", "1 left out")
	w.clickIn(".dialog-buttons button", "Run")
	w.seeText(`section[aria-label="As it was"] .answer-text`, "A later turn.")
	w.seeText(`section[aria-label="In the fork"] .answer-text`, "The second answer is longer.")
	w.seeText(`section[aria-label="In the fork"] dl`, "Statecompleted")
	require.Equal(t, 2, w.count(".thread"))
	w.clickIn(".dialog-buttons button", "Delete the fork")
	w.gone("dialog")
	w.await(`document.querySelectorAll(".thread").length === 1`)
	w.seeText(".message.agent", "A later turn.")
	w.requireNoProblems()
}
