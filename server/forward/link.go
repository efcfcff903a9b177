package forward

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"appserver/protocol"
	"appserver/server"
)

// maxUnsent is the number of messages that can wait to be written to a link. It exceeds the number of
// pending requests of a client.
const maxUnsent = 2048

// message is a message of the owner.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *protocol.Error `json:"error"`
	// Sent are the clients of the edge that have got a notification about all threads.
	Sent        []uint64 `json:"sent"`
	EmittedAtMs int64    `json:"emittedAtMs"`
}

// link is the connection to one owner for one client.
type link struct {
	*session
	owner     Node
	transport Transport
	unsent    chan []byte
	ended     chan struct{} // closed by end
	left      chan struct{} // closed after lose
	endOnce   sync.Once

	mu      sync.Mutex
	lost    bool
	last    uint64
	pending map[uint64]*request // by number
	// open counts the requests of a thread in pending, since the owner last rejected one.
	open map[string]int
	// asked has the notifications that resolve the open requests of the owner to the client, with the ids
	// of this node, by the owner's ids.
	asked map[uint64]protocol.ServerRequestResolvedNotification
}

func newLink(s *session, owner Node, t Transport) *link {
	return &link{session: s, owner: owner, transport: t, unsent: make(chan []byte, maxUnsent),
		ended: make(chan struct{}), left: make(chan struct{}), pending: map[uint64]*request{}, open: map[string]int{},
		asked: map[uint64]protocol.ServerRequestResolvedNotification{}}
}

func (l *link) end() {
	l.endOnce.Do(func() {
		close(l.ended)
		l.transport.Close()
	})
}

// send queues a request. It returns false if the link has ended or is full.
func (l *link) send(r *request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	text, err := protocol.Marshal(struct {
		ID     uint64          `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}{l.last, r.method.Name, r.params})
	if err != nil || l.lost || !l.queue(text) {
		return false
	}
	l.pending[l.last] = r
	l.open[r.thread]++
	l.requests.Add(1)
	return true
}

// serves reports whether the owner has a request of a thread to serve, and has rejected none.
func (l *link) serves(thread string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return thread != "" && l.open[thread] > 0
}

// forget makes serves return false until the next request of the thread.
func (l *link) forget(thread string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, thread)
}

// take removes a pending request. It returns nil if there is none with the number.
func (l *link) take(number uint64) *request {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.pending[number]
	if r == nil {
		return nil
	}
	delete(l.pending, number)
	if l.open[r.thread]--; l.open[r.thread] <= 0 {
		delete(l.open, r.thread)
	}
	return r
}

// queue returns false if too many messages wait.
func (l *link) queue(text []byte) bool {
	select {
	case l.unsent <- append(text, '\n'):
		return true
	default:
		return false
	}
}

// write writes the queued messages until the link ends.
func (l *link) write() {
	defer l.end()
	for {
		select {
		case text := <-l.unsent:
			if _, err := l.transport.Write(text); err != nil {
				return
			}
		case <-l.ended:
			return
		}
	}
}

// read passes the messages of the owner on until the link ends.
func (l *link) read() {
	defer l.lose()
	defer l.end()
	for {
		text, err := l.transport.Next()
		if err != nil {
			l.reportNode("the link has ended", l.owner, err)
			return
		}
		var m message
		if err := protocol.Unmarshal(text, &m); err != nil {
			l.reportNode("a message cannot be read", l.owner, err)
			return
		}
		l.receive(m, text)
		l.awaitRoom()
	}
}

func (l *link) receive(m message, text []byte) {
	switch {
	case m.Method == "":
		l.respond(m)
	case m.ID != nil:
		l.ask(m)
	default:
		l.notifications.Add(1)
		l.notify(m, text)
	}
}

// awaitRoom waits while the client does not read its output.
func (l *link) awaitRoom() {
	for full := l.Server.Congested(l.conn); full != nil; full = l.Server.Congested(l.conn) {
		select {
		case <-full:
		case <-l.ended:
			return
		}
	}
}

// respond passes the response to a request on.
func (l *link) respond(m message) {
	number, err := strconv.ParseUint(string(m.ID), 10, 64)
	r := l.take(number)
	if err != nil || r == nil {
		l.reportNode("a response is dropped", l.owner, fmt.Errorf("unexpected id %s", m.ID))
		return
	}
	if m.Error != nil {
		unserved := isKind(m.Error, protocol.KindStaleOwner) || isKind(m.Error, protocol.KindShuttingDown)
		l.settle(r, outcome{err: m.Error, unserved: unserved, link: l})
		return
	}
	result := l.translate(r.method, bytes.Clone(m.Result))
	l.follow(l, r, result)
	l.settle(r, outcome{result: server.Encoded(result), link: l})
}

// notify sends a notification to the client.
func (l *link) notify(m message, text []byte) {
	if l.kinds[m.Method].Progress == protocol.RequestResolved {
		l.resolve(m.Params)
		return
	}
	l.session.mu.Lock()
	defer l.session.mu.Unlock()
	if l.noteLocked(l, m) {
		l.Server.Relay(l.conn, m.Method, bytes.Clone(text))
	}
}

// lose ends the link: its requests fail, and then the threads that the client follows are resumed. Later
// requests of these threads wait.
func (l *link) lose() {
	defer close(l.left)
	l.mu.Lock()
	l.lost = true
	pending := l.pending
	l.pending, l.open = nil, nil
	l.mu.Unlock()
	l.leave(l)
	for _, number := range slices.Sorted(maps.Keys(pending)) {
		l.settle(pending[number], outcome{err: errOwnerLost(l.owner), link: l})
	}
	l.resolveAll()
}

func errOwnerLost(owner Node) *protocol.Error {
	return protocol.Internal(protocol.KindOwnerLost, "node %s, which has the thread open, cannot be reached any more. "+
		"It may have served the request: read the thread, then decide whether to send the request again", owner.ID)
}

func (f *Forwarder) reportNode(what string, n Node, err error) {
	if f.ctx.Err() == nil {
		f.Report(fmt.Errorf("node %s: %s: %w", n.ID, what, err))
	}
}
