package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// TestAFullMailbox checks that a thread that is held up takes a bounded number of
// requests, refuses more, and serves all it took.
func TestAFullMailbox(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id, other := r.begin(1), r.begin(1)
		g := r.block(id)
		var taken []protocol.Caller
		for range mailbox {
			taken = append(taken, r.post(1, read(id)))
		}
		began := time.Now()
		for _, c := range []call{read(id), turn(id, "say x"), setName(id, "n"), resume(id), unsubscribe(id),
			steer(id, "t", "x")} {
			m := r.answer(r.post(1, c))
			require.NotNil(t, m.err, c.method)
			require.Equal(t, protocol.CodeOverloaded, m.err.Code)
			require.Equal(t, protocol.KindOverloaded, m.err.Data.Kind)
		}
		for range urgentRoom {
			taken = append(taken, r.post(1, interrupt(id, "")))
		}
		require.Equal(t, protocol.CodeOverloaded, r.answer(r.post(1, interrupt(id, ""))).err.Code,
			"of these, too, there is an end")
		require.Nil(t, r.answer(r.post(1, read(other))).err, "other threads have room")
		require.Zero(t, time.Since(began), "no wait")
		g.open()
		for _, to := range taken {
			if err := r.answer(to).err; err != nil {
				require.Equal(t, protocol.KindNoActiveTurn, err.Data.Kind, "another interrupt was the first")
			}
		}
		require.Nil(t, r.answer(r.post(1, read(id))).err, "there is room again")
	})
}

// TestAFloodOverManyThreads checks that a thread that is held up holds up no other, however many
// requests come at once.
func TestAFloodOverManyThreads(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		const threads, each = 200, 5
		var ids []string
		for range threads {
			ids = append(ids, r.begin(1))
		}
		g := r.block(ids[0])
		var all []protocol.Caller
		for i := range threads * each {
			all = append(all, r.post(1, read(ids[i%threads])))
		}
		synctest.Wait()
		for i, to := range all {
			require.Len(t, r.clients.all(1, func(m message) bool { return m.kind == response && m.to == to }), min(i%threads, 1))
		}
		g.open()
		for i := 0; i < len(all); i += threads {
			require.Nil(t, r.answer(all[i]).err)
		}
	})
}

// TestCongestion checks that a client that does not keep up slows its thread's effects
// down, while its requests are served.
func TestCongestion(t *testing.T) {
	for _, words := range []string{"flood", "run flood"} {
		t.Run(words, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id := r.begin(1)
				turn := r.turn(1, id, words)
				r.clients.congest(1)
				time.Sleep(time.Minute)
				stopped := r.agent.emitted.Load()
				received := len(r.unasked(1))
				require.Less(t, stopped, int64(200), "a buffer's worth")
				time.Sleep(time.Minute)
				require.Equal(t, stopped, r.agent.emitted.Load(), "the effect waits")
				require.Equal(t, received, len(r.unasked(1)))
				require.Equal(t, turn, r.ask(1, read(id)).Get("thread.turns.0.id").Str)
				r.ask(1, setName(id, "n"))
				r.clients.relieve(1)
				time.Sleep(time.Second)
				require.Greater(t, r.agent.emitted.Load(), stopped+900, "the effect goes on")
				r.clients.congest(1)
				time.Sleep(time.Minute)
				r.ask(1, interrupt(id, turn))
				time.Sleep(time.Minute)
				require.Zero(t, r.agent.running.Load(), "the effect ends although its output is not read")
				r.clients.relieve(1)
				require.Equal(t, []string{"interrupted"}, r.ends(1))
			})
		})
	}
}

// TestOneSlowClient checks that each of a thread's clients slows it down, and no other.
func TestOneSlowClient(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.ask(2, resume(id))
		r.clients.congest(2)
		r.clients.congest(3)
		r.turn(1, id, "say hello")
		require.Empty(t, r.ends(1))
		r.ask(2, unsubscribe(id))
		require.Equal(t, []string{"completed"}, r.ends(1), "a disconnected client does not delay the others")
		r.ask(2, resume(id))
		r.turn(1, id, "say more")
		require.Len(t, r.ends(1), 1)
		r.clients.relieve(2)
		require.Equal(t, []string{"completed", "completed"}, r.ends(1))
		require.Equal(t, []string{"completed"}, r.ends(2))
	})
}

// TestCongestedDecision checks that a decision that comes while its client is slow is
// not lost.
func TestCongestedDecision(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.policy = protocol.ApprovalUntrusted
		r.turn(1, r.begin(1), "run touch a")
		r.clients.congest(1)
		go r.clients.open(1)[0].answer(decision("accept"), nil)
		synctest.Wait()
		r.clients.relieve(1)
		require.Equal(t, []string{"completed"}, r.ends(1))
		require.Equal(t, []string{"touch a"}, r.agent.ran())
	})
}

func TestCloseWhileCongested(t *testing.T) {
	for _, words := range []string{"flood", "run flood", "run hang"} {
		t.Run(words, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id := r.begin(1)
				r.turn(1, id, words)
				r.clients.congest(1)
				time.Sleep(time.Minute)
				require.NoError(t, r.close(grace))
				require.Equal(t, []string{"interrupted"}, r.ends(1))
			})
		})
	}
}

// TestRequestsOfAClientThatIsBehind were accepted when it was not yet: each is refused and changes
// nothing, but what ends work. Others are served.
func TestRequestsOfAClientThatIsBehind(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		stored := r.stored("say hello")
		id := r.begin(1)
		r.turn(1, id, "hang")
		r.clients.leaveBehind(1)
		for _, c := range []call{read(id), setName(id, "mine"), getItems(id), resume(stored), setName(stored, "mine"),
			start()} {
			require.Equal(t, protocol.KindOverloaded, r.rejected(1, c))
		}
		require.Equal(t, []string{id}, r.loaded())
		require.Empty(t, r.ask(2, read(id)).Get("thread.name").Str)
		require.Empty(t, r.ask(2, read(stored)).Get("thread.name").Str)
		r.ask(1, interrupt(id, ""))
		require.Equal(t, []string{"interrupted"}, r.ends(1))
		r.clients.leaveBehind(0)
		r.ask(1, setName(id, "mine"))
		r.requireKept(id)
	})
}
