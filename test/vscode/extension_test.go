package vscode

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"appserver/test/posix"
)

const (
	toast = ".notification-toast"
	gauge = `[id="appserver.appserver.appserver.gauge"]`
)

// TestExtension goes through the features in one window, because its start takes most of the time.
func TestExtension(t *testing.T) {
	e := openEditor(t, nil)
	showContext(e)
	approve(e)
	answerInThePage(e)
	excludeSelection(e)
	changeTheme(e)
	restart(e)
}

// showContext opens the page by a command. It shows the newest thread of the folder with its context.
func showContext(e *editor) {
	e.command("View: Close Primary Side Bar") // the page has room for its panel then
	e.command("appserver: Show Context")
	e.see(page, ".status-open", "")
	e.see(page, ".top-title", "Slugs lose umlauts")
	e.see(page, ".context-item", "")
	e.see("document", gauge, "of 12K")
	require.True(e.t, eval[bool](e, page+`.documentElement.innerHTML.includes("nonce")`))
}

// approve answers a question by its notification.
func approve(e *editor) {
	e.send("Publish the project.")
	e.see("document", toast, "May this command run? ")
	e.see(page, "[data-question]", "May this command run?")
	e.await(`!document.querySelector("` + toast + `").getAnimations({subtree: true}).some((a) => a.playState === "running")`)
	e.shot("approval")
	e.click("document", toast+" .monaco-button", "Accept")
	e.await(page + `.querySelector("[data-question]") === null`)
	e.see(page, ".timeline article", "Published.")
}

// answerInThePage answers a question in the page first. The notification then changes nothing.
func answerInThePage(e *editor) {
	e.send("run: rm -rf build")
	e.see("document", toast, "May this command run? ")
	e.click(page, "[data-question] button[data-answer=n]", "")
	e.await(page + `.querySelector("[data-question]") === null`)
	e.click("document", toast+" .monaco-button", "Accept")
	e.see("document", toast, "This question was answered already")
	e.command("Notifications: Clear All Notifications")
}

// excludeSelection excludes the items that have the selected line of a file.
func excludeSelection(e *editor) {
	before := eval[string](e, find("document", gauge, "")+".textContent")
	e.command("View: Show Explorer") // the search of files by name needs a program that this editor lacks
	e.press("document", ".explorer-folders-view .monaco-list-row", "titles.txt")
	e.see("document", ".editor-instance .view-line", "")
	e.command("Expand Line Selection")
	e.command("appserver: Exclude Selection's Items")
	e.see("document", ".quick-input-widget .quick-input-title", "Slugs lose umlauts")
	e.see("document", ".quick-input-list .monaco-list-row", "names the file")
	e.see("document", ".quick-input-list .monaco-list-row", "has the text")
	e.shot("exclude")
	e.do(chromedp.KeyEvent(kb.Enter))
	e.see("document", toast, "excluded: the next request is ")
	e.await(find("document", gauge, "") + ".textContent !== " + strconv.Quote(before))
}

// changeTheme makes the editor dark. The page follows it, although the system is light.
func changeTheme(e *editor) {
	e.command("appserver: Show Context")
	e.await(`document.activeElement?.matches("iframe.webview")`) // a palette would close when the page takes the focus
	e.command("Notifications: Clear All Notifications")
	e.command("Preferences: Toggle between Light/Dark Themes")
	e.await(`(() => {
		const body = (` + page + `)?.body;
		if (!body?.matches(".vscode-dark")) return false;
		const probe = body.ownerDocument.createElement("i");
		probe.style.backgroundColor = "var(--vscode-editor-background)";
		body.append(probe);
		const [own, editor] = [body, probe].map((e) => body.ownerDocument.defaultView.getComputedStyle(e));
		const same = own.colorScheme === "dark" && own.backgroundColor === editor.backgroundColor;
		probe.remove();
		return same;
	})()`)
}

// restart kills the server. The extension shows the reason, and the page connects to the next server.
func restart(e *editor) {
	require.NoError(e.t, posix.Kill(serverOf(e), syscall.SIGKILL))
	e.see("document", toast, "the shared server has ended the connection. It starts again in 0.5 s.")
	e.see(page, ".status-open", "")
	e.see("document", gauge, "of 12K")
}

// serverOf returns the process of the server: the one that listens, with the home of the test in its environment.
func serverOf(e *editor) int {
	e.t.Helper()
	out, err := exec.Command("pgrep", "-x", "appserver").Output()
	require.NoError(e.t, err)
	for _, line := range strings.Fields(string(out)) {
		environment, err := os.ReadFile(filepath.Join("/proc", line, "environ"))
		arguments, _ := os.ReadFile(filepath.Join("/proc", line, "cmdline"))
		if err == nil && strings.Contains(string(arguments), "\x00--listen\x00") &&
			strings.Contains(string(environment), "CODEX_HOME="+e.home.Path+"\x00") {
			pid, err := strconv.Atoi(line)
			require.NoError(e.t, err)
			return pid
		}
	}
	require.Fail(e.t, "no server of the test runs")
	return 0
}

// send sends a message in the page.
func (e *editor) send(text string) {
	e.t.Helper()
	e.await(page + `?.querySelector(".composer textarea") != null`)
	eval[bool](e, `(() => {
		const field = `+page+`.querySelector(".composer textarea");
		field.focus();
		field.value = `+strconv.Quote(text)+`;
		return field.dispatchEvent(new Event("input", {bubbles: true}));
	})()`)
	e.click(page, ".composer button[type=submit]", "")
}

// TestSideBar opens the page in the side bar. A command shows the context there, since no tab is open.
func TestSideBar(t *testing.T) {
	e := openEditor(t, nil)
	e.command("View: Show appserver")
	e.see(page, ".status-open", "")
	e.command("appserver: Show Context")
	e.see(page, ".top-title", "Slugs lose umlauts")
	e.see(page, ".context-item", "")
	require.Equal(t, 1, eval[int](e, `document.querySelectorAll("iframe.webview").length`))
	e.await(`(() => {
		const shown = ` + page + `;
		const list = shown.querySelector(".context-list").getBoundingClientRect();
		return list.width < 320 && list.height >= shown.documentElement.clientHeight / 2;
	})()`)
	e.see(page, ".permissions-facts .fact", "workspace")
	e.shot("side")
}

// TestSetup starts a thread without a model that can be used. The page shows the ways to one instead.
func TestSetup(t *testing.T) {
	e := openEditor(t, object{"appserver.args": []string{"-c", "model_provider=openrouter", "--exit-when-idle", "1"}})
	e.command("appserver: New Thread in This Folder")
	e.see(page, ".welcome", "Choose a model")
	e.see(page, ".setup", "Type a key")
	require.Zero(t, eval[int](e, page+`.querySelectorAll(".composer").length`))
	e.shot("setup")
}

// TestMissingProgram has no program at the path of the settings. The extension says so, says how to install it, and
// leads to the settings.
func TestMissingProgram(t *testing.T) {
	e := openEditor(t, object{"appserver.path": "/nowhere/appserver"})
	e.command("appserver: Open Workbench")
	e.see("document", toast, "The program /nowhere/appserver cannot be started")
	e.click("document", toast+" .monaco-button", "How to Install")
	e.see("document", ".tab", "Preview README.md")
	e.command("appserver: Restart Server")
	e.see("document", toast, "The program /nowhere/appserver cannot be started")
	e.click("document", toast+" .monaco-button", "Open Settings")
	e.see("document", ".settings-editor .setting-item", "Path")
}
