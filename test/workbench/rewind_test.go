package workbench

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// openWithClient opens the page of a server that a client on pipes uses as well. The thread has turns; the message of
// turn N begins with "N All work".
func openWithClient(t *testing.T, turns int) (*apptest.Client, string, *workbench) {
	t.Helper()
	needChromium(t)
	home := t.TempDir()
	thread := apptest.LongRollout{Turns: turns, Output: 4}.Write(t, home)
	c := apptest.StartOffline(t, home, "--web", "127.0.0.1:0", "-c", "compat.turn_completed_floor_ms=0")
	c.Call("thread/resume", apptest.Object{"threadId": thread, "excludeTurns": true})
	w := (&server{home: home}).openTab(t)
	w.show("hello")
	return c, thread, w
}

// turnsOf returns the ids of the turns of a thread.
func turnsOf(c *apptest.Client, thread string) (ids []string) {
	for _, turn := range c.ReadThread(thread).Turns {
		ids = append(ids, turn.ID)
	}
	return ids
}

// rewindTo chooses to rewind to a message that is shown.
func (w *workbench) rewindTo(message string) {
	w.t.Helper()
	w.await(fmt.Sprintf(`(() => {
		const m = [...document.querySelectorAll(".message.user")].find((e) => e.textContent.includes(%q));
		m?.querySelector("button[aria-label='Item actions']")?.click();
		return m !== undefined;
	})()`, message))
	w.clickIn("[role=menuitem]", "Rewind to here")
	w.see("dialog")
}

// TestRewindInALongThreadRemovesTheChosenTurns jumps to turn 2123 of 2,500 and rewinds to it: this turn and all later
// ones leave, although the page has only the entries around it. The dialog and the result name the turns. Undo brings
// them back.
func TestRewindInALongThreadRemovesTheChosenTurns(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, thread, w := openWithClient(t, 2500)
	all := turnsOf(c, thread) // "hello" is before turn 0
	w.press("f", control)
	w.fill(".find input", "2123 All")
	w.seeText(".entry.found", "2123 All")
	w.press(kb.Escape)
	w.rewindTo("2123 All")
	w.seeText("dialog", "377 turns leave the conversation")
	w.seeText("dialog .removed-turns", "First: 2123 All")
	w.seeText("dialog .removed-turns", "Last: 2499 All")
	w.accessible("rewind")
	w.shot("rewind-dialog")
	w.clickIn("dialog .danger-button", "Remove 377 turns")
	w.gone("dialog")
	w.seeText(".undo-revert", "Removed 377 turns: from “2123 All")
	w.seeText(".undo-revert", "to “2499 All")
	require.Equal(t, all[:2124], turnsOf(c, thread))
	w.await(`document.querySelector(".composer textarea").value.startsWith("2123 All")`)
	w.seeText(".message.user", "2122 All")
	w.shot("rewind-undo")
	w.clickIn(".undo-revert button", "Undo")
	w.seeText(".banner.done", "377 turns of the conversation came back")
	w.seeText(".message.user", "2499 All")
	require.Equal(t, all, turnsOf(c, thread))
	w.await(`document.querySelector(".composer textarea").value === ""`)
	w.requireNoProblems()
}

// TestRewindListsTurnsOfTheServer chooses one of the turns that the server lists, also those of compactions. A turn
// that another client adds meanwhile stays.
func TestRewindListsTurnsOfTheServer(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, thread, w := openWithClient(t, 40)
	c.Call("thread/compact/start", apptest.Object{"threadId": thread, "strategy": "local"})
	c.UntilMethod("turn/completed")
	all := turnsOf(c, thread)
	w.seeText(".chip", "Summary")
	eval[bool](w, `(document.querySelector(".composer textarea").focus(), true)`)
	w.press(kb.Escape)
	w.press(kb.Escape)
	w.seeText(".rewind-list .option", "Compaction of the context")
	w.seeText("dialog .danger-button", "Remove 1 turn")
	w.clickText("Show earlier turns")
	w.clickIn(".rewind-list .option", "10 All work")
	w.seeText("dialog .danger-button", "Remove 31 turns")
	w.shot("rewind-choice")
	added := c.Turn(thread, "another client").ID
	w.clickIn("dialog .danger-button", "Remove 31 turns")
	w.seeText("dialog .error-text", "newer turns than were shown")
	require.Equal(t, append(all, added), turnsOf(c, thread))
	w.seeText("dialog .danger-button", "Remove 32 turns")
	w.clickIn("dialog .danger-button", "Remove 32 turns")
	w.gone("dialog")
	require.Equal(t, all[:11], turnsOf(c, thread))
	w.press("2", alt)
	w.seeText(".history li", "Revert")
	w.clickIn(".history li button[aria-label='Undo the revert']", "Undo")
	w.seeText(".history li.undone", "Revert")
	require.Equal(t, append(all, added), turnsOf(c, thread))
	c.Call("thread/revert", apptest.Object{"threadId": thread, "beforeTurnId": added})
	c.Turn(thread, "the next turn")
	w.gone(".undo-revert")
	w.requireNoProblems()
}

// TestRevertOfTheConversationIsUndone reverts files and conversation to a checkpoint, and undoes the second part.
func TestRevertOfTheConversationIsUndone(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w, _ := edited(t)
	w.press("4", alt)
	w.openRevert("second")
	w.clickIn("dialog .danger-button", "Revert 1 file, remove 1 turn")
	w.gone("dialog")
	w.seeText(".undo-revert", "Removed 1 turn: “")
	w.clickIn(".undo-revert button", "Undo")
	w.seeText(".message.agent", "Two.")
	w.gone(".undo-revert")
	w.requireNoProblems()
}
