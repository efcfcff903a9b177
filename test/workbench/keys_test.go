package workbench

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// keyTest presses the keys of a row of the help, and sees their effect. Its name is the section and the keys.
type keyTest struct {
	name string
	run  func(w *workbench)
}

// TestEachKeyOfTheHelpWorks presses each key that the page lists, and that the document lists. A key without a test
// fails.
func TestEachKeyOfTheHelpWorks(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	shell := func(name string) []object {
		return []object{{"match": name, "toolCalls": []object{{"name": "shell", "arguments": object{"command": "echo a > " + name}}}},
			{"match": name, "text": "End of " + name + "."}}
	}
	var steps []object
	for _, name := range []string{"once", "session", "declined", "stopped", "interrupted"} {
		steps = append(steps, shell(name)...)
	}
	w := serveAsking(t, append(steps, object{"match": "steered", "text": "End of declined."})...).open(t)
	w.start(repository(t, map[string]string{"a.txt": "a\n"}))
	var tests []keyTest
	for _, section := range []func() []keyTest{
		questionKeys, messageKeys, everywhereKeys, timelineKeys, contextKeys, changesKeys,
	} {
		tests = append(tests, section()...)
	}
	require.ElementsMatch(t, helpKeys(w), names(tests), "the keys of the help and the tests")
	for _, k := range tests {
		t.Log(k.name)
		k.run(w)
		w.requireNoProblems()
	}
}

func names(tests []keyTest) (list []string) {
	for _, k := range tests {
		list = append(list, k.name)
	}
	return list
}

// helpKeys returns the rows of the help. It fails if the document lacks one of their keys.
func helpKeys(w *workbench) []string {
	w.t.Helper()
	w.click(`button[aria-label="Keyboard shortcuts"]`)
	w.see("dialog .keys")
	rows := eval[[]string](w, `[...document.querySelectorAll(".keys")].flatMap((s) => [...s.querySelectorAll("dt")].map((dt) =>
		s.querySelector("h3").textContent + ": " + [...dt.querySelectorAll("kbd")].map((k) => k.textContent).join(" ")))`)
	w.press("\x1b")
	w.gone("dialog")
	text, err := os.ReadFile(apptest.Root("docs/workbench.md"))
	require.NoError(w.t, err)
	_, keys, _ := strings.Cut(string(text), "\n## Keys\n")
	keys, _, _ = strings.Cut(keys, "\n## ")
	for _, row := range rows {
		_, parts, _ := strings.Cut(row, ": ")
		for part := range strings.FieldsSeq(parts) {
			require.Contains(w.t, keys, strings.TrimSuffix(part, "…"), "docs/workbench.md, Keys")
		}
	}
	return rows
}

// question sends a message whose turn asks, and leaves the field.
func (w *workbench) question(name string) {
	w.t.Helper()
	w.send(name)
	w.seeText(".question-command", "echo a > "+name)
	w.enabled()
	w.leaveFields()
}

// ended waits until the turn has ended.
func (w *workbench) ended(text string) {
	w.t.Helper()
	w.seeText(".entry", text)
	w.gone(".composer .stop")
}

func questionKeys() []keyTest {
	const section = "Question, outside of fields: "
	return []keyTest{
		{"Everywhere: Alt+Q", func(w *workbench) {
			w.send("once")
			w.enabled()
			w.press("q", alt)
			w.await(`document.activeElement.matches("[data-question]")`)
		}},
		{section + "Y", func(w *workbench) {
			w.press("y")
			w.ended("End of once.")
		}},
		{section + "S", func(w *workbench) {
			w.question("session")
			w.press("s")
			w.ended("End of session.")
		}},
		{section + "N", func(w *workbench) {
			w.question("declined")
			w.write("steered")
			eval[bool](w, enter) // Enter steers
			w.seeText(".message.user", "steered")
			w.leaveFields()
			w.press("n")
			w.ended("End of declined.")
		}},
		{section + "C", func(w *workbench) {
			w.question("stopped")
			w.press("c")
			w.ended("Interrupted")
		}},
		{"Everywhere: Ctrl+.", func(w *workbench) {
			w.question("interrupted")
			w.press(".", control)
			w.await(`document.querySelectorAll(".turn-end").length === 2`)
			w.gone(".composer .stop")
		}},
	}
}

