package engine_test

import (
	"slices"
	"strings"
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
	return call{"thread/context/trim", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadContextTrim(to, p) }}
}

func compact(thread string) call {
	p := &protocol.ThreadCompactStartParams{ThreadID: thread, Strategy: new(protocol.CompactLocal)}
	return call{"thread/compact/start", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadCompactStart(to, p) }}
}

// answered is the response to a proxied request.
type answered struct {
	Turn   protocol.Turn `json:"turn"`
	Result any           `json:"result"`
}

// proxied returns a call of a proxied request that the method of c serves.
func proxied(c call, p engine.Proxied) call {
	p.Answer = func(result any, turn protocol.Turn) any { return answered{turn, result} }
	return call{"proxied " + c.method, c.thread, func(e *engine.Engine, to protocol.Caller) error {
		return e.Proxy(to, p, func() error { return c.do(e, to) })
	}}
}

// asTurn returns a proxied request whose response contains a turn.
func asTurn(c call) call { return proxied(c, engine.Proxied{TurnOf: c.thread}) }

// pass advances the clock, and waits for the work that is due.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (r *rig) endsOf(conn uint64, turn string) int {
	synctest.Wait()
	n := 0
	for _, m := range r.clients.notices(conn, "turn/completed") {
		if m.body.Get("turn.id").Str == turn {
			n++
		}
	}
	return n
}

// TestProxiedRequestOwnTurn checks the order of messages. The own turn ends after a delay, in which
// the thread serves requests.
func TestProxiedRequestOwnTurn(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.floor = 50 * time.Millisecond
		r.restart()
		id := r.begin(1)
		r.ask(2, resume(id))
		r.turn(1, id, "say hello")
		pass(r.floor)
		r.diary.read()
		got := r.ask(3, asTurn(trim(id)))
		own := got.Get("turn.id").Str
		require.Equal(t, "completed", got.Get("turn.status").Str)
		require.NotEmpty(t, got.Get("result.trimPoint.id").Str)
		require.Equal(t, []string{
			"disk takes trim_point provider_session", "disk syncs",
			"3: response proxied thread/context/trim completed",
			"1: notification turn/started inProgress", "2: notification turn/started inProgress",
			"1: notification thread/trimPoint/created", "2: notification thread/trimPoint/created",
			"1: notification thread/session/stopRequested", "2: notification thread/session/stopRequested",
			"1: notification thread/session/started", "2: notification thread/session/started",
			"1: notification ContextItems", "2: notification ContextItems",
		}, r.diary.read())

		r.ask(1, getUsage(id))
		pass(r.floor - time.Millisecond)
		require.Zero(t, r.endsOf(1, own))
		pass(time.Millisecond)
		require.Equal(t, []string{"1: notification turn/completed completed", "2: notification turn/completed completed"},
			completions(r.diary.read()))
		require.Equal(t, 1, r.endsOf(1, own))
		r.requireKept(id)
		require.Len(t, r.ask(1, read(id)).Get("thread.turns").Array(), 1, "the rollout does not contain the own turn")
	})
}

// TestProxiedRequestOwnTurnEndsBeforeNextTurn starts the next turn, by a request and by another
// proxied request, before the delay ends.
func TestProxiedRequestOwnTurnEndsBeforeNextTurn(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.floor = 50 * time.Millisecond
		r.restart()
		id := r.begin(1)
		first := r.ask(1, asTurn(trim(id))).Get("turn.id").Str
		second := r.ask(1, asTurn(getUsage(id))).Get("turn.id").Str
		third := r.turn(1, id, "say hello")
		synctest.Wait()
		require.Equal(t, []string{"+" + first, "-" + first, "+" + second, "-" + second, "+" + third}, r.turnEvents(1))
		pass(r.floor)
		require.Equal(t, []string{"-" + third}, r.turnEvents(1)[5:])
	})
}

// turnEvents returns the turns that a client was notified of: + for a start, - for an end.
func (r *rig) turnEvents(conn uint64) []string {
	var events []string
	for _, m := range r.clients.all(conn, func(m message) bool { return m.kind == notification }) {
		switch m.method {
		case "turn/started":
			events = append(events, "+"+m.body.Get("turn.id").Str)
		case "turn/completed":
			events = append(events, "-"+m.body.Get("turn.id").Str)
		}
	}
	return events
}

// completions returns the lines about ends of turns.
func completions(lines []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool { return !strings.Contains(line, "turn/completed") })
}

