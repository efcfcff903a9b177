package e2e

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/test/apptest"
	"appserver/test/sample"
)

// volatileMembers are those of a thread that each line changes, and those of its lists that count edits.
var volatileMembers = regexp.MustCompile(
	`"(updatedAt|recencyAt|revision)":\d+,?|"(nextCursor|backwardsCursor|status)":("[^"]*"|\{[^}]*\}),?`)

// shownState returns the state of a thread as clients see it: its turns, timeline, context with the
// next request, usage and checkpoints. The journal is left out.
func shownState(c *apptest.Client, id string) map[string]string {
	state := map[string]string{}
	for method, params := range map[string]apptest.Object{
		"thread/read": {"includeTurns": true}, "thread/timeline/list": {"limit": 200}, "context/getItems": {},
		"context/getUsage": {}, "context/getPrompt": {}, "thread/usage/list": {}, "thread/checkpoint/list": {},
		"thread/diff/read": {}, "context/search": {"query": "e", "includeRemoved": true},
	} {
		all := apptest.Object{"threadId": id}
		maps.Copy(all, params)
		state[method] = volatileMembers.ReplaceAllString(string(c.Call(method, all)), "")
	}
	thread := gjson.Parse(state["thread/read"]).Get("thread")
	state["thread/read"] = thread.Get("{preview,turns,contextTrimPoints}").Raw // others depend on who has it loaded
	return state
}

// TestUndoOfARevertBringsAllBack reverts turns after edits of the context, trims and commands, and undoes that: at
// once, after a kill of the server, and after a graceful end, which rewrites the rollout.
func TestUndoOfARevertBringsAllBack(t *testing.T) {
	apptest.OnBothWires(t, testUndoOfARevertBringsAllBack)
}

func testUndoOfARevertBringsAllBack(t *testing.T, on apptest.WireAPI) {
	t.Parallel()
	o, p := apptest.NewScriptedModelOn(t, on), apptest.NewRepository(t)
	home := o.Home(t)
	start := func() *apptest.Client {
		c := apptest.StartServer(t, home)
		c.Initialize()
		return c
	}
	c := start()
	id := p.StartTrusted(c)
	turns := []string{c.RunScript(id, apptest.ShellCall("echo 1 > doc.txt"))}
	c.Call("context/setInclusion", apptest.Object{"threadId": id, "indices": []int{1}, "included": false})
	turns = append(turns, c.RunScript(id, apptest.ShellCall("echo 2 > doc.txt")))
	c.Call("thread/context/trim", apptest.Object{"threadId": id, "keepLastNTurns": 1, "summary": "They wrote one."})
	turns = append(turns, c.RunScript(id, apptest.ShellCall("echo 3 > doc.txt")))
	c.Call("context/pin", apptest.Object{"threadId": id, "indices": []int{0}, "pinned": true})
	c.Call("context/undo", apptest.Object{"threadId": id})
	files, before := p.Files(), shownState(c, id)

	answer := c.CallJSON("thread/revert", apptest.Object{"threadId": id, "beforeTurnId": turns[1],
		"expectedLastTurnId": turns[2]})
	require.Equal(t, turns[1:], texts(answer.Get("removedTurnIds")))
	undone := c.CallJSON("thread/revert/undo", apptest.Object{"threadId": id, "expectedTurnId": turns[1]})
	require.Equal(t, turns[1:], texts(undone.Get("restoredTurnIds")))
	requireState(t, before, shownState(c, id))
	require.Equal(t, 2, c.Count("thread/reverted"), "clients read the turns again after both")

	c.RevertTo(id, turns[1], "conversation")
	c.Call("thread/rollback", apptest.Object{"threadId": id, "numTurns": 1, "expectedLastTurnId": turns[0]})
	c.Kill()
	c = start()
	undone = c.CallJSON("thread/revert/undo", apptest.Object{"threadId": id})
	require.Equal(t, turns[:1], texts(undone.Get("restoredTurnIds")))
	c.Close() // rewrites the rollout
	c = start()
	undone = c.CallJSON("thread/revert/undo", apptest.Object{"threadId": id})
	require.Equal(t, turns[1:], texts(undone.Get("restoredTurnIds")))
	requireState(t, before, shownState(c, id))
	c.Close()
	c = start()
	requireState(t, before, shownState(c, id))
	require.Equal(t, "nothingToUndo", c.CallRejected("thread/revert/undo", apptest.Object{"threadId": id}).Data.Kind)
	require.Equal(t, files, p.Files())
	c.Call("context/redo", apptest.Object{"threadId": id})
	items := c.ContextList(id).Items
	require.True(t, slices.ContainsFunc(items, func(i protocol.ContextItem) bool { return i.Pinned }),
		"the edit that was undone before the revert is redone")
	c.Close()
}

