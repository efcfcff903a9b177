//go:build reference

package interchange

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// TestReferenceInterchangeReverts continues here what the reference reverted, which starts another
// file each time, and then continues it with the reference.
func TestReferenceInterchangeReverts(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesExchange)
	for _, c := range []struct {
		name string
		run  func(*interchange)
	}{
		{"there and here", (*interchange).revertedThere},
		{"put away", (*interchange).revertedArchived},
		{"forked", (*interchange).revertedForked},
		{"taken back again", (*interchange).revertedHere},
		{"undone here", (*interchange).revertUndoneHere},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(newInterchange(t))
		})
	}
}

// revertedTwiceThere returns a thread of three turns. The reference reverted the last one, and then
// a new one.
func (x *interchange) revertedTwiceThere() (id string) {
	c := x.reference()
	id = x.twoTurns(c)
	for _, text := range []string{"third", "fourth"} {
		c.Turn(id, text)
		turns := c.CompareAnswer("thread/resume", id).Thread.Turns
		c.Call("thread/revert", apptest.Object{"threadId": id, "beforeTurnId": turns[2].ID})
	}
	c.Turn(id, "fifth")
	c.Close()
	require.Len(x.t, x.files(), 3)
	return id
}

// files returns the paths of all rollouts.
func (x *interchange) files() (paths []string) {
	x.t.Helper()
	for _, pattern := range []string{"sessions/*/*/*/*.jsonl", "archived_sessions/*.jsonl"} {
		found, err := filepath.Glob(filepath.Join(x.home, pattern))
		require.NoError(x.t, err)
		paths = append(paths, found...)
	}
	return paths
}

// countListed returns the number of times that a thread is listed.
func countListed(c *apptest.Client, id string, params apptest.Object) (n int) {
	c.T.Helper()
	var page struct{ Data []apptest.ComparedThread }
	require.NoError(c.T, json.Unmarshal(c.Call("thread/list", params), &page))
	for _, thread := range page.Data {
		if thread.ID == id {
			n++
		}
	}
	return n
}

func (x *interchange) revertedThere() {
	id := x.revertedTwiceThere()
	c := x.ours()
	require.Equal(x.t, 1, countListed(c, id, apptest.Object{}))
	require.Equal(x.t, "first", inList(c, id).Preview)
	shown := c.CompareAnswer("thread/resume", id).Thread
	require.Len(x.t, shown.Turns, 3)
	require.Equal(x.t, 1, countListed(c, id, apptest.Object{"sortKey": "updated_at"}))
	c.Call("thread/name/set", apptest.Object{"threadId": id, "name": "named"})
	c.Turn(id, "sixth")
	prompt := append(twoTurnsConversation, "user: fifth", "assistant: answer to fifth", "user: sixth")
	require.Equal(x.t, prompt, x.model.conversation(ourRequests))
	c.Close()

	c = x.reference()
	there := c.CompareAnswer("thread/resume", id).Thread
	require.Len(x.t, there.Turns, 4)
	require.Equal(x.t, shown.Path, there.Path)
	require.Equal(x.t, shown.Turns, there.Turns[:3])
	c.Turn(id, "seventh")
	prompt = append(prompt, "assistant: answer to sixth", "user: seventh")
	require.Equal(x.t, prompt, x.model.conversation(theirRequests))
	c.Close()

	c = x.ours()
	require.Equal(x.t, "named", inList(c, id).Name)
	require.Len(x.t, c.CompareAnswer("thread/read", id).Thread.Turns, 5)
	c.Close()
}

