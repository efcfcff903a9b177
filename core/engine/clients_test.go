package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing/synctest"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// message is a message to a client.
type message struct {
	to     protocol.Caller // of notices and questions, Conn alone
	kind   kind
	method string          // of the request that is answered, or of the message itself
	body   gjson.Result    // as it goes over the wire
	err    *protocol.Error // of an error
	id     uint64          // of a request of the server
	answer func(result json.RawMessage, err error)
}

type kind string

const (
	response      kind = "response"
	rejection     kind = "error"
	notification  kind = "notification"
	serverRequest kind = "request"
)

// String returns a short text without ids.
func (m message) String() string {
	text := fmt.Sprintf("%d: %s %s", m.to.Conn, m.kind, m.method)
	for _, path := range []string{"item.type", "item.status", "status.type", "turn.status", "delta"} {
		if v := m.body.Get(path); v.Type == gjson.String {
			text += " " + strings.TrimSpace(v.Str)
		}
	}
	if m.err != nil && m.err.Data != nil {
		text += " " + string(m.err.Data.Kind)
	}
	return text
}

// clients are all clients: an outbox that passes messages to a checker.
type clients struct {
	diary    *diary
	checker  *checker
	mu       sync.Mutex
	received []message
	slow     map[uint64]chan struct{}
	behind   uint64 // the client that is, 0 for none
	awaited  map[protocol.Caller]chan message
	// afterMessage is called after each message, by the sending goroutine.
	afterMessage func(message)
}

// onMessage sets what is called after each message.
func (c *clients) onMessage(afterMessage func(message)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.afterMessage = afterMessage
}

func (c *clients) record(m message) {
	c.mu.Lock()
	c.received = append(c.received, m)
	afterMessage, awaited := c.afterMessage, c.awaited[m.to]
	if m.kind == response || m.kind == rejection {
		delete(c.awaited, m.to)
	}
	c.mu.Unlock()
	c.diary.note(m.String())
	c.checker.check(m)
	if awaited != nil && (m.kind == response || m.kind == rejection) {
		awaited <- m
	}
	if afterMessage != nil {
		afterMessage(m)
	}
}

// await gives a channel for the answer to a request that is about to be posted.
func (c *clients) await(to protocol.Caller) <-chan message {
	c.mu.Lock()
	defer c.mu.Unlock()
	answer := make(chan message, 1)
	c.awaited[to] = answer
	return answer
}

// Reply rejects the request if items of the result cannot be read, as the server does.
func (c *clients) Reply(to protocol.Caller, result any) {
	b, err := encodeParts(result)
	var unread *protocol.Error
	if errors.As(err, &unread) {
		c.Refuse(to, unread)
		return
	}
	c.record(message{to: to, kind: response, method: c.checker.methodOf(to), body: gjson.Parse(encoded(b, err))})
}

func (c *clients) Refuse(to protocol.Caller, err *protocol.Error) {
	c.record(message{to: to, kind: rejection, method: c.checker.methodOf(to), err: err})
}

func (c *clients) Notify(conn uint64, n protocol.Notification) {
	c.record(message{to: protocol.Caller{Conn: conn}, kind: notification, method: n.NotificationMethod(),
		body: gjson.Parse(encode(n))})
}

func (c *clients) Ask(conn, id uint64, method string, params any, answer func(json.RawMessage, error)) {
	c.record(message{to: protocol.Caller{Conn: conn}, kind: serverRequest, method: method,
		body: gjson.Parse(encode(params)),
		id:   id, answer: answer})
}

func (c *clients) Congested(conn uint64) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if room := c.slow[conn]; room != nil {
		return room
	}
	return nil
}

func (c *clients) Behind(conn uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return conn != 0 && c.behind == conn
}

// leaveBehind makes a client congested, or none for 0.
func (c *clients) leaveBehind(conn uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.behind = conn
}

// congest makes a client slow; relieve lets it keep up again.
func (c *clients) congest(conn uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slow[conn] == nil {
		c.slow[conn] = make(chan struct{})
	}
}

func (c *clients) relieve(conn uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if room := c.slow[conn]; room != nil {
		close(room)
		delete(c.slow, conn)
	}
}

// all returns the messages to a client so far that a filter lets through.
func (c *clients) all(conn uint64, pass func(message) bool) []message {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []message
	for _, m := range c.received {
		if m.to.Conn == conn && pass(m) {
			found = append(found, m)
		}
	}
	return found
}

// answersTo returns the answers to one request, once all is quiet.
func (c *clients) answersTo(to protocol.Caller) []message {
	synctest.Wait()
	return c.all(to.Conn, func(m message) bool { return m.to == to && (m.kind == response || m.kind == rejection) })
}

// notices returns the notifications with a method.
func (c *clients) notices(conn uint64, method string) []message {
	return c.all(conn, func(m message) bool { return m.kind == notification && m.method == method })
}

// open returns the unresolved requests to a client, one for each id; of repeated ones the last.
func (c *clients) open(conn uint64) []message {
	var open []message
	for _, m := range c.all(conn, func(m message) bool { return true }) {
		id := m.id
		if m.method == "serverRequest/resolved" {
			id = m.body.Get("requestId").Uint()
		}
		if m.kind == serverRequest || m.method == "serverRequest/resolved" {
			open = slices.DeleteFunc(open, func(o message) bool { return o.id == id })
		}
		if m.kind == serverRequest {
			open = append(open, m)
		}
	}
	return open
}

func (c *clients) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.received = nil
}

func encode(v any) string { return encoded(encodeParts(v)) }

func encoded(b []byte, err error) string {
	if err != nil {
		return `"cannot be encoded: ` + err.Error() + `"`
	}
	return string(b)
}

// encodeParts encodes a message as the server does.
func encodeParts(v any) ([]byte, error) {
	s, ok := v.(interface {
		StoredSize() int
		AppendParts(b []byte, flush protocol.Flush) ([]byte, error)
	})
	if !ok || s.StoredSize() == 0 {
		return protocol.Marshal(v)
	}
	b, err := s.AppendParts(nil, func(b []byte) ([]byte, error) { return b, nil })
	var unread *protocol.UnreadError
	if errors.As(err, &unread) {
		err = nil
	}
	return b, err
}

func decision(word string) json.RawMessage { return json.RawMessage(`{"decision":"` + word + `"}`) }
