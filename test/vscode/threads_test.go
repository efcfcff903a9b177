package vscode

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// draft returns an expression for the text that is not sent yet.
const draft = page + `?.querySelector(".composer textarea")?.value`

// awaitDraft waits until the message that is not sent yet has a text.
func (e *editor) awaitDraft(text string) {
	e.t.Helper()
	e.await("(" + draft + ` ?? "").includes(` + strconv.Quote(text) + ")")
	e.await(`document.activeElement?.matches("iframe.webview")`) // a palette would close when the page takes the focus
}

// openFile opens a file of the explorer.
func (e *editor) openFile(name string) {
	e.t.Helper()
	e.command("View: Show Explorer")
	e.press("document", ".explorer-folders-view .monaco-list-row", name)
	e.see("document", ".tab.active", name)
	e.see("document", ".editor-instance .view-line", "")
}

// TestThreadsAndEditorWorkTogether adds places of the editor to a thread, and opens files and changes of the thread.
func TestThreadsAndEditorWorkTogether(t *testing.T) {
	e := openEditor(t, nil)
	broken := filepath.Join(e.home.Project, "broken.json")
	require.NoError(t, os.WriteFile(broken, []byte("{\"a\": }\n"), 0o600))
	addSelection(e)
	addFile(e)
	addDiagnostics(e)
	openChange(e)
}

// addSelection adds two lines by its keys. The page opens beside the editor with the text, which is not sent.
func addSelection(e *editor) {
	e.openFile("slug.sh")
	e.press("document", ".editor-instance .view-line", "#!/bin/sh")
	e.await(`document.activeElement?.closest(".editor-instance") != null`)
	e.do(chromedp.KeyEvent(kb.ArrowDown, chromedp.KeyModifiers(8)))
	e.do(chromedp.KeyEvent("k", chromedp.KeyModifiers(2)))
	e.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(3)))
	e.awaitDraft("@slug.sh:1-2\n```shellscript\n")
	e.see(page, ".top-title", "Slugs lose umlauts")
	require.Zero(e.t, eval[int](e, page+`.querySelectorAll(".stop").length`))
	e.see(page, ".timeline article", "")
	e.shot("add-selection")
}

// addFile adds the file of the editor after what the message has.
func addFile(e *editor) {
	e.press("document", ".tab", "slug.sh")
	e.command("appserver: Add File to Thread")
	e.awaitDraft("```\n\n@slug.sh\n")
}

// addDiagnostics finds none in a file, and adds those of another one.
func addDiagnostics(e *editor) {
	e.press("document", ".tab", "slug.sh")
	e.command("appserver: Add Diagnostics to Thread")
	e.see("document", toast, "slug.sh has no problems")
	e.command("Notifications: Clear All Notifications")
	e.openFile("broken.json")
	e.await(`document.querySelector(".squiggly-error") !== null`)
	e.command("appserver: Add Diagnostics to Thread")
	e.awaitDraft("@broken.json:1 error: ")
}

// openChange shows the change of a file and the file in the editor.
func openChange(e *editor) {
	e.command("View: Close Primary Side Bar")
	e.command("appserver: Show Context")
	e.click(page, `[role=tab]`, "Changes")
	e.see(page, ".tree-row.file", "README.md")
	e.click(page, `.tree-row.file button[aria-label="Open the change in the editor"]`, "")
	e.see("document", ".tab.active", "(change")
	e.await(`document.querySelectorAll(".monaco-diff-editor .line-insert, .monaco-diff-editor .char-insert").length > 0`)
	e.shot("change")
	e.click(page, `.tree-row.file button[aria-label="Open the file in the editor"]`, "")
	e.see("document", ".tab.active[aria-label^=\"README.md\"]", "README.md")
	e.see("document", ".editor-instance .view-line", "slugs")
}

// TestWindowsShareAServer opens one thread in two windows, and writes in both.
func TestWindowsShareAServer(t *testing.T) {
	e := openEditor(t, nil)
	showContext(e)
	o := e.another()
	o.front()
	o.command("appserver: Show Context")
	o.see(page, ".top-title", "Slugs lose umlauts")
	o.send("hello from the second window")
	o.see(page, ".timeline article", "hello from the second window")
	e.see(page, ".timeline article", "hello from the second window")
	e.front()
	e.send("hello from the first window")
	e.see(page, ".timeline article", "hello from the first window")
	o.see(page, ".timeline article", "hello from the first window")
	require.Zero(t, eval[int](o, page+`.querySelectorAll(".banner.warning").length`))
	sockets, err := filepath.Glob(filepath.Join(e.home.Path, "app-server-control", "shared-*.sock"))
	require.NoError(t, err)
	require.Len(t, sockets, 1)
	o.shot("second-window")
}
