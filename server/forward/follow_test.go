package forward_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/server/forward"
)

// resumed makes a node resume threads with these turns.
func (n *node) resumed(turns string) {
	n.resume = func(to protocol.Caller, p *protocol.ThreadResumeParams) error {
		n.Reply(to, raw(fmt.Sprintf(`{"thread":{"id":%q,"status":{"type":"idle"},"turns":%s}}`, p.ThreadID, turns)))
		return nil
	}
}

// relay sends a notification to the client of the edge over its link.
func (n *node) relay(t *testing.T, method, params string) {
	n.Relay(linkConn(t, n), method, fmt.Appendf(nil, `{"method":%q,"params":%s}`, method, params))
}

// expect reads messages, each of which has the method and the value at the path "params."+path.
func (e *edge) expect(messages ...[3]string) {
	for _, want := range messages {
		m := e.read(e.client)
		require.Equal(e.t, want, [3]string{m.Get("method").Str, want[1], m.Get("params." + want[1]).Str}, m.Raw)
	}
}

func TestATurnIsInterruptedByItsIDAlone(t *testing.T) {
	owner := newNode(t, "a")
	e := newEdge(t, owner)
	e.own("a")
	e.follow()
	owner.turn = func(to protocol.Caller, _ *protocol.TurnStartParams) error {
		owner.Reply(to, raw(`{"turn":{"id":"from a response"}}`))
		return nil
	}
	e.start("hello")
	e.read(e.client)
	for _, turn := range []string{"from a response", "from a notification"} {
		e.request("turn/interrupt", fmt.Sprintf(`{"turnId":%q}`, turn))
		require.Equal(t, "a", e.read(e.client).Get("result.node").Str)
		owner.relay(t, "turn/started", `{"threadId":"T","turn":{"id":"from a notification"}}`)
		e.read(e.client)
	}
	e.request("turn/interrupt", `{"turnId":"another one"}`)
	require.Equal(t, "edge", e.read(e.client).Get("result.node").Str)
}

// TestTheSuccessorOfAThreadIsFollowed replaces a thread by a request of another client, and then ends the owner.
func TestTheSuccessorOfAThreadIsFollowed(t *testing.T) {
	former, next := newNode(t, "a"), newNode(t, "b")
	e := newEdge(t, former, next)
	e.own("a")
	e.follow()
	former.relay(t, "thread/started", `{"thread":{"id":"S"}}`)
	former.relay(t, "thread/archivedAndNewCreated", `{"archivedThreadId":"T","newThreadId":"S"}`)
	former.relay(t, "turn/started", `{"threadId":"S","turn":{"id":"t"}}`)
	e.expect([3]string{"thread/started", "thread.id", "S"},
		[3]string{"thread/archivedAndNewCreated", "newThreadId", "S"}, [3]string{"turn/started", "threadId", "S"})
	next.resumed(`[{"id":"t","status":"interrupted","items":[]}]`)
	e.own("b")
	cut(former)
	e.expect([3]string{"turn/completed", "threadId", "S"})
	next.relay(t, "turn/started", `{"threadId":"S","turn":{"id":"u"}}`)
	e.expect([3]string{"turn/started", "turn.id", "u"})
}

// TestAThreadWithAHistoryIsFollowedByItsNewID resumes a thread with a history, which starts another one.
func TestAThreadWithAHistoryIsFollowedByItsNewID(t *testing.T) {
	former, next := newNode(t, "a"), newNode(t, "b")
	e := newEdge(t, former, next)
	e.own("a")
	former.resume = func(to protocol.Caller, p *protocol.ThreadResumeParams) error {
		former.Reply(to, raw(`{"thread":{"id":"new","turns":[]}}`))
		return nil
	}
	e.request("thread/resume", `{"threadId":"T","history":[]}`)
	require.Equal(t, "new", e.read(e.client).Get("result.thread.id").Str)
	linkConn(t, former)
	got := make(chan string, 1)
	next.resume = func(to protocol.Caller, p *protocol.ThreadResumeParams) error {
		got <- p.ThreadID
		next.Reply(to, raw(`{"thread":{"id":"new","turns":[]}}`))
		return nil
	}
	e.own("b")
	cut(former)
	require.Equal(t, "new", <-got)
}

