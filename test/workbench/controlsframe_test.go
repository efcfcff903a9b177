package workbench

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// command runs a command of the palette.
func (w *workbench) command(label string) {
	w.t.Helper()
	w.leaveFields()
	w.press("k", control)
	w.fill(".palette input", label)
	w.clickIn(".palette [role=option]", label)
	w.gone(".palette")
}

// TestEachCommandOfThePaletteWorks runs each command that does not only show a tab.
func TestEachCommandOfThePaletteWorks(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := talk(t)
	for _, c := range [][2]string{
		{"New thread…", "New thread"}, {"Settings…", "Settings"}, {"Keyboard shortcuts", "Keyboard shortcuts"},
		{"Trim to the last turns…", "Trim"}, {"Compact…", "Compact"}, {"Show prompts…", "Prompts"},
		{"Exclude a category…", "Exclude categories"}, {"Restore the full context…", "Restore"},
		{"Rewind the conversation…", "Rewind"},
	} {
		w.command(c[0])
		w.closeDialog(c[1])
	}
	w.command("Find in messages")
	w.fill(".find input", "second")
	w.seeText(".find-count", "2 of 2")
	w.click(`button[aria-label="Previous match"]`)
	w.seeText(".find-count", "1 of 2")
	w.click(`button[aria-label="Next match"]`)
	w.seeText(".find-count", "2 of 2")
	w.press(kb.Escape)
	w.gone(".find")
	w.size(1280, 400, 1)
	w.await(`(document.querySelector(".timeline").scrollTo(0, 0), document.querySelector(".to-newest") !== null)`)
	w.command("Go to the end")
	w.atEnd()
	w.size(1280, 800, 1)
	w.click(".footer .mode input")
	w.check("first")
	w.seeText(".context-item .badge", "excluded")
	w.command("Undo the last edit of the context")
	w.gone(".context-item .badge")
	w.command("Redo")
	w.seeText(".context-item .badge", "excluded")
	w.requireNoProblems()
}

// TestControlsOfTheFrame closes notes, shows and hides the parts of the page, and connects again by a button.
func TestControlsOfTheFrame(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := talk(t)
	w.write("/contxt")
	eval[bool](w, enter)
	w.seeText(".banner.error", "/contxt is no command")
	w.click(`.banner.error button[aria-label="Close"]`)
	w.gone(".banner.error")
	w.clear()
	w.send("/context ")
	w.seeText(".banner.done", "The next request has")
	w.click(`.notices button[aria-label="Close"]`)
	w.gone(".notices .banner")
	w.click(".ring")
	w.gone(".panel")
	w.click(".ring")
	w.see(".panel")

	w.rewindTo("third")
	w.clickIn("dialog .danger-button", "Remove 1 turn")
	w.gone("dialog")
	w.click(`.undo-revert button[aria-label="Close"]`)
	w.gone(".undo-revert")
	w.clear()
	w.offline(true)
	w.seeText(".banner", "The connection to the server is lost")
	eval[bool](w, "(setOffline(false), true)")
	w.clickText("Connect now")
	w.see(".status-open")
	eval[bool](w, `(location.hash = "", true)`)
	w.seeText(".empty", "No thread is open")
	w.click(`header button[aria-label="Threads"]`)
	w.gone(".threads")
	w.clickText("Show threads")
	w.see(".threads")
}

// TestControlsOfThreads searches threads, archives one in two ways, brings it back by its menu, and forks before a
// message.
func TestControlsOfThreads(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := talk(t)
	w.await(`(() => {
		const m = [...document.querySelectorAll(".message.user")].find((e) => e.textContent.includes("second"));
		m?.querySelector("button[aria-label='Item actions']")?.click();
		return m !== undefined;
	})()`)
	w.clickIn("[role=menuitem]", "Show in context")
	w.await(`document.activeElement.matches(".context-item") && document.activeElement.textContent.includes("second")`)
	w.await(`(() => {
		const m = [...document.querySelectorAll(".message.user")].find((e) => e.textContent.includes("second"));
		m?.querySelector("button[aria-label='Item actions']")?.click();
		return m !== undefined;
	})()`)
	w.clickIn("[role=menuitem]", "Fork before this message")
	w.await(`document.querySelectorAll(".thread-row").length === 2`)
	w.await(`[...document.querySelectorAll(".message.user p")].map((e) => e.textContent).join() === "first"`)
	w.say("fourth")
	w.fill(`input[aria-label="Search threads"]`, "third")
	w.await(`document.querySelectorAll(".thread-row").length === 1`)
	w.fill(`input[aria-label="Search threads"]`, " ")
	w.press(kb.Backspace)
	w.await(`document.querySelectorAll(".thread-row").length === 2`)
	w.click(".thread-row.selected .menu button")
	w.clickIn("[role=menuitem]", "Archive and start a new one")
	w.await(`document.querySelectorAll(".message").length === 0`)
	w.seeText(".top-title", "New thread")
	w.clickText("Archived")
	w.await(`document.querySelectorAll(".thread-row").length === 1`)
	w.click(".thread-row .menu button")
	w.clickIn("[role=menuitem]", "Unarchive")
	w.gone(".thread-row")
	w.clickText("Active")
	w.await(`document.querySelectorAll(".thread-row").length >= 2`)
	w.requireNoProblems()
}

