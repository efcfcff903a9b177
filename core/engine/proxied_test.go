package engine_test

import (
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/engine"
	"appserver/protocol"
	"appserver/rollout/faultfs"
)

func trim(thread string) call {
	p := &protocol.ThreadContextTrimParams{ThreadID: thread}
	return call{"thread/context/trim", thread, func(e *engine.Engine, to protocol.Caller) error { return e.ThreadContextTrim(to, p) }}
}

func compact(thread string) call {
	p := &protocol.ThreadCompactStartParams{ThreadID: thread, Strategy: new(protocol.CompactLocal)}
	return call{"thread/compact/start", thread, func(e *engine.Engine, to protocol.Caller) error { return e.ThreadCompactStart(to, p) }}
}

// answered is what errands are answered with.
type answered struct {
	Turn   protocol.Turn `json:"turn"`
	Result any           `json:"result"`
}

// errand is a call that is made for another one.
func proxied(c call, of engine.Proxied) call {
	of.Answer = func(result any, turn protocol.Turn) any { return answered{turn, result} }
	return call{"errand " + c.method, c.thread, func(e *engine.Engine, to protocol.Caller) error {
		return e.Proxy(to, of, func() error { return c.do(e, to) })
	}}
}

// instead is an errand of a caller who asked for a turn.
func instead(c call) call { return proxied(c, engine.Proxied{TurnOf: c.thread}) }

// pass lets time pass, and all that happens at its end happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (r *rig) endsOf(conn uint64, turn string) int {
	synctest.Wait()
	n := 0
	for _, m := range r.clients.told(conn, "turn/completed") {
		if m.body.Get("turn.id").Str == turn {
			n++
		}
	}
	return n
}

// TestAProxiedRequestOfATurnHasOne checks the order of what is told, and that the end keeps its
// distance and comes before whatever the thread does next.
func TestAProxiedRequestOfATurnHasOne(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.floor = 50 * time.Millisecond
		r.restart()
		id := r.begin(1)
		r.ask(2, resume(id))
		r.turn(1, id, "say hello")
		pass(r.floor)
		r.diary.read()
		got := r.ask(3, instead(trim(id)))
		own := got.Get("turn.id").Str
		require.Equal(t, "completed", got.Get("turn.status").Str)
		require.NotEmpty(t, got.Get("result.trimPoint.id").Str)
		require.Equal(t, []string{
			"disk takes trim_point provider_session", "disk syncs",
			"3: answers errand thread/context/trim completed",
			"1: tells turn/started inProgress", "2: tells turn/started inProgress",
			"1: tells thread/trimPoint/created", "2: tells thread/trimPoint/created",
			"1: tells thread/session/stopRequested", "2: tells thread/session/stopRequested",
			"1: tells thread/session/started", "2: tells thread/session/started",
			"1: tells ContextItems", "2: tells ContextItems",
		}, r.diary.read())

		next := r.post(1, turn(id, "say more"))
		pass(r.floor - time.Millisecond)
		require.Empty(t, r.clients.answersTo(next))
		pass(time.Millisecond)
		require.Equal(t, []string{"1: tells turn/completed completed", "2: tells turn/completed completed"}, heard(r.diary.read())[:2])
		require.Equal(t, 1, r.endsOf(1, own))
		require.NotEqual(t, own, r.answer(next).body.Get("turn.id").Str)
		pass(r.floor)
		r.requireKept(id)
		require.Len(t, r.ask(1, read(id)).Get("thread.turns").Array(), 2, "it is not kept")
	})
}

// heard leaves out what the disk does.
func heard(lines []string) []string {
	var kept []string
	for _, line := range lines {
		if line[0] != 'd' {
			kept = append(kept, line)
		}
	}
	return kept
}

func TestAProxiedRequestThatBeginsATurnHasThat(t *testing.T) {
	for _, floor := range []time.Duration{0, 50 * time.Millisecond} {
		bubble(t, func(t *testing.T, r *rig) {
			r.floor = floor
			r.restart()
			id := r.begin(1)
			for range 2 { // the first finds nothing to compact
				got := r.ask(1, instead(compact(id))).Get("turn.id").Str
				pass(floor)
				require.Equal(t, 1, r.endsOf(1, got))
				turns := r.ask(1, read(id)).Get("thread.turns").Array()
				require.Equal(t, got, turns[len(turns)-1].Get("id").Str)
				r.turn(1, id, "run touch a")
				pass(floor)
			}
			r.requireKept(id)
		})
	}
}