func messageKeys() []keyTest {
	const section = "Message: "
	value := `document.querySelector(".composer textarea").value`
	return []keyTest{
		{section + "Enter", func(w *workbench) {
			w.send("hello")
			w.ended("You said: \"hello\"")
		}},
		{section + "Shift+Enter", func(w *workbench) {
			w.write("a")
			w.press(kb.Enter, shift)
			w.await(value + `.startsWith("a\n")`)
			w.clear()
		}},
		{section + "↑", func(w *workbench) {
			w.press(kb.ArrowUp)
			w.await(value + ` === "hello"`)
			w.clear()
		}},
		{section + "Esc Esc", func(w *workbench) {
			w.press(kb.Escape + kb.Escape)
			w.closeDialog("Rewind the conversation")
			w.write("kept")
			w.press(kb.Escape + kb.Escape)
			require.Equal(w.t, 0, w.count("dialog"))
			w.clear()
			w.leaveFields()
			w.press(kb.Escape + kb.Escape)
			w.closeDialog("Rewind the conversation")
		}},
	}
}

// closeDialog waits for a dialog and closes it.
func (w *workbench) closeDialog(title string) {
	w.t.Helper()
	w.seeText("dialog h2", title)
	w.press(kb.Escape)
	w.gone("dialog")
}

func everywhereKeys() []keyTest {
	const section = "Everywhere: "
	return []keyTest{
		{section + "Ctrl+K", func(w *workbench) {
			w.press("k", control)
			w.closeDialog("Commands")
		}},
		{section + "F6", func(w *workbench) {
			eval[bool](w, `(document.querySelector(".threads input").focus(), true)`)
			w.press(kb.F6)
			w.await(`document.activeElement.closest(".timeline") !== null`)
			w.press(kb.F6)
			w.await(`document.activeElement.matches(".composer textarea")`)
			w.press(kb.F6, shift)
			w.await(`document.activeElement.closest(".timeline") !== null`)
		}},
		{section + "Ctrl+F", func(w *workbench) {
			w.press("f", control)
			w.await(`document.activeElement.matches(".find input")`)
			w.press(kb.Escape)
			w.gone(".find")
		}},
		{section + "Alt+1 …", func(w *workbench) {
			w.press("2", alt)
			w.await(`document.querySelector(".panel [role=tab][aria-selected=true]").textContent.includes("Edits")`)
			w.press("1", alt)
			w.see(".context-item")
		}},
		{section + "?", func(w *workbench) {
			w.leaveFields()
			w.press("?")
			w.closeDialog("Keyboard shortcuts")
		}},
	}
}

// atEntry waits until the entry with the focus has a text.
func (w *workbench) atEntry(text string) {
	w.t.Helper()
	w.await(`document.activeElement.matches(".entry") && document.activeElement.textContent.includes(` + "`" + text + "`" + `)`)
}

func timelineKeys() []keyTest {
	const section = "Conversation: "
	return []keyTest{
		{section + "J K", func(w *workbench) {
			eval[bool](w, `(document.querySelector(".entry").focus(), true)`)
			w.press("j") // nothing is chosen yet: the last entry
			w.atEntry("You said")
			w.press("k")
			w.atEntry("hello")
			w.press("j")
			w.atEntry("You said")
		}},
		{section + "[ ]", func(w *workbench) {
			w.press("[")
			w.press("[")
			w.atEntry("interrupted")
			w.press("]")
			w.atEntry("hello")
		}},
		{section + "G", func(w *workbench) {
			w.press(kb.Home)
			w.atEntry("once")
			w.see(".to-newest")
			w.press("G")
			w.gone(".to-newest")
			w.atEnd()
		}},
		{section + "E", func(w *workbench) {
			w.atEntry("You said") // G has moved the focus there
			w.press("[")
			w.press("[")
			w.atEntry("interrupted")
			w.press("j")
			open := `document.activeElement.querySelector("[aria-expanded]")?.getAttribute("aria-expanded")`
			w.await(open + ` !== undefined`)
			before := eval[string](w, open)
			w.press("e")
			w.await(open + ` !== "` + before + `"`)
		}},
		{section + "X", func(w *workbench) {
			w.press("]")
			w.atEntry("hello")
			w.press("x")
			w.seeText(".footer .primary", "Apply 1 change")
			w.press("x")
			w.gone(".footer .primary")
		}},
	}
}