// dotPNG is a picture of one point.
const dotPNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// TestControlsOfTheComposer attaches an image and removes it, finds a model, and copies a message.
func TestControlsOfTheComposer(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := talk(t)
	data, err := base64.StdEncoding.DecodeString(dotPNG)
	require.NoError(t, err)
	image := filepath.Join(t.TempDir(), "dot.png")
	require.NoError(t, os.WriteFile(image, data, 0o600))
	w.do(chromedp.SetUploadFiles(chromedp.CSS(`.composer input[type=file]`), []string{image}))
	w.see(".attachment img")
	w.click(`button[aria-label="Remove dot.png"]`)
	w.gone(".attachment")

	w.click(`button[aria-label="Model of the next turn"]`)
	w.fill(`input[aria-label="Find a model"]`, "no such model")
	w.gone(".model-list [role=option]")
	w.press(kb.Escape)
	w.gone("dialog")

	eval[bool](w, `(Object.defineProperty(navigator, "clipboard", {value: {writeText: async (text) => { window.copied = text; }}}), true)`)
	w.click(`.message.agent button[aria-label="Copy"]`)
	w.see(`.message.agent button[aria-label="Copied"]`)
	require.Contains(t, eval[string](w, "window.copied"), `You said: "first"`)
	w.requireNoProblems()
}

// TestControlsOfANewThread browses below a folder, chooses a former folder, and asks for each command.
func TestControlsOfANewThread(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, t.TempDir()).open(t)
	project := folder(t, "apples")
	require.NoError(t, os.Mkdir(filepath.Join(project, "seeds"), 0o755))
	w.start(project)
	w.say("one")
	w.click(`.threads-head button[aria-label="New thread"]`)
	w.clickIn(".recent button", "apples")
	w.await(`document.querySelector("#folder").value === "` + project + `"`)
	w.clickText("Browse")
	w.seeText(".folders [role=option]", "seeds")
	w.clickText("What the agent may do")
	w.choose(".permissions label:nth-of-type(2) select", "untrusted")
	w.clickIn("dialog button", "Start")
	w.gone("dialog")
	w.seeText(".facts, .permissions-facts", "ask for each command")
	w.requireNoProblems()
}

// TestControlsOfSettings changes a box and a text, and reads the diagnostics again.
func TestControlsOfSettings(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home := t.TempDir()
	w := serve(t, home).open(t)
	w.openSettings("Settings")
	w.see("dialog .setting")
	w.click(`dialog .setting input[type=checkbox]`)
	w.seeText("dialog .good-text", "Saved")
	written := read(t, home, "config.toml")
	require.Regexp(t, `= (true|false)\n`, written)
	w.fill(`dialog .setting input[type=text]`, "some-text")
	w.clickIn("dialog .setting button", "Save")
	w.await(`document.querySelectorAll("dialog .good-text").length === 2`)
	require.Contains(t, read(t, home, "config.toml"), `"some-text"`)
	w.clickIn("dialog [role=tab]", "Diagnostics")
	w.seeText("dialog tr", "connections")
	table := `document.querySelector("dialog tbody").textContent`
	before := eval[string](w, table)
	w.clickText("Read again")
	w.await(table + " !== `" + before + "`")
	w.requireNoProblems()
}

// TestControlsOfTheListOfThreads loads the threads behind the first fifty, and opens one that fails at first.
func TestControlsOfTheListOfThreads(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	needChromium(t)
	home := t.TempDir()
	c := apptest.StartOffline(t, home, "-c", "compat.turn_completed_floor_ms=0")
	cwd := t.TempDir()
	for range 51 {
		c.Turn(c.StartThread(apptest.Object{"cwd": cwd}), "hello")
	}
	c.Close()
	w := serve(t, home).open(t)
	w.see(".thread-row")
	w.click(".thread-project")
	w.clickText("Load more threads")
	w.gone(".more-threads")
	w.seeText(".thread-project", "51")
	w.click(".thread-project")
	w.rewrite(`"thread/resume"`, `m.replace(/"threadId":"[^"]*"/, '"threadId":"00000000-0000-7000-8000-000000000000"')`)
	w.click(".thread-row .thread")
	w.clickIn("main button", "Try again")
	w.seeText(".message.agent", "You said")
	w.requireNoProblems()
}

// TestLinksLeadOutWithoutAReferrer opens a link of a message in a tab of its own.
func TestLinksLeadOutWithoutAReferrer(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	asked := make(chan http.Header, 9)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/there" {
			asked <- r.Header
		}
	}))
	t.Cleanup(other.Close)
	w := serveScript(t, object{"match": "go", "text": "See " + other.URL + "/there for more."}).open(t)
	w.start(t.TempDir())
	w.send("go")
	w.ended("See")
	w.clickIn(".message.agent a", "/there")
	select {
	case header := <-asked:
		require.Empty(t, header.Get("Referer"))
	case <-time.After(patience):
		require.Fail(t, "the link was not opened")
	}
	w.see(".message.agent")
}

// TestMessageIsSentAgainInAForkByChoice chooses the thread and then the fork.
func TestMessageIsSentAgainInAForkByChoice(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	_, w := talk(t)
	w.resend("second", "changed")
	w.clickIn("dialog .option", "In this thread")
	w.see("dialog .danger-button")
	w.clickIn("dialog .option", "In a fork")
	w.clickIn("dialog .primary", "Send in a fork")
	w.gone("dialog")
	w.ended(`You said: "changed"`)
	w.awaitMessages("first", "changed")
	w.await(`document.querySelectorAll(".thread-row").length === 2`)
	w.requireNoProblems()
}