// TestProxiedRequestsWithinATurn has one that joins the turn, and others that are refused.
func TestProxiedRequestsWithinATurn(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		active := r.turn(1, id, "hang on")
		got := r.ask(1, proxied(getUsage(id), engine.Proxied{InTurn: true, TurnOf: id}))
		require.Equal(t, active, got.Get("turn.id").Str)
		require.Len(t, r.clients.told(1, "turn/started"), 1)
		for _, c := range []call{proxied(undo(id), engine.Proxied{}), instead(getUsage(id)), instead(trim(id)), instead(compact(id)), instead(archiveAndNew(id, nil))} {
			m := r.answer(r.post(1, c))
			require.NotNil(t, m.err, c.method)
			require.Equal(t, protocol.KindTurnActive, m.err.Data.Kind)
			require.Equal(t, active, m.err.Data.TurnID)
		}
		require.Empty(t, r.ask(1, listEdits(id)).Get("edits").Array())
		r.ask(1, interrupt(id, active))
		require.Equal(t, []string{"interrupted"}, r.ends(1))
	})
}

// TestAProxiedRequestIsHeldAgainstItsTime has a turn begin, and so refuse it, that was not yet
// there when it came.
func TestAProxiedRequestIsHeldAgainstItsTime(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		begun, late := r.post(1, turn(id, "hang on")), r.post(1, proxied(undo(id), engine.Proxied{}))
		require.Equal(t, protocol.KindTurnActive, r.refusal(late))
		r.ask(1, interrupt(id, r.answer(begun).body.Get("turn.id").Str))
	})
}

func TestAProxiedRequestOfATurnNeedsALoadedThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		for _, thread := range []string{id, unknownThread} {
			for _, c := range []call{instead(trim(thread)), instead(compact(thread)), instead(getUsage(thread)), instead(archiveAndNew(thread, nil))} {
				require.Equal(t, protocol.KindThreadNotFound, r.refused(1, c), c.method)
			}
		}
		require.Equal(t, protocol.KindInvalidThreadID, r.refused(1, instead(getUsage("x"))))
		require.Empty(t, r.loaded())
		require.Empty(t, r.ask(1, listEdits(id)).Get("edits").Array())
		r.ask(1, proxied(trim(id), engine.Proxied{}))
		r.ask(1, proxied(getUsage(id), engine.Proxied{}))
		require.Len(t, r.ask(1, listEdits(id)).Get("edits").Array(), 1, "others do not")
		require.Empty(t, r.clients.told(1, "turn/started"))
	})
}

// TestAThreadThatIsGoneEndsItsTurn has the proxied request archive its thread.
func TestAThreadThatIsGoneEndsItsTurn(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.floor = 50 * time.Millisecond
		r.restart()
		id := r.begin(1)
		got := r.ask(1, instead(archiveAndNew(id, new(fresh))))
		r.ask(1, read(fresh))
		require.Zero(t, r.endsOf(1, got.Get("turn.id").Str), "the new one does not wait for it")
		pass(r.floor)
		require.Equal(t, 1, r.endsOf(1, got.Get("turn.id").Str))
		require.Equal(t, id, r.clients.told(1, "turn/completed")[0].body.Get("threadId").Str)
		require.Equal(t, []string{fresh}, r.loaded())
	})
}

func TestAProxiedRequestEndsItsTurnWhenTheServerEnds(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.floor = time.Hour
		r.restart()
		id := r.begin(1)
		own := r.ask(1, instead(trim(id))).Get("turn.id").Str
		began := time.Now()
		require.NoError(t, r.close(time.Minute))
		require.Zero(t, time.Since(began))
		require.Equal(t, 1, r.endsOf(1, own))
	})
}

// TestAProxiedRequestThatFailsHasNoTurn breaks each operation of the disk in its turn.
func TestAProxiedRequestThatFailsHasNoTurn(t *testing.T) {
	refused, hits := 0, 1
	for n := 0; hits > 0; n++ {
		bubbleOn(t, faultfs.Fault{First: n, Count: 1, Err: syscall.ENOSPC}, func(t *testing.T, r *rig, faulty *faultfs.Disk) {
			defer func() { hits = faulty.Failures() }()
			m := r.answer(r.post(1, start()))
			if m.err != nil {
				return
			}
			m = r.answer(r.post(1, instead(trim(m.body.Get("thread.id").Str))))
			turns := 0
			if m.err == nil {
				turns = 1
			} else {
				refused++
			}
			require.Len(t, r.clients.told(1, "turn/started"), turns)
			require.Len(t, r.clients.told(1, "turn/completed"), turns)
			faulty.Heal()
		})
	}
	require.Positive(t, refused)
}
