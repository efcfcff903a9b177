package forward_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/server/forward"
)

func TestRequestsAreServedByTheOwner(t *testing.T) {
	owner := newNode(t, "a")
	e := newEdge(t, owner)
	e.own("a")
	id := e.start("hello")
	m := e.read(e.client)
	require.EqualValues(t, id, m.Get("id").Int())
	require.Equal(t, "a", m.Get("result.node").Str)
	require.EqualValues(t, 1, e.Stats().Requests)
}

func TestRequestsForThreadsWithoutOwnerAreServedHere(t *testing.T) {
	e := newEdge(t, newNode(t, "a"))
	e.start("hello")
	require.Equal(t, "edge", e.read(e.client).Get("result.node").Str)
	require.Zero(t, e.Stats().Requests)
}

func TestReadsAreServedHereIfTheOwnerCannotBeReached(t *testing.T) {
	e := newEdge(t)
	e.own("gone")
	e.start("hello")
	require.Equal(t, "edge", e.read(e.client).Get("result.node").Str)
}

func TestRequestsOfAThreadKeepTheirOrderWhileTheOwnerIsLookedFor(t *testing.T) {
	e := newEdge(t, newNode(t, "a"))
	e.own("a")
	e.dialed = make(chan struct{})
	for i := range 50 {
		e.start(fmt.Sprint(i))
	}
	close(e.dialed)
	for i := range 50 {
		require.Equal(t, fmt.Sprint(i), e.read(e.client).Get("result.text").Str)
	}
}

func TestARequestThatAnOwnerRejectsIsSentToTheNextOne(t *testing.T) {
	for _, kind := range []protocol.Kind{protocol.KindStaleOwner, protocol.KindShuttingDown} {
		t.Run(string(kind), func(t *testing.T) {
			former, next := newNode(t, "a"), newNode(t, "b")
			e := newEdge(t, former, next)
			former.turn = func(protocol.Caller, *protocol.TurnStartParams) error {
				e.own("b")
				return protocol.Refuse(kind, "not here")
			}
			e.own("a")
			for range 2 {
				e.start("hello")
				require.Equal(t, "b", e.read(e.client).Get("result.node").Str)
			}
		})
	}
}

func TestOtherErrorsOfTheOwnerReachTheClient(t *testing.T) {
	owner := newNode(t, "a")
	e := newEdge(t, owner)
	e.own("a")
	owner.turn = func(protocol.Caller, *protocol.TurnStartParams) error {
		return protocol.InvalidParams("input", "wrong")
	}
	e.start("hello")
	m := e.read(e.client)
	require.EqualValues(t, protocol.CodeInvalidParams, m.Get("error.code").Int())
	require.Equal(t, "input", m.Get("error.data.field").Str)
}

// TestALostOwnerIsReplaced cuts the link during a turn. The next owner has closed the turn.
func TestALostOwnerIsReplaced(t *testing.T) {
	former, next := newNode(t, "a"), newNode(t, "b")
	e := newEdge(t, former, next)
	e.own("a")
	e.follow()
	conn := linkConn(t, former)
	former.Notify(conn, protocol.TurnStartedNotification{ThreadID: "T", Turn: protocol.Turn{ID: "t"}})
	former.Relay(conn, "item/completed", []byte(`{"method":"item/completed","params":{"threadId":"T","item":{"id":"seen"}}}`))
	former.Ask(conn, 7, "item/tool/requestUserInput", raw(`{"threadId":"T"}`), nil)
	require.Equal(t, "turn/started", e.read(e.client).Get("method").Str)
	require.Equal(t, "item/completed", e.read(e.client).Get("method").Str)
	asked := e.read(e.client).Get("id").Int()
	got := make(chan struct{})
	former.turn = func(protocol.Caller, *protocol.TurnStartParams) error { close(got); return nil }
	id := e.start("lost")
	<-got
	next.resume = func(to protocol.Caller, p *protocol.ThreadResumeParams) error {
		next.Reply(to, raw(`{"thread":{"id":"T","turns":[{"id":"t","status":"interrupted","items":[
			{"type":"plan","id":"seen","text":""},{"type":"plan","id":"unseen","text":"x"}]}]}}`))
		return nil
	}
	e.own("b")
	cut(former)
	lost := e.read(e.client)
	require.EqualValues(t, id, lost.Get("id").Int())
	require.Equal(t, "ownerLost", lost.Get("error.data.kind").Str)
	resolved := e.read(e.client)
	require.Equal(t, "serverRequest/resolved", resolved.Get("method").Str)
	require.Equal(t, asked, resolved.Get("params.requestId").Int())
	require.Equal(t, "T", resolved.Get("params.threadId").Str)
	item := e.read(e.client)
	require.Equal(t, "item/completed", item.Get("method").Str)
	require.Equal(t, "unseen", item.Get("params.item.id").Str)
	ended := e.read(e.client)
	require.Equal(t, "turn/completed", ended.Get("method").Str)
	require.Equal(t, "interrupted", ended.Get("params.turn.status").Str)
	next.Notify(linkConn(t, next), protocol.TurnStartedNotification{ThreadID: "T"})
	require.Equal(t, "turn/started", e.read(e.client).Get("method").Str)
}

func TestAThreadThatCannotBeResumedIsClosed(t *testing.T) {
	former := newNode(t, "a")
	e := newEdgeWith(t, func(o *forward.Options) { o.Workspaces = nil }, former)
	e.own("a")
	e.follow()
	linkConn(t, former)
	e.handler.resume = func(protocol.Caller, *protocol.ThreadResumeParams) error {
		return protocol.Refuse(protocol.KindThreadNotFound, "deleted")
	}
	e.own("")
	cut(former)
	closed := e.read(e.client)
	require.Equal(t, "thread/closed", closed.Get("method").Str)
	require.Equal(t, "T", closed.Get("params.threadId").Str)
}