// TestAnOwnerThatShutsDownEndsItsTurnOnce sends a request while the owner shuts down. The owner then completes an
// item and the turn.
func TestAnOwnerThatShutsDownEndsItsTurnOnce(t *testing.T) {
	former, next := newNode(t, "a"), newNode(t, "b")
	e := newEdge(t, former, next)
	e.own("a")
	e.follow()
	former.relay(t, "turn/started", `{"threadId":"T","turn":{"id":"t"}}`)
	e.expect([3]string{"turn/started", "turn.id", "t"})
	refused := make(chan struct{}, 100)
	former.turn = func(protocol.Caller, *protocol.TurnStartParams) error {
		return protocol.Refuse(protocol.KindShuttingDown, "shutting down")
	}
	former.resume = func(protocol.Caller, *protocol.ThreadResumeParams) error {
		refused <- struct{}{}
		return protocol.Refuse(protocol.KindShuttingDown, "shutting down")
	}
	next.resumed(`[{"id":"t","status":"interrupted","items":[{"type":"plan","id":"i","text":""}]}]`)
	e.start("hello")
	<-refused
	former.relay(t, "item/completed", `{"threadId":"T","turnId":"t","item":{"id":"i"}}`)
	former.relay(t, "turn/completed", `{"threadId":"T","turn":{"id":"t"}}`)
	e.expect([3]string{"item/completed", "item.id", "i"}, [3]string{"turn/completed", "turn.id", "t"})
	e.own("b")
	require.Equal(t, "b", e.read(e.client).Get("result.node").Str, "nothing is repeated")
}

// TestNotificationsOfAFormerOwnerAreDropped completes a turn at the former owner after the next one has.
func TestNotificationsOfAFormerOwnerAreDropped(t *testing.T) {
	former, next := newNode(t, "a"), newNode(t, "b")
	e := newEdge(t, former, next)
	e.own("a")
	e.follow()
	former.relay(t, "turn/started", `{"threadId":"T","turn":{"id":"t"}}`)
	e.expect([3]string{"turn/started", "turn.id", "t"})
	former.turn = func(protocol.Caller, *protocol.TurnStartParams) error {
		e.own("b")
		return protocol.Refuse(protocol.KindStaleOwner, "not here")
	}
	next.resumed(`[{"id":"t","status":"interrupted","items":[]}]`)
	e.start("hello")
	e.expect([3]string{"turn/completed", "turn.id", "t"})
	require.Equal(t, "b", e.read(e.client).Get("result.node").Str)
	former.relay(t, "turn/completed", `{"threadId":"T","turn":{"id":"t"}}`)
	former.relay(t, "warning", `{}`)
	former.relay(t, "configWarning", `{"summary":"after it"}`)
	e.expect([3]string{"configWarning", "summary", "after it"})
}

// TestATurnThatWaitsOverTwoOwnersRepeatsNoItems ends two owners during one turn, which goes on.
func TestATurnThatWaitsOverTwoOwnersRepeatsNoItems(t *testing.T) {
	nodes := []*node{newNode(t, "a"), newNode(t, "b"), newNode(t, "c")}
	e := newEdge(t, nodes...)
	e.own("a")
	e.follow()
	nodes[0].relay(t, "turn/started", `{"threadId":"T","turn":{"id":"t"}}`)
	nodes[0].relay(t, "item/completed", `{"threadId":"T","turnId":"t","item":{"id":"i"}}`)
	e.expect([3]string{"turn/started", "turn.id", "t"}, [3]string{"item/completed", "item.id", "i"})
	items := `{"type":"plan","id":"i","text":"","completedAtMs":1}`
	for i, next := range nodes[1:] {
		items += fmt.Sprintf(`,{"type":"plan","id":%q,"text":"","completedAtMs":2}`, next.id)
		next.resumed(`[{"id":"t","status":"inProgress","items":[` + items + `]}]`)
		e.own(next.id)
		cut(nodes[i])
		e.expect([3]string{"item/completed", "item.id", next.id})
	}
}

