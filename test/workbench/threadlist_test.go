package workbench

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"appserver/test/sample"
)

// folder makes a folder with a name.
func folder(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.Mkdir(path, 0o755))
	return path
}

// say sends a message and waits for the end of the turn.
func (w *workbench) say(text string) {
	w.t.Helper()
	w.send(text)
	w.seeText(".message.agent", text)
	w.gone(".composer .stop")
}

// TestThreadsAreGroupedByProject folds a project. It stays folded after a reload, and its threads come back.
func TestThreadsAreGroupedByProject(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, t.TempDir()).open(t)
	w.start(folder(t, "apples"))
	w.say("one")
	w.start(folder(t, "pears"))
	w.say("two")
	w.say("three")
	require.Equal(t, "pears 1,apples 1", eval[string](w,
		`[...document.querySelectorAll(".thread-project")].map((e) => e.innerText.replace(/\s+/g, " ").trim()).join()`))
	require.Equal(t, 2, w.count(".thread-row"))
	w.accessible("grouped threads")
	w.shot("grouped")
	w.clickIn(".thread-project", "apples")
	w.await(`document.querySelectorAll(".thread-row").length === 1`)
	w.reload()
	w.see(".thread-row")
	require.Equal(t, 1, w.count(".thread-row"))
	require.Equal(t, "false", eval[string](w,
		`[...document.querySelectorAll(".thread-project")].find((e) => e.innerText.includes("apples"))
			.getAttribute("aria-expanded")`))
	eval[bool](w, `(document.querySelector(".thread-project").focus(), true)`)
	w.press(kb.ArrowDown)
	w.press(kb.ArrowDown)
	w.await(`document.activeElement.innerText.includes("apples")`)
	w.click(`.thread-project[aria-expanded=false]`)
	w.await(`document.querySelectorAll(".thread-row").length === 2`)
	w.requireNoProblems()
}

// TestForksAreBelowTheirOriginAndTitlesDiffer forks a thread twice. The newer thread of another title comes first.
func TestForksAreBelowTheirOriginAndTitlesDiffer(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, t.TempDir()).open(t)
	home := folder(t, "pears")
	w.start(home)
	w.say("same words")
	w.menu("Actions for same words", "Fork")
	w.await(`document.querySelectorAll(".thread-row").length === 2 &&
		document.querySelectorAll(".thread-title .icon").length === 1`)
	w.say("more")
	w.start(home)
	w.say("other words")
	rows := strings.Split(eval[string](w, `[...document.querySelectorAll(".thread-row")].map((e) =>
		[parseInt(getComputedStyle(e).marginLeft), e.querySelector(".thread-title").innerText.replace(/\s+/g, " ").trim(),
			e.querySelector(".thread-note")?.innerText ?? ""].join("|")).join("\n")`), "\n")
	require.Len(t, rows, 3)
	require.Equal(t, "0|other words|", rows[0])
	require.True(t, strings.HasPrefix(rows[1], "0|same words|"), rows[1])
	require.True(t, strings.HasPrefix(rows[2], "14|") && strings.Contains(rows[2], "same words|fork · "), rows[2])
	require.NotEqual(t, strings.TrimPrefix(rows[1], "0|same words|"), "")
	w.accessible("forks")
	w.shot("forks")
	w.requireNoProblems()
}

// TestInboxListsTurnsThatEndedElsewhere finishes a turn of a thread that is not open. It stays in the inbox after a
// reload, until its thread is opened.
func TestInboxListsTurnsThatEndedElsewhere(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home := t.TempDir()
	w := serve(t, home, "-c", "model_providers.offline.script="+writeScript(t, home, object{"steps": []any{
		object{"deltas": []string{"a", "b"}, "gapMs": 5000},
	}})).open(t)
	w.start(t.TempDir())
	w.send("good work")
	w.see(".composer .stop")
	w.start(t.TempDir())
	w.seeText(".attention", "1")
	require.Equal(t, "1 finished turn", eval[string](w,
		`document.querySelector(".attention .menu > button").getAttribute("aria-label")`))
	w.shot("inbox")
	w.reload()
	w.see(".attention")
	w.menu("1 finished turn", "good work: finished")
	w.seeText(".message.user", "good work")
	w.gone(".attention")
	w.requireNoProblems()
}

// TestWidthsOfColumnsStay changes both widths by keys and by the pointer. They stay after a reload, and a double click
// restores them.
func TestWidthsOfColumnsStay(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := talk(t)
	width := func(selector string) int {
		return eval[int](w, `Math.round(document.querySelector("`+selector+`").getBoundingClientRect().width)`)
	}
	panel, list := width(".panel"), width(".threads")
	eval[bool](w, `(document.querySelector(".splitter-panel").focus(), true)`)
	w.press(kb.ArrowLeft)
	w.press(kb.ArrowLeft)
	eval[bool](w, `(document.querySelector(".splitter-threads").focus(), true)`)
	w.press(kb.ArrowRight)
	require.Equal(t, panel+48, width(".panel"))
	require.Equal(t, list+24, width(".threads"))
	w.drag(".splitter-threads", 0.5, 0.5, 5.5, 0.5)
	w.await(`document.querySelector(".threads").getBoundingClientRect().width > ` + strconv.Itoa(list+24))
	dragged := width(".threads")
	w.accessible("widths")
	w.reload()
	w.see(".context-item")
	require.Equal(t, panel+48, width(".panel"))
	require.Equal(t, dragged, width(".threads"))
	eval[bool](w, `document.querySelector(".splitter-panel").dispatchEvent(new MouseEvent("dblclick", {bubbles: true}))`)
	w.await(`Math.round(document.querySelector(".panel").getBoundingClientRect().width) === ` + strconv.Itoa(panel))
	w.requireNoProblems()
}

// TestSideBarGivesListsHalfOfItsHeight has the size of an editor's side bar, and a thread with a long title.
func TestSideBarGivesListsHalfOfItsHeight(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, prepare(t).Path).open(t)
	w.show("Slugs lose umlauts")
	w.click(".thread-row.selected .menu button")
	w.clickIn("[role=menuitem]", "Rename")
	w.see("dialog input")
	w.fill("dialog input", strings.Repeat("A long title of a thread ", 8))
	w.click("dialog button[type=submit]")
	w.gone("dialog")
	facts := func() {
		t.Helper()
		w.await(`["ask when needed", "workspace"].every((text) => {
			const fact = [...document.querySelectorAll(".permissions-facts .fact")].find((e) => e.innerText === text);
			const box = fact?.getBoundingClientRect();
			return box && box.width > 20 && box.right <= innerWidth &&
				document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) === fact;
		})`)
	}
	facts()
	w.shot("long-title")
	w.size(300, 700, 1)
	half := func(selector string) {
		t.Helper()
		w.see(selector)
		w.shot("side" + selector)
		w.await(`document.querySelector("` + selector + `").getBoundingClientRect().height >= innerHeight / 2`)
		require.LessOrEqual(t, eval[int](w, "document.documentElement.scrollWidth"), 300)
		facts()
	}
	half(".timeline")
	w.click(`header button[aria-label="Panel"]`)
	half(".context-list")
	w.accessible("side bar with the context")
	w.click(`header button[aria-label="Panel"]`)
	w.click(`header button[aria-label="Threads"]`)
	half(".thread-list")
	w.accessible("side bar with the threads")
	w.requireNoProblems()
}
