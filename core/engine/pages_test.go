package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/engine"
	"appserver/protocol"
)

func turnPage(thread string, cursor *string) call {
	p := &protocol.ThreadTurnsListParams{ThreadID: thread, Cursor: cursor, Limit: new(uint32(2)),
		ItemsView: new(protocol.ItemsFull)}
	return call{"thread/turns/list", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadTurnsList(to, p) }}
}

func itemPage(thread string, cursor *protocol.ThreadItemCursor) call {
	p := &protocol.ThreadItemsListParams{ThreadID: thread, Cursor: cursor, Limit: new(uint32(3))}
	return call{"thread/items/list", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadItemsList(to, p) }}
}

// TestPagesOfAStoredThread checks that stored and loaded threads have the same pages, to the byte, and
// that a cursor is valid for both, also after a crash and after a rewrite.
func TestPagesOfAStoredThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "run touch a")
		r.turn(1, id, "say secret")
		r.turn(1, id, "fail")
		turns, items := r.ask(1, turnPage(id, nil)), r.ask(1, itemPage(id, nil))
		pages := []call{
			turnPage(id, nil), turnPage(id, new(turns.Get("nextCursor").Str)),
			turnPage(id, new(turns.Get("backwardsCursor").Str)),
			itemPage(id, nil), itemPage(id, &protocol.ThreadItemCursor{Page: items.Get("nextCursor").Str}),
		}
		var want []string
		for _, page := range pages {
			want = append(want, r.ask(1, page).Raw)
		}
		same := func(r *rig) {
			for i, page := range pages {
				require.Equal(t, want[i], r.ask(1, page).Raw)
			}
			require.Empty(t, r.loaded())
		}
		crashed := r.afterCrash()
		same(crashed)
		require.NoError(t, crashed.close(time.Minute))

		r.ask(1, exclude(id, r.idOf(id, "secret")))
		r.leave()
		require.Len(t, rolloutsOf(r.mem, id), 2, "the rollout is rewritten, with a backup")
		same(r)
	})
}
