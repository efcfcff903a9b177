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

func textOf(p *protocol.TurnStartParams) string {
	return p.Input[0].UserInputVariant.(*protocol.TextInput).Text
}

func TestAfterTheResponsesTheOwnerIsLookedForAgain(t *testing.T) {
	e := newEdge(t, newNode(t, "a"), newNode(t, "b"))
	for _, owner := range []string{"a", "b"} {
		e.own(owner)
		e.start("hello")
		require.Equal(t, owner, e.read(e.client).Get("result.node").Str)
	}
}

func TestTheOwnerOfAClosedThreadIsLookedForAgain(t *testing.T) {
	former := newNode(t, "a")
	e := newEdge(t, former, newNode(t, "b"))
	e.own("a")
	e.follow()
	former.Notify(linkConn(t, former), protocol.ThreadClosedNotification{ThreadID: "T"})
	require.Equal(t, "thread/closed", e.read(e.client).Get("method").Str)
	e.own("b")
	e.start("hello")
	require.Equal(t, "b", e.read(e.client).Get("result.node").Str)
}

func TestADraftIsCommittedByTheOwnerOfItsThread(t *testing.T) {
	e := newEdge(t, newNode(t, "a"))
	e.own("a")
	e.request("thread/compact/commit", `{"draftId":"T:1"}`)
	require.Equal(t, "a", e.read(e.client).Get("result.node").Str)
}

// TestLaterRequestsWaitWhileAnEarlierOneIsRetried rejects the first request of a thread some times. The node would
// serve the second one at once.
func TestLaterRequestsWaitWhileAnEarlierOneIsRetried(t *testing.T) {
	for _, owner := range []string{"", "a"} {
		t.Run(owner, func(t *testing.T) {
			a := newNode(t, "a")
			e := newEdge(t, a)
			e.own(owner)
			serving := map[string]*node{"": e.node, "a": a}[owner]
			left, reply := 3, serving.turn
			serving.turn = func(to protocol.Caller, p *protocol.TurnStartParams) error {
				if left--; left >= 0 || owner == "a" && left > -3 && textOf(p) != "first" {
					return protocol.Refuse(protocol.KindStaleOwner, "not here")
				}
				return reply(to, p)
			}
			e.start("first")
			e.start("second")
			require.Equal(t, "first", e.read(e.client).Get("result.text").Str)
			require.Equal(t, "second", e.read(e.client).Get("result.text").Str)
		})
	}
}

// TestRejectedRequestsPauseTogether rejects many requests until the next owner is found. Pauses one after the other
// would take more than a minute.
func TestRejectedRequestsPauseTogether(t *testing.T) {
	former := newNode(t, "a")
	e := newEdge(t, former, newNode(t, "b"))
	var rejected atomic.Int64
	const requests = 200
	former.turn = func(protocol.Caller, *protocol.TurnStartParams) error {
		if rejected.Add(1) == 6*requests {
			e.own("b")
		}
		return protocol.Refuse(protocol.KindStaleOwner, "not here")
	}
	e.own("a")
	for i := range requests {
		e.start(fmt.Sprint(i))
	}
	begun := time.Now()
	for i := range requests {
		require.Equal(t, fmt.Sprint(i), e.read(e.client).Get("result.text").Str)
	}
	require.Less(t, time.Since(begun), wait/2)
}

// starts makes nodes serve thread/start.
func starts(nodes ...*node) {
	for _, n := range nodes {
		n.handler.start = func(to protocol.Caller, p *protocol.ThreadStartParams) error {
			n.Reply(to, map[string]any{"thread": map[string]any{"id": "new on " + n.id}})
			return nil
		}
	}
}

// begin starts a thread, and returns its id.
func (e *edge) begin(params string) string {
	e.request("thread/start", params)
	return e.read(e.client).Get("result.thread.id").Str
}

// TestANewThreadStartsOnAnotherNodeThanTheOneThatRefusedIt starts a thread in a folder of three nodes. The first one
// is stopping, and the second one cannot be reached.
func TestANewThreadStartsOnAnotherNodeThanTheOneThatRefusedIt(t *testing.T) {
	stopping, gone, last := newNode(t, "a"), newNode(t, "b"), newNode(t, "c")
	for _, n := range []*node{stopping, gone, last} {
		n.workspaces = []string{"/there"}
	}
	var isGone atomic.Bool
	e := newEdgeWith(t, func(o *forward.Options) {
		dial := o.Dial
		o.Dial = func(ctx context.Context, address string) (forward.Transport, error) {
			if isGone.Load() && address == "b" {
				return nil, context.Canceled
			}
			return dial(ctx, address)
		}
	}, stopping, gone, last)
	starts(e.node, stopping, gone, last)
	stopping.handler.start = func(protocol.Caller, *protocol.ThreadStartParams) error {
		return protocol.Refuse(protocol.KindShuttingDown, "stopping")
	}
	isGone.Store(true)
	require.Eventually(t, func() bool { return e.begin(`{"cwd":"/there"}`) == "new on c" }, wait, time.Millisecond,
		"the workspaces of a node arrive some time after its start")
}

func TestTheFolderOfANewThreadIsThatOfItsEnvironment(t *testing.T) {
	there := newNode(t, "there")
	e := newEdge(t, there)
	starts(e.node, there)
	require.Eventually(t, func() bool { return e.begin(`{"cwd":"/there"}`) == "new on there" }, wait, time.Millisecond)
	require.Equal(t, "new on there",
		e.begin(`{"cwd":"/here","environments":[{"environmentId":"local","cwd":"/there"}]}`))
	require.Equal(t, "new on edge",
		e.begin(`{"cwd":"/there","environments":[{"environmentId":"local","cwd":"/here"}]}`))
}

func TestANewThreadInARelativeFolderStartsHere(t *testing.T) {
	anywhere := newNode(t, "anywhere")
	anywhere.workspaces = nil
	e := newEdge(t, anywhere)
	starts(e.node, anywhere)
	require.Eventually(t, func() bool { return e.begin(`{"cwd":"/there"}`) == "new on anywhere" }, wait, time.Millisecond)
	for _, params := range []string{`{"cwd":"project"}`, `{"cwd":""}`, `{}`} {
		require.Equal(t, "new on edge", e.begin(params))
	}
}

// TestANodeThatDoesNotAnswerDelaysOneRequest sends requests for threads of a node to which packets are lost.
func TestANodeThatDoesNotAnswerDelaysOneRequest(t *testing.T) {
	var dials atomic.Int64
	e := newEdgeWith(t, func(o *forward.Options) {
		o.DialTimeout = time.Second
		o.Dial = func(ctx context.Context, _ string) (forward.Transport, error) {
			dials.Add(1)
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	e.own("silent")
	for range 3 {
		e.start("hello")
		require.Equal(t, "edge", e.read(e.client).Get("result.node").Str)
	}
	require.EqualValues(t, 1, dials.Load())
}