// revertedArchived unarchives here what the reference archived. The opposite does not work, because
// the reference has the path in its database.
func (x *interchange) revertedArchived() {
	id := x.revertedTwiceThere()
	files := x.files()
	c := x.ours()
	c.Call("thread/archive", apptest.Object{"threadId": id})
	require.Equal(x.t, 0, countListed(c, id, apptest.Object{}))
	require.Equal(x.t, 1, countListed(c, id, apptest.Object{"archived": true}))
	c.Call("thread/unarchive", apptest.Object{"threadId": id})
	c.Close()

	c = x.reference()
	require.Len(x.t, c.CompareAnswer("thread/resume", id).Thread.Turns, 3)
	c.Call("thread/archive", apptest.Object{"threadId": id})
	c.Close()

	c = x.ours()
	require.Equal(x.t, 1, countListed(c, id, apptest.Object{"archived": true}))
	c.Call("thread/unarchive", apptest.Object{"threadId": id})
	require.Equal(x.t, files, x.files())
	require.Len(x.t, c.CompareAnswer("thread/resume", id).Thread.Turns, 3)
	c.Turn(id, "sixth")
	require.Equal(x.t, append(twoTurnsConversation, "user: fifth", "assistant: answer to fifth", "user: sixth"),
		x.model.conversation(ourRequests))
	c.Call("thread/delete", apptest.Object{"threadId": id})
	c.Close()
	require.Empty(x.t, x.files())
}

// revertedForked forks the thread with both servers. Neither may delete the origin of a fork.
func (x *interchange) revertedForked() {
	id := x.revertedTwiceThere()
	c := x.reference()
	c.Call("thread/resume", apptest.Object{"threadId": id})
	theirs := forked(c, apptest.Object{"threadId": id})
	c.Close()

	c = x.ours()
	next := forked(c, apptest.Object{"threadId": id})
	require.Len(x.t, next.Turns, 3)
	require.Equal(x.t, next.Turns, c.CompareAnswer("thread/resume", theirs.ID).Thread.Turns)
	require.Contains(x.t, c.CallRejected("thread/delete", apptest.Object{"threadId": id}).Message,
		"forked history still references it")
	c.Close()

	c = x.reference()
	require.Equal(x.t, next, c.CompareAnswer("thread/resume", next.ID).Thread)
	c.Turn(next.ID, "sixth")
	require.Equal(x.t, append(twoTurnsConversation, "user: fifth", "assistant: answer to fifth", "user: sixth"),
		x.model.conversation(theirRequests))
	c.Close()
}

// revertedHere reverts here a turn of the last file. For a turn in an earlier file, the reference
// would revert only what is in the last one.
func (x *interchange) revertedHere() {
	id := x.revertedTwiceThere()
	c := x.ours()
	c.Call("thread/rollback", apptest.Object{"threadId": id, "numTurns": 1})
	require.Len(x.t, c.CompareAnswer("thread/resume", id).Thread.Turns, 2)
	c.Turn(id, "sixth")
	prompt := append(twoTurnsConversation[:len(twoTurnsConversation):len(twoTurnsConversation)], "user: sixth")
	require.Equal(x.t, prompt, x.model.conversation(ourRequests))
	c.Close()

	c = x.reference()
	c.Call("thread/resume", apptest.Object{"threadId": id})
	c.Turn(id, "seventh")
	require.Equal(x.t, append(prompt, "assistant: answer to sixth", "user: seventh"), x.model.conversation(theirRequests))
	c.Close()
}

// revertUndoneHere undoes a revert after the rollout was rewritten for it. The reference shows and sends the turns
// again.
func (x *interchange) revertUndoneHere() {
	c := x.ours()
	id := x.twoTurns(c)
	shown := c.CompareAnswer("thread/resume", id).Thread.Turns
	c.Call("thread/rollback", apptest.Object{"threadId": id, "numTurns": 1})
	c.Close()

	c = x.ours()
	c.Call("thread/revert/undo", apptest.Object{"threadId": id})
	c.Close()

	c = x.reference()
	require.Equal(x.t, shown, c.CompareAnswer("thread/resume", id).Thread.Turns)
	c.Turn(id, "third")
	require.Equal(x.t, append(twoTurnsConversation[:len(twoTurnsConversation):len(twoTurnsConversation)], "user: third"),
		x.model.conversation(theirRequests))
	c.Close()
}
