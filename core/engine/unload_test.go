package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

const lonelyFor = 30 * time.Minute

// unloaded counts the notifications of unloaded threads.
func (r *rig) unloaded(conn uint64) (n int) { return len(r.clients.notices(conn, "thread/closed")) }

// TestAnUnusedThreadIsUnloaded has the rollout rewritten, as at the end of the server.
func TestAnUnusedThreadIsUnloaded(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.unload = lonelyFor
		id := r.begin(1)
		r.ask(2, resume(id))
		r.turn(1, id, "say secret")
		r.ask(1, exclude(id, r.idOf(id, "secret")))
		time.Sleep(2 * lonelyFor)
		require.Equal(t, []string{id}, r.loaded(), "somebody wants it")
		r.ask(1, unsubscribe(id))
		r.ask(2, unsubscribe(id))
		time.Sleep(lonelyFor - time.Second)
		require.Equal(t, []string{id}, r.loaded())
		r.diary.read()
		time.Sleep(time.Second + time.Millisecond)
		require.Subset(t, r.diary.read(), []string{
			"1: notification thread/status/changed notLoaded", "2: notification thread/status/changed notLoaded",
			"1: notification thread/closed",
			"2: notification thread/closed",
		})
		require.Empty(t, r.loaded())
		require.Empty(t, r.mem.Held())
		_, backup := r.files(id)
		require.NotEmpty(t, backup)
		r.ask(1, resume(id))
		require.Contains(t, r.outline(id), "secret excluded")
		r.requireKept(id)
	})
}

// TestWhoComesInTimeKeepsAThread counts anew from when the last one leaves.
func TestWhoComesInTimeKeepsAThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.unload = lonelyFor
		id := r.begin(1)
		for range 3 {
			r.ask(1, unsubscribe(id))
			time.Sleep(lonelyFor - time.Second)
			r.ask(1, resume(id))
			time.Sleep(lonelyFor)
			require.Equal(t, []string{id}, r.loaded())
		}
		require.Zero(t, r.unloaded(1))
	})
}

// TestWorkKeepsAThread counts from the end of the turn.
func TestWorkKeepsAThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.unload = lonelyFor
		id := r.begin(1)
		turn := r.turn(1, id, "hang")
		r.ask(1, unsubscribe(id))
		time.Sleep(2 * lonelyFor)
		require.Equal(t, []string{id}, r.loaded())
		r.ask(2, interrupt(id, turn))
		time.Sleep(lonelyFor - time.Second)
		require.Equal(t, []string{id}, r.loaded())
		time.Sleep(2 * time.Second)
		require.Empty(t, r.loaded())
		require.Equal(t, 1, r.unloaded(1))
	})
}

// TestARequestAtTheLastMoment expects a response in both orders of request and unload.
func TestARequestAtTheLastMoment(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.unload = lonelyFor
		id := r.begin(1)
		for range 20 {
			r.ask(1, unsubscribe(id))
			time.Sleep(lonelyFor)
			r.ask(1, resume(id))
			r.turn(1, id, "say hello")
			r.requireKept(id)
		}
	})
}

func TestAnUnusedEphemeralThreadIsRemoved(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.unload = lonelyFor
		id := r.ask(1, startWith(protocol.ThreadStartParams{Ephemeral: new(true)})).Get("thread.id").Str
		r.ask(1, unsubscribe(id))
		time.Sleep(lonelyFor + time.Second)
		require.Equal(t, protocol.KindThreadNotFound, r.rejected(1, resume(id)))
	})
}

func TestThreadsMayStayForGood(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.ask(1, unsubscribe(id))
		time.Sleep(1000 * lonelyFor)
		require.Equal(t, []string{id}, r.loaded())
	})
}
