package workbench

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestThreadsAreManaged renames, forks, archives, unarchives and deletes a thread by its menu.
func TestThreadsAreManaged(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, t.TempDir()).open(t)
	w.start(t.TempDir())
	w.send("first")
	w.seeText(".message.agent", "first")
	w.gone(".composer .stop")
	w.menu("Actions for first", "Fork")
	w.await(`document.querySelectorAll(".thread-row").length === 2`)
	w.seeText(".message.agent", "first")
	w.click(".thread-row.selected .menu button")
	w.clickIn("[role=menuitem]", "Rename")
	w.see("dialog input")
	w.press("My thread\r")
	w.gone("dialog")
	w.seeText(".top-title", "My thread")
	w.menu("Actions for My thread", "Archive")
	w.await(`document.querySelectorAll(".thread-row").length === 1`)
	w.clickText("Archived")
	w.clickIn(".thread-row a", "My thread")
	w.seeText(".banner", "This thread is archived")
	w.seeText(".message.agent", "first")
	w.see(".context-item")
	require.True(t, eval[bool](w, `document.querySelector(".composer textarea").disabled`))
	w.clickIn(".banner button", "Unarchive")
	w.gone(".banner")
	w.send("second")
	w.seeText(".message.agent", "second")
	w.gone(".composer .stop")
	w.clickText("Active")
	w.menu("Actions for My thread", "Delete")
	w.clickIn("dialog button", "Delete")
	w.gone("dialog")
	w.await(`document.querySelectorAll(".thread-row").length === 1`)
	w.requireNoProblems()
}

// TestLockedThreadIsReadOnly shows a thread that another server writes. It can be edited when the other
// server has ended.
func TestLockedThreadIsReadOnly(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home := t.TempDir()
	other := apptest.StartOffline(t, home)
	id := other.StartThread(apptest.Object{"cwd": t.TempDir()})
	other.Turn(id, "from another program")
	w := serve(t, home).open(t)
	w.clickText("from another program")
	w.seeText(".banner", "Another program has this thread open")
	w.seeText(".message.agent", "from another program")
	other.Close()
	w.clickIn(".banner button", "Try again")
	w.gone(".banner")
	w.send("mine")
	w.seeText(".message.agent", "mine")
	w.requireNoProblems()
}

// TestKeysReachEverything goes through the regions of the page, and through the timeline, by keys.
func TestKeysReachEverything(t *testing.T) {
	t.Parallel()
	_, w := talk(t)
	for _, region := range []string{".context-list", ".threads", ".timeline", ".composer"} {
		w.press(kb.F6)
		w.await(`document.activeElement.closest("` + region + `") !== null`)
	}
	w.press(kb.F6, shift)
	w.await(`document.activeElement.closest(".timeline") !== null`)
	w.press("k")
	w.press("k")
	w.await(`document.activeElement.textContent.includes("third") && document.activeElement.matches("article")`)
	w.press("[")
	w.await(`document.activeElement.textContent.includes("second")`)
	w.press("x")
	w.seeText(".context-item .badge", "exclude")
	w.press("?")
	w.see("dialog")
	w.press(kb.Escape)
	w.gone("dialog")
	w.press("k", control)
	w.see(".palette input")
	w.press("trim")
	w.seeText(".palette [aria-selected=true]", "Trim to the last turns")
	w.press(kb.Escape)
	w.gone("dialog")
	w.requireNoProblems()
}