// TestAClientLearnsOfTheTurnsThatItHasMissed ends the owner of an idle thread. Before the client resumes it, turns of
// another client run at the next owner.
func TestAClientLearnsOfTheTurnsThatItHasMissed(t *testing.T) {
	former, next := newNode(t, "a"), newNode(t, "b")
	e := newEdge(t, former, next)
	e.own("a")
	former.resumed(`[{"id":"r","status":"completed","items":[]},{"id":"s","status":"completed","items":[]}]`)
	e.follow()
	linkConn(t, former)
	next.resumed(`[{"id":"s","status":"completed","items":[]},
		{"id":"t","status":"completed","items":[{"type":"plan","id":"i","text":"","completedAtMs":1}]},
		{"id":"u","status":"inProgress","items":[{"type":"plan","id":"j","text":""}]}]`)
	e.own("b")
	cut(former)
	e.expect([3]string{"turn/started", "turn.id", "t"}, [3]string{"item/completed", "item.id", "i"},
		[3]string{"turn/completed", "turn.id", "t"}, [3]string{"turn/started", "turn.id", "u"})
}

func TestAClientGetsTheContextItemsOfAThreadThatItHasResumedAgain(t *testing.T) {
	former, next := newNode(t, "a"), newNode(t, "b")
	e := newEdge(t, former, next)
	e.own("a")
	e.follow()
	linkConn(t, former)
	next.context = func(to protocol.Caller) error {
		next.Reply(to, raw(`{"revision":3,"total":1,"items":[{"id":"i"}],"usage":{"tokens":5},"nextCursor":null}`))
		return nil
	}
	e.own("b")
	cut(former)
	m := e.read(e.client)
	require.Equal(t, "ContextItems", m.Get("method").Str)
	require.JSONEq(t, `{"threadId":"T","revision":3,"total":1,"items":[{"id":"i"}],"removedIds":[],"full":true,
		"usage":{"tokens":5}}`, m.Get("params").Raw)
}

// TestOptingOutHidesNotificationsFromTheClientOnly opts out of all that an edge must know.
func TestOptingOutHidesNotificationsFromTheClientOnly(t *testing.T) {
	former, next := newNode(t, "a"), newNode(t, "b")
	e := newEdge(t, former, next)
	e.client = e.connect("turn/started", "item/completed")
	e.own("a")
	e.follow()
	former.Notify(linkConn(t, former), protocol.TurnStartedNotification{ThreadID: "T", Turn: protocol.Turn{ID: "t"}})
	former.Notify(linkConn(t, former), protocol.ConfigWarningNotification{Summary: "after it"})
	e.expect([3]string{"configWarning", "summary", "after it"})
	next.resumed(`[{"id":"t","status":"interrupted","items":[{"type":"plan","id":"i","text":""}]}]`)
	e.own("b")
	cut(former)
	e.expect([3]string{"turn/completed", "turn.id", "t"})
}

// TestAThreadWaitsForTheOnlyNodeThatHasItsFolder restarts the owner. Meanwhile no node has the folder of the thread.
func TestAThreadWaitsForTheOnlyNodeThatHasItsFolder(t *testing.T) {
	there := newNode(t, "there")
	var isHidden atomic.Bool
	var lookups atomic.Int64
	e := newEdgeWith(t, func(o *forward.Options) {
		find := o.Find
		o.Find = func(ctx context.Context, thread string) (forward.Place, error) {
			if isHidden.Load() {
				lookups.Add(1)
			}
			return find(ctx, thread)
		}
		nodes, dial := o.Nodes, o.Dial
		o.Dial = func(ctx context.Context, address string) (forward.Transport, error) {
			if isHidden.Load() {
				return nil, context.Canceled
			}
			return dial(ctx, address)
		}
		o.Nodes = func(ctx context.Context) ([]forward.Node, error) {
			if isHidden.Load() {
				return nil, nil
			}
			return nodes(ctx)
		}
	}, there)
	e.own("there")
	e.follow()
	linkConn(t, there)
	e.node.resume = func(protocol.Caller, *protocol.ThreadResumeParams) error {
		return protocol.Refuse(protocol.KindThreadNotFound, "the edge must not load the thread")
	}
	isHidden.Store(true)
	e.own("")
	cut(there)
	require.Eventually(t, func() bool { return lookups.Load() >= 3 }, wait, time.Millisecond)
	isHidden.Store(false)
	e.start("hello")
	require.Equal(t, "there", e.read(e.client).Get("result.node").Str)
	there.relay(t, "turn/started", `{"threadId":"T","turn":{"id":"t"}}`)
	e.expect([3]string{"turn/started", "turn.id", "t"})
}
