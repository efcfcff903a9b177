//go:build reference

package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReferenceInterchangeReverts has us go on with what the reference implementation has
// reverted, which begins another file each time, and that with what we went on with.
func TestReferenceInterchangeReverts(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(*interchange)
	}{
		{"there and here", (*interchange).revertedThere},
		{"put away", (*interchange).revertedPutAway},
		{"forked", (*interchange).revertedForked},
		{"taken back again", (*interchange).revertedTwice},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(newInterchange(t))
		})
	}
}

// begun is a thread of three turns, of which the reference implementation has reverted the
// last, then a new one.
func (x *interchange) begun() (id string) {
	c := x.reference()
	id = x.twoTurns(c)
	for _, text := range []string{"third", "fourth"} {
		c.turn(id, text)
		turns := c.answer("thread/resume", id).Thread.Turns
		c.call("thread/revert", object{"threadId": id, "beforeTurnId": turns[2].ID})
	}
	c.turn(id, "fifth")
	c.close()
	require.Len(x.t, x.files(), 3)
	return id
}

// files are the paths of all rollouts.
func (x *interchange) files() (paths []string) {
	x.t.Helper()
	for _, pattern := range []string{"sessions/*/*/*/*.jsonl", "archived_sessions/*.jsonl"} {
		found, err := filepath.Glob(filepath.Join(x.home, pattern))
		require.NoError(x.t, err)
		paths = append(paths, found...)
	}
	return paths
}

// times is how often a thread is listed.
func (c *client) times(id string, params object) (n int) {
	c.t.Helper()
	var page struct{ Data []sameThread }
	require.NoError(c.t, json.Unmarshal(c.call("thread/list", params), &page))
	for _, thread := range page.Data {
		if thread.ID == id {
			n++
		}
	}
	return n
}

func (x *interchange) revertedThere() {
	id := x.begun()
	c := x.ours()
	require.Equal(x.t, 1, c.times(id, object{}))
	require.Equal(x.t, "first", c.inList(id).Preview)
	shown := c.answer("thread/resume", id).Thread
	require.Len(x.t, shown.Turns, 3)
	require.Equal(x.t, 1, c.times(id, object{"sortKey": "updated_at"}))
	c.call("thread/name/set", object{"threadId": id, "name": "named"})
	c.turn(id, "sixth")
	told := append(twoTold, "user: fifth", "assistant: answer to fifth", "user: sixth")
	require.Equal(x.t, told, x.model.told(ourRequests))
	c.close()

	c = x.reference()
	there := c.answer("thread/resume", id).Thread
	require.Len(x.t, there.Turns, 4)
	require.Equal(x.t, shown.Path, there.Path)
	require.Equal(x.t, shown.Turns, there.Turns[:3])
	c.turn(id, "seventh")
	told = append(told, "assistant: answer to sixth", "user: seventh")
	require.Equal(x.t, told, x.model.told(theirRequests))
	c.close()

	c = x.ours()
	require.Equal(x.t, "named", c.inList(id).Name)
	require.Len(x.t, c.answer("thread/read", id).Thread.Turns, 5)
	c.close()
}

// revertedPutAway has us bring back what the reference implementation has archived. It does
// not do so with what we have archived, since its database tells it where a thread is.
func (x *interchange) revertedPutAway() {
	id := x.begun()
	files := x.files()
	c := x.ours()
	c.call("thread/archive", object{"threadId": id})
	require.Equal(x.t, 0, c.times(id, object{}))
	require.Equal(x.t, 1, c.times(id, object{"archived": true}))
	c.call("thread/unarchive", object{"threadId": id})
	c.close()

	c = x.reference()
	require.Len(x.t, c.answer("thread/resume", id).Thread.Turns, 3)
	c.call("thread/archive", object{"threadId": id})
	c.close()

	c = x.ours()
	require.Equal(x.t, 1, c.times(id, object{"archived": true}))
	c.call("thread/unarchive", object{"threadId": id})
	require.Equal(x.t, files, x.files())
	require.Len(x.t, c.answer("thread/resume", id).Thread.Turns, 3)
	c.turn(id, "sixth")
	require.Equal(x.t, append(twoTold, "user: fifth", "assistant: answer to fifth", "user: sixth"), x.model.told(ourRequests))
	c.call("thread/delete", object{"threadId": id})
	c.close()
	require.Empty(x.t, x.files())
}

// revertedForked has both servers fork the thread, and neither delete what a fork goes on from.
func (x *interchange) revertedForked() {
	id := x.begun()
	c := x.reference()
	c.call("thread/resume", object{"threadId": id})
	theirs := c.forked(object{"threadId": id})
	c.close()

	c = x.ours()
	next := c.forked(object{"threadId": id})
	require.Len(x.t, next.Turns, 3)
	require.Equal(x.t, next.Turns, c.answer("thread/resume", theirs.ID).Thread.Turns)
	require.Contains(x.t, c.refused("thread/delete", object{"threadId": id}).Message, "forked history still references it")
	c.close()

	c = x.reference()
	require.Equal(x.t, next, c.answer("thread/resume", next.ID).Thread)
	c.turn(next.ID, "sixth")
	require.Equal(x.t, append(twoTold, "user: fifth", "assistant: answer to fifth", "user: sixth"), x.model.told(theirRequests))
	c.close()
}

// revertedTwice has us take back a turn of the last file. Of one that reaches into the files
// before, the reference implementation would take back only what is in the last.
func (x *interchange) revertedTwice() {
	id := x.begun()
	c := x.ours()
	c.call("thread/rollback", object{"threadId": id, "numTurns": 1})
	require.Len(x.t, c.answer("thread/resume", id).Thread.Turns, 2)
	c.turn(id, "sixth")
	told := append(twoTold[:len(twoTold):len(twoTold)], "user: sixth")
	require.Equal(x.t, told, x.model.told(ourRequests))
	c.close()

	c = x.reference()
	c.call("thread/resume", object{"threadId": id})
	c.turn(id, "seventh")
	require.Equal(x.t, append(told, "assistant: answer to sixth", "user: seventh"), x.model.told(theirRequests))
	c.close()
}
