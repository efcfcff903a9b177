package forward_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"go.uber.org/zap"

	"appserver/protocol"
	"appserver/server"
	"appserver/server/forward"
)

const wait = 20 * time.Second

// end is one end of a link in memory.
type end struct {
	in, out chan []byte
	closed  chan struct{} // shared by both ends
	once    *sync.Once
}

func pipe() (a, b *end) {
	x, y, closed, once := make(chan []byte, 8), make(chan []byte, 8), make(chan struct{}), new(sync.Once)
	return &end{x, y, closed, once}, &end{y, x, closed, once}
}

func (e *end) Next() ([]byte, error) {
	select {
	case m := <-e.in:
		return m, nil
	case <-e.closed:
		return nil, io.EOF
	}
}

func (e *end) Write(lines []byte) (int, error) {
	for line := range bytes.Lines(lines) {
		select {
		case e.out <- bytes.Clone(bytes.TrimSuffix(line, []byte("\n"))):
		case <-e.closed:
			return 0, io.EOF
		}
	}
	return len(lines), nil
}

func (e *end) Close() { e.once.Do(func() { close(e.closed) }) }

// handler serves the methods of the tests.
type handler struct {
	protocol.Handler
	resume func(to protocol.Caller, p *protocol.ThreadResumeParams) error
	turn   func(to protocol.Caller, p *protocol.TurnStartParams) error
	start  func(to protocol.Caller, p *protocol.ThreadStartParams) error
	// context serves context/getItems, by default with an error.
	context func(to protocol.Caller) error
	// other serves further methods.
	other func(to protocol.Caller, method string) error
}

func (h *handler) ContextGetItems(to protocol.Caller, p *protocol.ContextGetItemsParams) error {
	return h.context(to)
}

func (h *handler) TurnInterrupt(to protocol.Caller, _ *protocol.TurnInterruptParams) error {
	return h.other(to, "turn/interrupt")
}

func (h *handler) ThreadCompactCommit(to protocol.Caller, _ *protocol.ThreadCompactCommitParams) error {
	return h.other(to, "thread/compact/commit")
}

func (h *handler) ThreadStart(to protocol.Caller, p *protocol.ThreadStartParams) error {
	return h.start(to, p)
}

func (h *handler) Initialize(to protocol.Caller, _ *protocol.InitializeParams) error { return nil }

func (h *handler) ThreadResume(to protocol.Caller, p *protocol.ThreadResumeParams) error {
	return h.resume(to, p)
}

func (h *handler) TurnStart(to protocol.Caller, p *protocol.TurnStartParams) error {
	return h.turn(to, p)
}

// node is a server of the fleet.
type node struct {
	*server.Server
	*handler
	id         string
	links      chan *end // of other nodes
	workspaces []string
}

func newNode(t *testing.T, id string) *node {
	n := &node{server.New(zap.NewNop()), &handler{}, id, make(chan *end, 100), []string{"/" + id}}
	n.Server.Handle(server.Service{Handler: n.handler})
	n.turn = func(to protocol.Caller, p *protocol.TurnStartParams) error {
		n.Reply(to, map[string]any{"node": id, "text": p.Input[0].UserInputVariant.(*protocol.TextInput).Text})
		return nil
	}
	n.other = func(to protocol.Caller, method string) error {
		n.Reply(to, map[string]any{"node": id, "method": method})
		return nil
	}
	n.context = func(protocol.Caller) error { return protocol.Refuse(protocol.KindStaleOwner, "not now") }
	n.resume = func(to protocol.Caller, p *protocol.ThreadResumeParams) error {
		n.Reply(to, map[string]any{"thread": map[string]any{"id": p.ThreadID, "turns": []any{}}})
		return nil
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		defer cancel()
		_ = n.Drain(ctx)
	})
	return n
}

// edge is a node with a forwarder, and one client.
type edge struct {
	*node
	*forward.Forwarder
	t      *testing.T
	client *end
	// owners has the other nodes. owner is the id of the one that owns all threads, or "".
	owners map[string]*node
	owner  atomic.Pointer[string]
	dialed chan struct{} // blocks lookups of owners until it is closed
	last   int
}

func newEdge(t *testing.T, owners ...*node) *edge {
	return newEdgeWith(t, func(*forward.Options) {}, owners...)
}