// TestUndoOfARevertEndsWithTheNextTurn also refuses an undo after an item has joined the context, and while a later
// edit is in force.
func TestUndoOfARevertEndsWithTheNextTurn(t *testing.T) {
	t.Parallel()
	c := apptest.StartOffline(t, apptest.ShortDir(t))
	id := c.StartTrusted()
	undo := func() *apptest.RPCError {
		return c.Request("thread/revert/undo", apptest.Object{"threadId": id}).Error
	}
	revert := func(turn string) {
		c.Call("thread/revert", apptest.Object{"threadId": id, "beforeTurnId": turn, "expectedLastTurnId": turn})
	}
	first := c.Turn(id, "first").ID
	revert(c.Turn(id, "second").ID)
	third := c.Turn(id, "third").ID
	require.Equal(t, "nothingToUndo", undo().Data.Kind)
	require.Equal(t, []string{first, third}, turnIDs(c.ReadThread(id)))

	revert(third)
	c.Call("thread/inject_items", apptest.Object{"threadId": id, "items": []apptest.Object{{"type": "message",
		"role": "user", "content": []apptest.Object{{"type": "input_text", "text": "more"}}}}})
	require.Equal(t, "nothingToUndo", undo().Data.Kind)

	fourth := c.Turn(id, "fourth").ID
	revert(fourth)
	c.Call("context/setInclusion", apptest.Object{"threadId": id, "indices": []int{1}, "included": false})
	refused := undo()
	require.Equal(t, "nothingToUndo", refused.Data.Kind)
	require.Contains(t, refused.Message, "context/undo")
	c.Call("context/undo", apptest.Object{"threadId": id})
	require.Nil(t, undo())
	require.Equal(t, []string{first, fourth}, turnIDs(c.ReadThread(id)))
}

// TestRevertsCheckTheLastTurn continues a thread of 2,500 turns with one client, while another one reverts what it knew
// before.
func TestRevertsCheckTheLastTurn(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesLines)
	sample.Long(t)
	t.Parallel()
	home := apptest.ShortDir(t)
	id := apptest.LongRollout{Turns: 2500, Output: 1}.Write(t, home)
	c := apptest.StartOffline(t, home)
	known := turnIDs(c.ReadThread(id))
	require.Len(t, known, 2501)
	c.Call("thread/resume", apptest.Object{"threadId": id, "excludeTurns": true})
	newest := c.Turn(id, "another client")
	stale := known[len(known)-1]
	for method, params := range map[string]apptest.Object{
		"thread/revert":            {"beforeTurnId": known[2124]},
		"thread/rollback":          {"numTurns": 377},
		"thread/checkpoint/revert": {"turnId": known[2124], "mode": "conversation"},
	} {
		params["threadId"], params["expectedLastTurnId"] = id, stale
		refused := c.CallRejected(method, params)
		require.Equal(t, "staleTurn", refused.Data.Kind, method)
		require.Equal(t, newest.ID, refused.Data.TurnID, method)
		require.Contains(t, refused.Message, stale)
	}
	all := append(known, newest.ID)
	require.Equal(t, all, turnIDs(c.ReadThread(id)))

	before := shownState(c, id)
	answer := c.CallJSON("thread/revert",
		apptest.Object{"threadId": id, "beforeTurnId": known[2124], "expectedLastTurnId": newest.ID})
	require.Equal(t, all[2124:], texts(answer.Get("removedTurnIds")))
	require.Equal(t, all[:2124], turnIDs(c.ReadThread(id)))
	c.Close()
	c = apptest.StartOffline(t, home)
	undone := c.CallJSON("thread/revert/undo", apptest.Object{"threadId": id, "expectedTurnId": known[2124]})
	require.Equal(t, all[2124:], texts(undone.Get("restoredTurnIds")))
	requireState(t, before, shownState(c, id))
	c.Close()
	c = apptest.StartOffline(t, home)
	requireState(t, before, shownState(c, id))
}

// TestRolloutsOfUndoneRevertsHaveTheTurns reads the rollout as other programs do: after the server has ended, it has
// all items and no line of the revert.
func TestRolloutsOfUndoneRevertsHaveTheTurns(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesBackup)
	t.Parallel()
	home := apptest.ShortDir(t)
	c := apptest.StartOffline(t, home)
	id := c.StartTrusted()
	c.Turn(id, "first")
	second := c.Turn(id, "second").ID
	path := c.ReadThread(id).Path
	before := readText(t, path)
	c.Call("thread/revert", apptest.Object{"threadId": id, "beforeTurnId": second})
	c.Close()
	require.NotContains(t, readText(t, path), second)
	c = apptest.StartOffline(t, home)
	c.Call("thread/revert/undo", apptest.Object{"threadId": id})
	c.Close()
	lines := readText(t, path)
	require.NotContains(t, lines, "thread_rolled_back")
	for line := range strings.Lines(before) {
		require.Contains(t, lines, gjson.Get(line, "payload").Raw)
	}
}

func requireState(t *testing.T, want, got map[string]string) {
	t.Helper()
	for method, text := range want {
		require.True(t, text == got[method], "%s was %.2000s\nand is %.2000s", method, text, got[method]) // the whole is long
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func texts(list gjson.Result) (all []string) {
	for _, one := range list.Array() {
		all = append(all, one.Str)
	}
	return all
}

func turnIDs(thread apptest.ThreadView) (ids []string) {
	for _, turn := range thread.Turns {
		ids = append(ids, turn.ID)
	}
	return ids
}
