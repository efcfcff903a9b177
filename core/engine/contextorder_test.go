package engine_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// TestEditsAreDurableBeforeTheyAreSent compares the operations of the disk and the messages to
// clients, in order.
func TestEditsAreDurableBeforeTheyAreSent(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "run touch a")
		r.ask(2, resume(id))
		for _, c := range contextEdits(id, r.ids(id)) {
			r.diary.read()
			r.ask(2, c)
			require.Equal(t, []string{
				"disk takes context_edit",
				"disk syncs",
				"2: response " + c.method,
				"1: notification ContextItems",
				"2: notification ContextItems",
			}, r.diary.read())
		}
	})
}

// TestEditsOfAStoredThreadAreDurableBeforeTheyAreSent is the same for a thread that is
// loaded for the edit alone: the rewrite comes after the words.
func TestEditsOfAStoredThreadAreDurableBeforeTheyAreSent(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		hello := r.idOf(id, "hello")
		r.diary.read()
		r.ask(1, exclude(id, hello))
		diary := r.diary.read()
		require.Greater(t, len(diary), 5)
		require.Equal(t, []string{"disk syncs", "disk takes context_edit", "disk syncs", "1: response context/setInclusion",
			"1: notification ContextItems"}, diary[:5])
		require.Contains(t, diary[5], "disk takes session_meta")
	})
}

// TestSubscribersHearOfEdits checks that clients with the delta capability receive changes only, and
// end with the same list as others.
func TestSubscribersHearOfEdits(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "say hello")
		r.ask(mirror, resume(id))
		r.ask(mirror, getItems(id))
		r.turn(1, id, "run touch a")
		r.clients.forget()
		edits := contextEdits(id, r.ids(id)[2:])
		for _, c := range edits {
			r.ask(1, c)
		}
		r.turn(1, id, "say more")
		all, changes := r.clients.notices(1, "ContextItems"), r.clients.notices(mirror, "ContextItems")
		require.Len(t, all, len(edits)+1)
		inTurn := changes[len(edits) : len(changes)-1] // the other client gets none of them
		require.Len(t, inTurn, 1)
		require.Equal(t, "userMessage", inTurn[0].body.Get("items.0.category").Str)
		changes = slices.Delete(changes, len(edits), len(changes)-1)
		for i := range changes {
			require.True(t, all[i].body.Get("full").Bool())
			require.False(t, changes[i].body.Get("full").Bool())
			require.Len(t, all[i].body.Get("items").Array(), int(all[i].body.Get("total").Int()))
			require.Less(t, len(changes[i].body.Get("items").Array()), len(all[i].body.Get("items").Array()))
			for _, path := range []string{"revision", "total", "usage"} {
				require.Equal(t, all[i].body.Get(path).Raw, changes[i].body.Get(path).Raw)
			}
		}
		list := r.checker.lists[listOf{mirror, id}]
		require.Equal(t, r.ids(id), list.ids)
		for i, item := range r.items(id) {
			require.Equal(t, withoutIndex(item), list.items[list.ids[i]])
		}
	})
}

// TestWhoLeftHearsNothing checks that an unsubscribed client receives responses, and no notifications.
func TestWhoLeftHearsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "say hello")
		r.ask(2, resume(id))
		r.ask(1, unsubscribe(id))
		r.clients.forget()
		r.ask(1, exclude(id, r.idOf(id, "hello")))
		require.Empty(t, r.clients.notices(1, "ContextItems"))
		require.Len(t, r.clients.notices(2, "ContextItems"), 1)
	})
}

// TestTwoClientsEdit checks that one of two edits for the same revision is applied, and the other is
// rejected with the current revision.
func TestTwoClientsEdit(t *testing.T) {
	for name, stored := range map[string]bool{"loaded": false, "stored": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id := r.stored("say hello")
				if !stored {
					r.ask(1, resume(id))
					r.ask(2, resume(id))
				}
				ids := r.ids(id)
				var posted [2]protocol.Caller
				var both sync.WaitGroup
				for i := range posted {
					both.Go(func() { posted[i] = r.post(uint64(1+i), excludeAt(id, new(int64(0)), ids[i])) })
				}
				both.Wait()
				synctest.Wait()
				won := 0
				if r.answer(posted[0]).err != nil {
					won = 1
				}
				require.Nil(t, r.answer(posted[won]).err)
				lost := r.answer(posted[1-won]).err
				require.NotNil(t, lost)
				require.Equal(t, protocol.KindStaleRevision, lost.Data.Kind)
				require.EqualValues(t, 1, *lost.Data.Revision)
				require.False(t, r.items(id)[won].Get("included").Bool())
				require.True(t, r.items(id)[1-won].Get("included").Bool())
				r.ask(1, excludeAt(id, lost.Data.Revision, ids[1-won]))
				r.requireKept(id)
			})
		})
	}
}