// newEdgeWith changes the options of the forwarder.
func newEdgeWith(t *testing.T, change func(*forward.Options), owners ...*node) *edge {
	e := &edge{node: newNode(t, "edge"), t: t, owners: map[string]*node{}, dialed: make(chan struct{})}
	close(e.dialed)
	for _, n := range owners {
		e.owners[n.id] = n
	}
	e.own("")
	var requests atomic.Uint64
	o := forward.Options{
		Server: e.Server, Node: "edge", IsLoaded: func(string) bool { return false }, Find: e.find, Nodes: e.nodes,
		Dial: e.dial, NextRequest: func() uint64 { return requests.Add(1) + 1000 }, Patience: wait, DialTimeout: wait,
		Poll: 10 * time.Millisecond, Workspaces: []string{"/here"}, Report: func(error) {},
	}
	change(&o)
	e.Forwarder = forward.New(o)
	e.Server.Handle(server.Service{Handler: e.handler, Router: e.Forwarder})
	t.Cleanup(e.Forwarder.Close)
	e.client = e.connect()
	return e
}

// own makes a node the owner of all threads.
func (e *edge) own(id string) { e.owner.Store(&id) }

func (e *edge) find(context.Context, string) (forward.Place, error) {
	<-e.dialed
	id := *e.owner.Load()
	return forward.Place{Owner: forward.Node{ID: id, Address: id}, Cwd: "/there/project"}, nil
}

func (e *edge) nodes(context.Context) (all []forward.Node, err error) {
	for id := range e.owners {
		all = append(all, forward.Node{ID: id, Address: id})
	}
	return all, nil
}

func (e *edge) dial(_ context.Context, address string) (forward.Transport, error) {
	n := e.owners[address]
	if n == nil {
		return nil, errors.New("no such node")
	}
	here, there := pipe()
	n.links <- there
	go func() { _ = forward.Serve(context.Background(), n.Server, there, n.workspaces) }()
	return here, nil
}

// connect adds a client, which opts out of notifications.
func (e *edge) connect(optOut ...string) *end {
	here, there := pipe()
	go func() {
		_ = e.Server.ServeLink(context.Background(), there, server.Link{}, server.ClientState{
			Info: protocol.ClientInfo{Name: "client"}, ExperimentalAPI: true, OptOut: append(optOut, "warning")})
	}()
	e.t.Cleanup(here.Close)
	return here
}

// start sends turn/start with a text.
func (e *edge) start(text string) (id int) {
	e.last++
	_, err := fmt.Fprintf(e.client, `{"id":%d,"method":"turn/start","params":{"threadId":"T","input":[{"type":"text","text":%q}]}}`+"\n",
		e.last, text)
	require.NoError(e.t, err)
	return e.last
}

// request sends a request with any params.
func (e *edge) request(method, params string) {
	_, err := fmt.Fprintf(e.client, `{"id":"request","method":%q,"params":%s}`+"\n", method, params)
	require.NoError(e.t, err)
}

func (e *edge) follow() {
	e.request("thread/resume", `{"threadId":"T"}`)
	require.Equal(e.t, "T", e.read(e.client).Get("result.thread.id").Str)
}

// read returns the next message to a client.
func (e *edge) read(client *end) gjson.Result {
	for {
		select {
		case text := <-client.in:
			if m := gjson.ParseBytes(text); m.Get("params.summary").Str != probe {
				return m
			}
		case <-time.After(wait):
			require.FailNow(e.t, "no message")
		}
	}
}

// linkConn returns the connection of the edge's client on an owner.
func linkConn(t *testing.T, n *node) uint64 {
	var conn uint64
	require.Eventually(t, func() bool {
		for id := uint64(1); id < 100; id++ {
			if state, ok := n.Client(id); ok && state.Info.Name == "client" {
				conn = id
			}
		}
		return conn != 0
	}, wait, time.Millisecond)
	return conn
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

// broadcast sends a notification about all threads, as the engine does. The subscribers get it first.
func (n *node) broadcast(m protocol.Notification, subscribers ...uint64) {
	for _, conn := range subscribers {
		n.Notify(conn, m)
	}
	n.NotifyOthers(subscribers, m)
}

// probe is the text of the notifications of awaitAudience, which read skips.
const probe = "probe"

// awaitAudience waits for the link on which another node gets the notifications about all threads. A client of it
// must be connected.
func (e *edge) awaitAudience(n *node) {
	require.Eventually(e.t, func() bool {
		n.NotifyOthers(nil, protocol.ConfigWarningNotification{Summary: probe})
		select {
		case m := <-e.client.in:
			return gjson.GetBytes(m, "params.summary").Str == probe
		case <-time.After(10 * time.Millisecond):
			return false
		}
	}, wait, time.Millisecond)
}