func contextKeys() []keyTest {
	const section = "Context list: "
	at := func(w *workbench, text string) {
		w.t.Helper()
		w.await(`document.activeElement.matches(".context-item") && document.activeElement.textContent.includes("` + text + `")`)
	}
	planned := func(key string) func(*workbench) {
		return func(w *workbench) {
			w.focusItem("once")
			w.press(key)
			w.seeText(".footer .primary", "Apply 1 change")
			w.focusItem("once") // the row may be a new element
			w.press(kb.Backspace)
			w.gone(".footer .primary")
		}
	}
	return []keyTest{
		{section + "↑ ↓", func(w *workbench) {
			w.focusItem("once")
			w.press(kb.ArrowDown)
			w.await(`document.activeElement.matches(".context-item") && !document.activeElement.textContent.includes("You")`)
			w.press(kb.ArrowUp)
			at(w, "once")
			w.press(kb.ArrowDown, shift)
			w.press(" ")
			w.seeText(".footer .primary", "Apply 2 changes")
			w.clickText("Discard")
		}},
		{section + "J K", func(w *workbench) {
			w.focusItem("once")
			w.press("j")
			w.await(`document.activeElement.textContent.includes("Turn 2")`)
			w.press("k")
			w.await(`document.activeElement.textContent.includes("Turn 1")`)
		}},
		{section + "Space", planned(" ")},
		{section + "Del", planned(kb.Delete)},
		{section + "P", planned("p")},
		{section + "Backspace", planned("p")},
		{section + "R", func(w *workbench) {
			w.focusItem("once")
			w.press(kb.ArrowDown + kb.ArrowDown) // the output
			w.press("r")
			w.see("dialog textarea")
			w.press(kb.Escape)
			w.gone("dialog")
		}},
		{section + "O", func(w *workbench) {
			w.focusItem("once")
			w.press("o")
			w.await(`document.querySelector("[aria-label='Sort the list']").value === "price"`)
			at(w, "once")
			w.press("oo")
			w.await(`document.querySelector("[aria-label='Sort the list']").value === "turn"`)
			at(w, "once")
		}},
		{section + "Enter", func(w *workbench) {
			w.focusItem("once")
			w.press("\r")
			w.see(".details-text pre")
			w.press("\r")
			w.gone(".details-text pre")
		}},
		{section + "Ctrl+Enter", func(w *workbench) {
			w.focusItem("once")
			w.press("p")
			w.seeText(".footer .primary", "Apply 1 change")
			w.press(kb.Enter, control)
			w.seeText(".context-item .badge", "pinned")
		}},
		{section + "Ctrl+Z Ctrl+Y", func(w *workbench) {
			w.focusItem("once")
			w.press("z", control)
			w.gone(".context-item .badge.pinned")
			w.press("y", control)
			w.seeText(".context-item .badge", "pinned")
		}},
		{section + "/", func(w *workbench) {
			w.focusItem("once")
			w.press("/")
			w.await(`document.activeElement.matches("` + strings.ReplaceAll(findField, `"`, `'`) + `")`)
		}},
	}
}

func changesKeys() []keyTest {
	const section = "Changes: "
	row := func(w *workbench, text string) {
		w.t.Helper()
		w.await(`document.activeElement.matches(".tree-row, .diff-row") && document.activeElement.textContent.includes("` + text + `")`)
	}
	return []keyTest{
		{section + "↑ ↓", func(w *workbench) {
			w.press("3", alt)
			w.scope(":Whole thread")
			w.seeText(".side-note", "2 files")
			eval[bool](w, `(document.querySelector(".tree-row").focus(), true)`)
			row(w, "once")
			w.press(kb.ArrowDown)
			row(w, "session")
			w.press(kb.ArrowUp)
			row(w, "once")
		}},
		{section + "→ ←", func(w *workbench) {
			w.press(kb.ArrowRight)
			w.see(".diff-row.hunk")
			w.press(kb.ArrowLeft)
			w.gone(".diff-row.hunk")
			w.press(kb.ArrowRight)
			w.see(".diff-row.hunk")
		}},
		{section + "C", func(w *workbench) {
			w.press(kb.ArrowDown)
			w.press(kb.ArrowDown, shift)
			w.await(`document.activeElement.matches(".diff-row.add")`)
			w.press("c")
			w.closeDialog("Comment on once:1")
			w.press(kb.ArrowUp, shift)
			w.press(kb.ArrowUp)
			row(w, "once")
		}},
		{section + "J K", func(w *workbench) {
			w.press(kb.ArrowDown)
			row(w, "@@")
			w.press("j")
			row(w, "session")
			w.press("k")
			row(w, "once")
		}},
	}
}
