package workbench

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// worked opens a thread in which the agent read a file, changed it, and ran commands.
func worked(t *testing.T) *workbench {
	t.Helper()
	dir := repository(t, map[string]string{"notes.txt": "the first line\nthe second line\n"})
	run := func(match, command string) object {
		return object{"match": match, "toolCalls": []object{{"name": "shell", "arguments": object{"command": command}}}}
	}
	w := serveScript(t,
		run("first", "sed -n '1,2p' notes.txt"), object{"match": "first", "text": "Read."},
		patch("second", "*** Update File: notes.txt\n@@\n-the second line\n+the last line\n"),
		run("second", "echo '---'; echo broken: no such thing; exit 3"),
		run("second", "for i in $(seq 400); do printf 'word%d ' $i; done # "+strings.Repeat("a long comment ", 9)),
		object{"match": "second", "text": "Changed."},
	).open(t)
	w.start(dir)
	w.send("first")
	w.seeText(".message.agent", "Read.")
	w.gone(".composer .stop")
	w.send("second")
	w.seeText(".message.agent", "Changed.")
	w.gone(".composer .stop")
	w.seeText(".context-item", "Changed.")
	return w
}

// rowTexts returns the categories and the texts of the rows, and the heads of turns.
func rowTexts(w *workbench) []string {
	return eval[[]string](w, `[...document.querySelectorAll(".context-turn, .context-item")].map((r) =>
		r.querySelector(".turn-name")?.textContent ?? r.querySelector(".category").textContent + ": " + r.querySelector(".preview").innerText)`)
}

// TestContextRowsSayWhatItemsAre shows the command with its first telling line, the file with its range, and the cause
// of a failure. The terminal lists the same texts.
func TestContextRowsSayWhatItemsAre(t *testing.T) {
	t.Parallel()
	w := worked(t)
	rows := rowTexts(w)
	for _, want := range []string{"Tool call: sed -n '1,2p' notes.txt", "Tool output: notes.txt:1-2 → the first line the second line",
		"Tool call: apply_patch notes.txt", "Tool output: apply_patch notes.txt → applied: M notes.txt", "Agent: Changed.", "User: first"} {
		require.Contains(t, rows, want)
	}
	failed := "echo '---'; echo broken: no such thing; exit 3 → exit 3: broken: no such thing"
	require.Contains(t, rows, "Tool output: "+failed)
	require.NotContains(t, strings.Join(rows, "\n"), "Wall time")
	require.NotContains(t, strings.Join(rows, "\n"), "Exit code")
	out, err := apptest.OfflineCommand(t, w.server.home, "context", "list", "--last", "--all").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "echo '---'; echo broken")
	w.requireNoProblems()
}

// TestContextListIsSorted sorts by turn, by price and by age, with the control and by a key, and again after a reload.
func TestContextListIsSorted(t *testing.T) {
	t.Parallel()
	w := worked(t)
	require.Contains(t, rowTexts(w)[0], "Turn 1")
	w.choose(`select[aria-label="Sort the list"]`, "price")
	w.gone(".context-turn")
	prices := func() []int64 {
		return eval[[]int64](w, `[...document.querySelectorAll(".context-item .cell-tokens .tokens")].map((e) => Number(e.textContent.replaceAll(",", "")))`)
	}
	sorted := prices()
	require.IsNonIncreasing(t, sorted)
	require.Greater(t, sorted[0], sorted[len(sorted)-1])
	require.Contains(t, rowTexts(w)[0], "Tool output turn 2")
	w.reload()
	w.see(".context-item")
	require.Equal(t, sorted, prices(), "the order is remembered")
	w.focusItem("Changed.")
	w.press("o")
	w.await(`document.querySelector(".context-item .preview").textContent === "Changed."`)
	w.await(`document.activeElement.textContent.includes("Changed.")`)
	w.press("o")
	w.see(".context-turn")
	w.accessible("contextrows")
	w.requireNoProblems()
}

