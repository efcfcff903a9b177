package crash

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestCrashAroundUndoOfARevertKeepsOneOfBothStates sends reverts and their undo, and kills the server at a random
// moment, or ends it, which rewrites the rollout. Afterwards the thread has all turns, or those before the revert: at
// least what the last response said, and no part of the next request. The undo then brings back all turns and items.
func TestCrashAroundUndoOfARevertKeepsOneOfBothStates(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home := t.TempDir()
	c := apptest.StartOffline(t, home, "-c", "compat.turn_completed_floor_ms=0")
	id := c.StartTrusted()
	var turns []string
	for _, text := range []string{"one", "two", "run: echo three", "four"} {
		turns = append(turns, c.Turn(id, text).ID)
	}
	c.Call("context/setInclusion", apptest.Object{"threadId": id, "indices": []int{2}, "included": false})
	items := c.ContextList(id).Items
	for round := range 25 {
		first := turns[1+round%3]
		reverted, all := turns[:slices.Index(turns, first)], turns
		states := [][]string{all, reverted}
		requests := map[string][][]string{ // the states that a response leaves possible
			c.SendRequest("thread/revert", apptest.Object{"threadId": id, "beforeTurnId": first}):        {reverted, all},
			c.SendRequest("thread/revert/undo", apptest.Object{"threadId": id, "expectedTurnId": first}): {all},
		}
		if round%5 == 4 {
			require.NoError(t, c.In.Close())
		} else {
			time.AfterFunc(time.Duration(rand.IntN(60_000))*time.Microsecond, func() { _ = c.Cmd.Process.Kill() })
		}
		for m := range c.Messages {
			if left, ok := requests[string(m.ID)]; ok {
				require.Nil(t, m.Error, m.Line)
				states = left
			}
		}
		c.Kill()
		c = apptest.StartOffline(t, home, "-c", "compat.turn_completed_floor_ms=0")
		now := idsOf(c.ReadThread(id))
		require.Contains(t, states, now, "round %d", round)
		if len(now) < len(all) {
			c.Call("thread/revert/undo", apptest.Object{"threadId": id, "expectedTurnId": first})
		}
		require.Equal(t, all, idsOf(c.ReadThread(id)))
		require.Equal(t, items, c.ContextList(id).Items)
	}
	require.False(t, items[2].Included)
	c.Close()
}

func idsOf(v apptest.ThreadView) (ids []string) {
	for _, turn := range v.Turns {
		ids = append(ids, turn.ID)
	}
	return ids
}