// TestQuestionsOfOwnersWithTheSameIDAreAnsweredApart asks with one id from two owners.
func TestQuestionsOfOwnersWithTheSameIDAreAnsweredApart(t *testing.T) {
	first, second := newNode(t, "a"), newNode(t, "b")
	e := newEdge(t, first, second)
	e.own("a")
	e.follow()
	answers := make(chan string, 2)
	ask := func(n *node) {
		n.Ask(linkConn(t, n), 0, "question", raw(`{"from":"`+n.id+`"}`), func(result json.RawMessage, err error) {
			answers <- n.id + string(result)
		})
	}
	ask(first)
	e.own("b")
	_, err := fmt.Fprintln(e.client, `{"id":"other","method":"thread/resume","params":{"threadId":"U"}}`)
	require.NoError(t, err)
	questions := map[string]string{}
	for range 2 {
		if m := e.read(e.client); m.Get("method").Str == "question" {
			questions[m.Get("params.from").Str] = m.Get("id").Raw
		}
	}
	ask(second)
	m := e.read(e.client)
	questions[m.Get("params.from").Str] = m.Get("id").Raw
	require.Len(t, questions, 2)
	require.NotEqual(t, questions["a"], questions["b"])
	for _, from := range []string{"b", "a"} {
		_, err := fmt.Fprintf(e.client, `{"id":%s,"result":"for %s"}`+"\n", questions[from], from)
		require.NoError(t, err)
		require.Equal(t, from+`"for `+from+`"`, <-answers)
	}
}

// TestASlowClientSlowsTheOwnerDown reads nothing of the client's output.
func TestASlowClientSlowsTheOwnerDown(t *testing.T) {
	owner := newNode(t, "a")
	e := newEdge(t, owner)
	e.own("a")
	e.follow()
	conn := linkConn(t, owner)
	text := strings.Repeat("x", 1<<20)
	sent := 0
	for ; owner.Congested(conn) == nil && sent < 200; sent++ {
		owner.Notify(conn, protocol.ConfigWarningNotification{Summary: text})
	}
	require.Less(t, sent, 200)
	require.NotNil(t, owner.Congested(conn))
	for range sent {
		require.Len(t, e.read(e.client).Get("params.summary").Str, len(text))
	}
}

// TestNotificationsAboutAllThreadsReachEachClientOnce sends them to a client through its link as well: about a thread
// that it follows, and about one that it has only archived.
func TestNotificationsAboutAllThreadsReachEachClientOnce(t *testing.T) {
	owner := newNode(t, "a")
	e := newEdge(t, owner)
	e.own("a")
	e.follow()
	e.awaitAudience(owner)
	other := e.connect()
	require.Eventually(t, func() bool { return len(e.Server.Clients()) == 2 }, wait, time.Millisecond)
	owner.broadcast(protocol.ThreadNameUpdatedNotification{ThreadID: "T"}, linkConn(t, owner))
	owner.broadcast(protocol.ThreadArchivedNotification{ThreadID: "U"}, linkConn(t, owner))
	owner.broadcast(protocol.ThreadArchivedNotification{ThreadID: "T"}, linkConn(t, owner))
	owner.broadcast(protocol.ThreadUnarchivedNotification{ThreadID: "T"})
	for _, client := range []*end{other, e.client} {
		got := map[string]int{}
		for range 4 {
			m := e.read(client)
			require.False(t, m.Get("sent").Exists())
			require.Positive(t, m.Get("emittedAtMs").Int())
			got[m.Get("method").Str+" "+m.Get("params.threadId").Str]++
		}
		require.Equal(t, map[string]int{"thread/name/updated T": 1, "thread/archived U": 1, "thread/archived T": 1,
			"thread/unarchived T": 1}, got)
	}
}

// TestThreadsOfOtherFoldersStartOnTheNodeThatHasThem starts threads in folders of three nodes.
func TestThreadsOfOtherFoldersStartOnTheNodeThatHasThem(t *testing.T) {
	there := newNode(t, "there")
	e := newEdge(t, newNode(t, "a"), there)
	for _, n := range append([]*node{e.node}, e.owners["a"], there) {
		n.handler.start = func(to protocol.Caller, p *protocol.ThreadStartParams) error {
			n.Reply(to, map[string]any{"thread": map[string]any{"id": "new on " + n.id}})
			return nil
		}
	}
	start := func(cwd string) string {
		_, err := fmt.Fprintf(e.client, `{"id":1,"method":"thread/start","params":{"cwd":%q}}`+"\n", cwd)
		require.NoError(t, err)
		return e.read(e.client).Get("result.thread.id").Str
	}
	require.Eventually(t, func() bool { return start("/there/project") == "new on there" }, wait, time.Millisecond,
		"the workspaces of a node arrive some time after its start")
	require.Equal(t, "new on edge", start("/here/project"))
	require.Equal(t, "new on edge", start("/nowhere"))
	there.Notify(linkConn(t, there), protocol.TurnStartedNotification{ThreadID: "new on there"})
	require.Equal(t, "turn/started", e.read(e.client).Get("method").Str)
	e.start("hello")
	require.Equal(t, "there", e.read(e.client).Get("result.node").Str, "a thread without owner goes to its folder")
}
