package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/engine"
	"appserver/protocol"
)

func timeline(thread string) call { return timelinePage(thread, nil, nil) }

func timelinePage(thread string, cursor *string, limit *uint32) call {
	p := &protocol.ThreadTimelineListParams{ThreadID: thread, Cursor: cursor, Limit: limit}
	return call{"thread/timeline/list", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadTimelineList(to, p) }}
}

// TestTheTimelineOfAStoredThread checks that the stored and the loaded thread have the same timeline:
// after a crash, after a rewrite with and without its backup, and in the archive.
func TestTheTimelineOfAStoredThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "run touch a")
		r.turn(1, id, "say secret")
		r.turn(1, id, "fail")
		want := r.ask(1, timeline(id)).Raw
		require.Equal(t, 3, strings.Count(want, `"type":"turnCompleted"`))
		first := r.ask(1, timelinePage(id, nil, new(uint32(4))))
		older := timelinePage(id, new(first.Get("nextCursor").Str), nil)

		crashed := r.afterCrash()
		require.Equal(t, want, crashed.ask(1, timeline(id)).Raw)
		require.Empty(t, crashed.loaded())
		require.Empty(t, crashed.mem.Held(), "reading locks nothing")
		require.NoError(t, crashed.close(time.Minute))

		r.ask(1, exclude(id, r.idOf(id, "secret")))
		r.leave()
		paths := rolloutsOf(r.mem, id)
		require.Len(t, paths, 2, "the rollout is rewritten, with a backup")
		require.Equal(t, want, r.ask(1, timeline(id)).Raw)
		require.NoError(t, r.mem.Remove(paths[1]))
		require.Equal(t, want, r.ask(1, timeline(id)).Raw)

		text := get(t, r, paths[0])
		require.NoError(t, r.mem.MkdirAll(home+"/archived_sessions", 0o700))
		put(t, r, home+"/archived_sessions/"+paths[0][strings.LastIndex(paths[0], "/")+1:], text)
		require.NoError(t, r.mem.Remove(paths[0]))
		require.Equal(t, want, r.ask(1, timeline(id)).Raw)
		got := r.ask(1, older).Get("data").Array()
		require.Equal(t, len(first.Get("data").Array())+len(got), strings.Count(want, `"position":`),
			"a cursor holds for the stored thread, too")
	})
}

// TestItemsOfAStoredThread checks that the stored and the loaded thread have the same page around an
// item, and the same whole item, of which the page has a part only.
func TestItemsOfAStoredThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		first := r.turn(1, id, "say the first answer")
		r.turn(1, id, "say the second answer")
		item := r.ask(1, timeline(id)).Get(`data.#(item.type=="agentMessage").item.id`).Str
		around := call{"thread/timeline/list", id, func(e *engine.Engine, to protocol.Caller) error {
			return e.ThreadTimelineList(to, &protocol.ThreadTimelineListParams{ThreadID: id, Around: &item, TurnID: &first,
				Limit: new(uint32(1)), TextLimit: new(uint32(3)), IncludeTotal: new(true)})
		}}
		read := call{"thread/item/read", id, func(e *engine.Engine, to protocol.Caller) error {
			return e.ThreadItemRead(to, &protocol.ThreadItemReadParams{ThreadID: id, TurnID: &first, ItemID: item})
		}}
		page, whole := r.ask(1, around), r.ask(1, read)
		require.Equal(t, item, page.Get("data.0.item.id").Str)
		require.True(t, page.Get("data.0.truncated").Bool())
		require.Equal(t, "the first answer", whole.Get("item.text").Str)
		require.Equal(t, first, whole.Get("turnId").Str)
		require.Equal(t, page.Get("data.0.position").Int(), whole.Get("position").Int())

		require.NoError(t, r.close(time.Minute))
		r.restart()
		require.Equal(t, page.Raw, r.ask(1, around).Raw)
		require.Equal(t, whole.Raw, r.ask(1, read).Raw)
		require.Empty(t, r.loaded(), "reading does not load the thread")
	})
}

// TestTheTimelineGrowsWithItsTurn reads while a turn runs, and once it was interrupted.
func TestTheTimelineGrowsWithItsTurn(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		running := r.turn(1, id, "hang")
		require.Equal(t, []string{"turnStarted", "item"}, texts(r.ask(1, timeline(id)).Get("data").Array(), "type"))
		r.ask(1, interrupt(id, running))
		time.Sleep(time.Second)
		require.Equal(t, []string{"turnStarted", "item", "turnCompleted"},
			texts(r.ask(1, timeline(id)).Get("data").Array(), "type"))
	})
}

func TestTimelinesThatAreRefused(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		stored, loaded := r.stored("say hello"), r.begin(1)
		require.Equal(t, protocol.KindInvalidThreadID, r.rejected(1, timeline("nobody")))
		require.Equal(t, protocol.KindThreadNotLoaded, r.rejected(1, timeline("0190a6f8-1111-7aaa-8bbb-00000000000f")),
			"as thread/read")
		for _, id := range []string{stored, loaded} {
			require.Equal(t, protocol.KindInvalidParams, r.rejected(1, timelinePage(id, new("zzz"), nil)))
		}
		page := r.ask(1, timelinePage(stored, nil, new(uint32(1))))
		require.Equal(t, protocol.KindInvalidParams,
			r.rejected(1, timelinePage(loaded, new(page.Get("nextCursor").Str), nil)),
			"the cursor of another thread")
	})
}
