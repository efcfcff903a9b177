package engine_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/engine"
	"appserver/protocol"
)

// door knows who has left.
type door struct {
	mu   sync.Mutex
	left []uint64
}

// door watches the connections 1, 2 and 3.
func (r *rig) door() *door {
	d := &door{}
	r.with(func(p *engine.Parts) {
		p.Clients.Connected = func(conn uint64) bool { return !d.isOut(conn) }
		p.Clients.NotifyOthers = r.notifyOthers(func() []uint64 { return slices.DeleteFunc([]uint64{1, 2, 3}, d.isOut) })
	})
	return d
}

func (d *door) isOut(conn uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(d.left, conn)
}

// leave ends a connection that may follow a thread.
func (d *door) leave(r *rig, conn uint64, thread string) {
	d.mu.Lock()
	d.left = append(d.left, conn)
	d.mu.Unlock()
	r.checker.mu.Lock()
	r.checker.unsubscribed(conn, thread)
	r.checker.mu.Unlock()
	r.Engine.Disconnect(conn)
	synctest.Wait()
}

// TestDisconnectedClientsReceiveNothing expects no messages to a disconnected client, all messages to the others,
// and an unaffected turn.
func TestDisconnectedClientsReceiveNothing(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		d := r.door()
		id := r.begin(1)
		r.ask(2, resume(id))
		turn := r.turn(1, id, "hang")
		d.leave(r, 1, id)
		r.clients.forget()
		r.ask(2, interrupt(id, turn))
		time.Sleep(time.Minute)
		require.Empty(t, r.unasked(1))
		require.Len(t, r.clients.notices(2, "turn/completed"), 1)
		require.Equal(t, []string{id}, r.loaded())
	})
}

// TestAThreadWithoutClientsWorksOn, and is unloaded when it has rested long enough.
func TestAThreadWithoutClientsWorksOn(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.unload = lonelyFor
		d := r.door()
		id := r.begin(1)
		turn := r.turn(1, id, "hang")
		d.leave(r, 1, id)
		time.Sleep(2 * lonelyFor)
		require.Equal(t, []string{id}, r.loaded(), "its turn goes on")
		r.ask(2, interrupt(id, turn))
		time.Sleep(lonelyFor + time.Minute)
		require.Empty(t, r.loaded())
		require.Zero(t, r.unloaded(1))
	})
}

// TestAQuestionWaitsForTheNextClient: it is asked again, with the same id.
func TestAQuestionWaitsForTheNextClient(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.policy = protocol.ApprovalUntrusted
		d := r.door()
		id := r.begin(1)
		r.turn(1, id, "run touch a")
		asked := r.clients.open(1)
		require.Len(t, asked, 1)
		d.leave(r, 1, id)
		time.Sleep(time.Hour)
		r.ask(2, resume(id))
		again := r.clients.open(2)
		require.Len(t, again, 1)
		require.Equal(t, asked[0].id, again[0].id)
		again[0].answer(decision("accept"), nil)
		synctest.Wait()
		require.Len(t, r.clients.notices(2, "turn/completed"), 1)
	})
}

// TestWhoHasLeftDoesNotSubscribe: its last requests may be served after it has left.
func TestWhoHasLeftDoesNotSubscribe(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.unload = lonelyFor
		d := r.door()
		id := r.begin(2)
		d.leave(r, 1, id)
		r.ask(1, start())
		r.ask(1, resume(id))
		require.Len(t, r.loaded(), 2)
		r.clients.forget()
		r.turn(2, id, "say hello")
		time.Sleep(lonelyFor + time.Minute)
		require.Empty(t, r.clients.notices(1, "turn/completed"))
		require.Equal(t, []string{id}, r.loaded(), "the other has no subscriber")
	})
}

// TestWhoLeavesDoesNotSlowThreads expects that unread output of a disconnected client blocks no
// thread.
func TestWhoLeavesDoesNotSlowThreads(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		d := r.door()
		id := r.begin(1)
		r.ask(2, resume(id))
		r.clients.congest(1)
		r.turn(2, id, "say hello")
		time.Sleep(time.Minute)
		require.Empty(t, r.clients.notices(2, "turn/completed"))
		d.leave(r, 1, id)
		r.clients.relieve(1) // as the server does for a connection that is gone
		time.Sleep(time.Minute)
		require.Len(t, r.clients.notices(2, "turn/completed"), 1)
	})
}

// TestListsAreKeptUpToDate expects changes of the list of threads to reach all clients, and messages
// of a thread only its subscribers.
func TestListsAreKeptUpToDate(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.door()
		id := r.begin(1)
		r.turn(1, id, "say hello")
		r.ask(1, setName(id, "n"))
		r.ask(1, archive(id))
		r.ask(1, unarchive(id))
		synctest.Wait()
		received := map[string]int{}
		for _, m := range r.clients.all(3, func(m message) bool { return m.kind == notification }) {
			received[m.method]++
		}
		require.Equal(t, map[string]int{
			"thread/started": 1, "thread/name/updated": 1, "thread/archived": 1, "thread/unarchived": 1,
			"thread/status/changed": len(r.clients.notices(1, "thread/status/changed")),
		}, received)
	})
}