// TestContextRowsUseTheWidth measures the rows in narrow and wide panels.
func TestContextRowsUseTheWidth(t *testing.T) {
	t.Parallel()
	w := worked(t)
	w.size(1400, 800, 1)
	shown := map[int]int{}
	for _, width := range []int{360, 700, 1200} {
		eval[bool](w, fmt.Sprintf(`(() => {
			document.querySelector(".panel").style.cssText = "position: fixed; inset: 0 auto 0 0; z-index: 99; width: %dpx; max-width: none; min-width: 0";
			return true;
		})()`, width))
		w.await(fmt.Sprintf(`Math.abs(document.querySelector(".context-list").clientWidth - %d) < 20`, width))
		w.shot(fmt.Sprintf("contextrows-%d", width))
		shown[width] = eval[int](w, `Math.max(...[...document.querySelectorAll(".context-item .preview")].map((e) => {
			const range = document.createRange();
			const right = e.getBoundingClientRect().right;
			const text = ([...e.children].find((c) => c.checkVisibility()) ?? e).firstChild;
			let n = 0;
			for (; n < text.length; n++) {
				range.setStart(text, n);
				range.setEnd(text, n + 1);
				if (range.getBoundingClientRect().right > right) break;
			}
			return n;
		}))`)
		require.False(t, eval[bool](w, `document.querySelector(".context-list").scrollWidth > document.querySelector(".context-list").clientWidth`))
	}
	require.Greater(t, shown[360], 25)
	require.Greater(t, shown[700], 50)
	require.Greater(t, shown[1200], 110, "a wide panel shows more than the 80 characters of a preview")
	w.requireNoProblems()
}

// TestHalfAnswersSayThatTheyAreNotSent cuts answers by a message and by Stop. Their parts say that they are not sent,
// and why. The rows of the list that are not sent have no tick.
func TestHalfAnswersSayThatTheyAreNotSent(t *testing.T) {
	t.Parallel()
	deltas := make([]string, 3000)
	for i := range deltas {
		deltas[i] = fmt.Sprintf("word%d ", i)
	}
	slow := func(match string) object {
		return object{"match": match, "reasoning": "thinking of " + match, "deltas": deltas, "gapMs": 20}
	}
	w := serveScript(t, slow("first"), slow("second")).open(t)
	w.start(t.TempDir())
	w.send("first")
	w.seeText(".message.agent", "word5")
	require.Zero(t, w.count(".message.agent .badge.off"), "the answer still comes")
	w.send("second")
	w.seeText(".message.agent .badge.off", "not sent: cut by your next message")
	w.await(`document.querySelectorAll(".message.agent").length === 2 && document.querySelectorAll(".message.agent .badge.off").length === 1`)
	w.seeText(".message.agent:not(:has(.badge.off))", "word5")
	w.press(".", control)
	w.seeText(".turn-end", "Interrupted")
	w.seeText(".message.agent .badge.off", "not sent: cut by Stop")
	w.shot("halfanswers")
	w.seeText(".context-item .badge.off", "not sent: not accepted back")
	require.Equal(t, []string{"false"}, eval[[]string](w, `[...new Set([...document.querySelectorAll(".context-item:has(.badge.off) [role=checkbox]")].map((e) => e.getAttribute("aria-checked")))]`))
	w.await(`document.querySelector(".context-item:has(.badge.off) [role=checkbox]").getAttribute("aria-label").startsWith("not sent: not accepted back")`)
	eval[bool](w, `(document.querySelector(".context-item:has(.badge.off) [role=checkbox]").click(), true)`)
	require.Zero(t, w.count(".context-item.planned"), "the box of a row that is not sent plans nothing")
	w.await(`document.querySelector(".context-turn [role=checkbox]").getAttribute("aria-checked") === "true"`)
	w.accessible("contextrows")
	w.requireNoProblems()
}
