package workbench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/sample"
)

// losingSummary opens the draft of a compaction whose summary has neither a rule of the user nor what the turn did.
func losingSummary(t *testing.T) *workbench {
	home := t.TempDir()
	script := map[string]any{"steps": []any{
		map[string]any{"toolCalls": []any{map[string]any{"name": "shell", "arguments": map[string]any{
			"command": "printf one > parser.txt"}}}},
		map[string]any{"text": "I decided to write parser.txt by hand, because that is simpler."},
		map[string]any{"text": "You are welcome."},
		map[string]any{"text": "The conversation was short."}}}
	w := serve(t, home, "-c", "model_providers.offline.script="+writeScript(t, home, script),
		"-c", "compaction.keep_turns=1", "-c", "compaction.user_message_tokens=0",
		"-c", "approval_policy=never", "-c", "sandbox_mode=danger-full-access").open(t)
	w.start(t.TempDir())
	w.send("Write the parser. Never touch the lexer.")
	w.seeText(".message.agent", "I decided")
	w.gone(".composer .stop")
	w.send("Thanks.")
	w.seeText(".context-item", "You are welcome.")
	w.gone(".composer .stop")
	w.menu("Edit the context", "Compact")
	w.clickText("Review the draft")
	w.seeText(".draft-losses", "Never touch the lexer.")
	return w
}

// TestLossesOfACompactionAreShown lists the rule that was added and the facts that are lost: in the draft beside the
// items, and in the conversation afterwards, where a fact leads to its compacted item. They outlive a reload.
func TestLossesOfACompactionAreShown(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := losingSummary(t)
	w.seeText(".draft-losses h4", "Rules of yours that were added to the summary")
	w.await(`document.querySelector(".draft-part textarea").value.includes("- Never touch the lexer.")`)
	w.seeText(".draft-losses", "I decided to write parser.txt by hand")
	w.clickIn(".draft-losses button", "Show")
	w.await(`document.querySelectorAll(".draft-item.highlighted").length > 0`)
	w.accessible("draft with an added rule")
	w.look("losses-draft")
	w.fill(".draft-part textarea", "The conversation was short.")
	w.seeText(".draft-losses", "It is not in the text any more. No later compaction adds it.")
	w.clickIn(".draft-losses ul:first-of-type button", "Insert")
	w.await(`document.querySelector(".draft-part textarea").value.endsWith("- Never touch the lexer.")`)
	w.clickIn(".dialog-buttons button", "Compact")
	w.gone("dialog")

	w.seeText(".loss-report .fold-title", "not in the summary")
	w.clickIn(".loss-report .fold-title", "not in the summary")
	w.seeText(".loss-report", "printf one > parser.txt")
	w.accessible("losses in the conversation")
	w.look("losses")
	w.clickIn(`.loss-report button[aria-label*="I decided"]`, "Show")
	w.await(`document.activeElement.matches(".context-item.gone")`)
	w.seeText(".context-item.gone .badge", "compacted")
	w.seeText(".gone .details-text", "I decided to write parser.txt by hand")
	w.look("losses-item")
	w.reload()
	w.show("Write the parser.")
	w.clickIn(".loss-report .fold-title", "not in the summary")
	w.seeText(".loss-report", "printf one > parser.txt")
	w.requireNoProblems()
}

// TestAddedRulesAreShownInTheConversation commits a draft as it is. The report is kept until the thread is deleted.
func TestAddedRulesAreShownInTheConversation(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := losingSummary(t)
	w.clickIn(".dialog-buttons button", "Compact")
	w.gone("dialog")
	w.seeText(".loss-report .fold-title", "1 rule of yours added to the summary")
	w.clickIn(".loss-report .fold-title", "1 rule")
	w.seeText(".loss-report", "Never touch the lexer.")
	w.size(760, 800, 1)
	w.accessible("losses, narrow")
	w.look("losses-narrow")
	w.size(1280, 800, 1)
	stored := `Object.keys(localStorage).filter((key) => key.startsWith("appserver.losses.")).length`
	require.Equal(t, 1, eval[int](w, stored))
	w.menu("Actions for Write the parser. Never touch the lexer.", "Delete")
	w.clickIn("dialog button", "Delete")
	w.gone("dialog")
	w.await(stored + " === 0")
	w.requireNoProblems()
}

// TestShortenedOutputsAreReported masks the output of a failed command. The conversation shows the sizes and the
// command, which leads to the item of the list.
func TestShortenedOutputsAreReported(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home := t.TempDir()
	script := map[string]any{"steps": []any{
		map[string]any{"toolCalls": []any{map[string]any{"name": "shell", "arguments": map[string]any{
			"command": "seq -f 'line %g of a long report' 60; ls /missing/file"}}}},
		map[string]any{"text": "The file is missing."}, map[string]any{"text": "First."}, map[string]any{"text": "Second."}}}
	w := serve(t, home, "-c", "model_providers.offline.script="+writeScript(t, home, script), "-c", "compaction.keep_turns=1",
		"-c", "approval_policy=never", "-c", "sandbox_mode=danger-full-access").open(t)
	w.start(t.TempDir())
	for _, turn := range []struct{ message, answer string }{
		{"Print the report.", "The file is missing."}, {"One.", "First."}, {"Two.", "Second."},
	} {
		w.send(turn.message)
		w.seeText(".message.agent", turn.answer)
		w.gone(".composer .stop")
	}
	w.menu("Edit the context", "Compact")
	w.clickIn("label.option", "Shorten tool outputs")
	w.clickText("Compact now")
	w.seeText(".turn-end", "Old tool outputs were shortened: ")
	w.clickIn(".loss-report .fold-title", "1 fact not in the summary")
	w.clickIn(`.loss-report button[aria-label*="ls /missing/file"]`, "Show")
	w.await(`document.activeElement.matches(".context-item:not(.gone)")`)
	require.Contains(t, eval[string](w, `document.activeElement.textContent`), "ls: cannot access")
	w.requireNoProblems()
}