func TestProxiedRequestReturnsStartedTurn(t *testing.T) {
	for _, floor := range []time.Duration{0, 50 * time.Millisecond} {
		bubble(t, func(t *testing.T, r *rig) {
			r.floor = floor
			r.restart()
			id := r.begin(1)
			for range 2 { // the first has no items to compact
				got := r.ask(1, asTurn(compact(id))).Get("turn.id").Str
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

// TestProxiedRequestsWithinATurn has a request that joins the turn, and requests that are rejected.
func TestProxiedRequestsWithinATurn(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		active := r.turn(1, id, "hang on")
		got := r.ask(1, proxied(getUsage(id), engine.Proxied{InTurn: true, TurnOf: id}))
		require.Equal(t, active, got.Get("turn.id").Str)
		require.Len(t, r.clients.notices(1, "turn/started"), 1)
		for _, c := range []call{proxied(undo(id), engine.Proxied{}), asTurn(getUsage(id)), asTurn(trim(id)),
			asTurn(compact(id)), asTurn(archiveAndNew(id, nil))} {
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

// TestProxiedRequestIsCheckedWhenServed starts a turn between the arrival of a request and its
// service. The request is rejected.
func TestProxiedRequestIsCheckedWhenServed(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		begun, late := r.post(1, turn(id, "hang on")), r.post(1, proxied(undo(id), engine.Proxied{}))
		require.Equal(t, protocol.KindTurnActive, r.rejection(late))
		r.ask(1, interrupt(id, r.answer(begun).body.Get("turn.id").Str))
	})
}

func TestProxiedRequestOwnTurnNeedsLoadedThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		for _, thread := range []string{id, unknownThread} {
			for _, c := range []call{asTurn(trim(thread)), asTurn(compact(thread)), asTurn(getUsage(thread)),
				asTurn(archiveAndNew(thread, nil))} {
				require.Equal(t, protocol.KindThreadNotFound, r.rejected(1, c), c.method)
			}
		}
		require.Equal(t, protocol.KindInvalidThreadID, r.rejected(1, asTurn(getUsage("x"))))
		require.Empty(t, r.loaded())
		require.Empty(t, r.ask(1, listEdits(id)).Get("edits").Array())
		r.ask(1, proxied(trim(id), engine.Proxied{}))
		r.ask(1, proxied(getUsage(id), engine.Proxied{}))
		require.Len(t, r.ask(1, listEdits(id)).Get("edits").Array(), 1, "a request without a turn loads the thread itself")
		require.Empty(t, r.clients.notices(1, "turn/started"))
	})
}

// TestProxiedRequestOwnTurnEndsAfterArchive archives the thread by a proxied request.
func TestProxiedRequestOwnTurnEndsAfterArchive(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.floor = 50 * time.Millisecond
		r.restart()
		id := r.begin(1)
		got := r.ask(1, asTurn(archiveAndNew(id, new(fresh))))
		r.ask(1, read(fresh))
		require.Zero(t, r.endsOf(1, got.Get("turn.id").Str), "the successor does not wait for the delay")
		pass(r.floor)
		require.Equal(t, 1, r.endsOf(1, got.Get("turn.id").Str))
		require.Equal(t, id, r.clients.notices(1, "turn/completed")[0].body.Get("threadId").Str)
		require.Equal(t, []string{fresh}, r.loaded())
	})
}

func TestProxiedRequestOwnTurnEndsAtShutdown(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.floor = time.Hour
		r.restart()
		id := r.begin(1)
		own := r.ask(1, asTurn(trim(id))).Get("turn.id").Str
		began := time.Now()
		require.NoError(t, r.close(time.Minute))
		require.Zero(t, time.Since(began))
		require.Equal(t, 1, r.endsOf(1, own))
	})
}

// TestFailedProxiedRequestHasNoTurn fails each operation of the disk, one per run.
func TestFailedProxiedRequestHasNoTurn(t *testing.T) {
	refused, hits := 0, 1
	for n := 0; hits > 0; n++ {
		bubbleOn(t, faultfs.Fault{First: n, Count: 1, Err: syscall.ENOSPC}, func(t *testing.T, r *rig, faulty *faultfs.Disk) {
			defer func() { hits = faulty.Failures() }()
			m := r.answer(r.post(1, start()))
			if m.err != nil {
				return
			}
			m = r.answer(r.post(1, asTurn(trim(m.body.Get("thread.id").Str))))
			turns := 0
			if m.err == nil {
				turns = 1
			} else {
				refused++
			}
			require.Len(t, r.clients.notices(1, "turn/started"), turns)
			require.Len(t, r.clients.notices(1, "turn/completed"), turns)
			faulty.Heal()
		})
	}
	require.Positive(t, refused)
}
