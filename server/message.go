package server

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"appserver/protocol"
)

// message is an entry of the outbox. The writer calls transmit, which passes a stub to
// the rpc. That calls stream.WriteObject, which calls encode.
type message interface {
	// size returns the approximate memory of the entry, in bytes.
	size() int
	transmit(to *rpc) error
	// encode appends the message and a final LF. After an error, the caller discards the
	// appended bytes. A long response may be written in parts before.
	encode(e *encoder) error
}

// queuedNotification is a notification that is never merged.
type queuedNotification struct {
	notification protocol.Notification
	bytes        int
	emittedAt    time.Time
}

func (n *queuedNotification) size() int { return n.bytes }

func (n *queuedNotification) transmit(to *rpc) error {
	return to.notify(n.notification.NotificationMethod())
}

func (n *queuedNotification) encode(e *encoder) error {
	e.held = false
	e.method(n.notification.NotificationMethod())
	err := e.value(n.notification)
	e.emitted(n.emittedAt)
	return err
}

// endsMerging reports whether later deltas must stay behind this notification.
func (n *queuedNotification) endsMerging() bool {
	switch n.notification.NotificationMethod() {
	case "item/started", "item/completed":
		return true
	}
	return false
}

// queuedDelta is one delta, or several merged deltas of the same text.
type queuedDelta struct {
	delta protocol.Delta
	// merged holds the whole text after the first merge.
	merged    strings.Builder
	emittedAt time.Time // time of the first delta
}

func (p *queuedDelta) size() int { return entryOverhead + len(p.text()) }

func (p *queuedDelta) text() string {
	if p.merged.Len() > 0 {
		return p.merged.String()
	}
	return p.delta.DeltaText()
}

func (p *queuedDelta) merge(text string) {
	if p.merged.Len() == 0 {
		p.merged.WriteString(p.delta.DeltaText())
	}
	p.merged.WriteString(text)
}

func (p *queuedDelta) transmit(to *rpc) error {
	return to.notify(p.delta.NotificationMethod())
}

func (p *queuedDelta) encode(e *encoder) error {
	e.method(p.delta.NotificationMethod())
	err := e.delta(p.delta, p.text())
	e.emitted(p.emittedAt)
	return err
}

// response is the response to a request: err if it is set, or else result.
type response struct {
	*request
	result any
	err    *protocol.Error
	bytes  int
}

func (r *response) size() int { return r.bytes }

func (r *response) transmit(to *rpc) error {
	return to.respond(r.number)
}

func (r *response) encode(e *encoder) error {
	if r.batch != nil && r.err == nil && r.batch.isFull(e) {
		r.err = batchOverflow()
	}
	start := len(e.buf)
	e.held = r.batch != nil
	e.text(`{"jsonrpc":"2.0","id":`)
	e.buf = append(e.buf, r.id...)
	if err := r.encodeOutcome(e); err != nil {
		return err
	}
	e.text("}")
	if r.batch != nil {
		r.batch.add(e, start)
	} else {
		e.text("\n")
	}
	return nil
}

func (r *response) encodeOutcome(e *encoder) error {
	if r.err != nil {
		e.text(`,"error":`)
		return e.value(r.err)
	}
	e.text(`,"result":`)
	return e.value(r.result)
}

// serverRequest is a request of the server to the client.
type serverRequest struct {
	id         uint64
	method     string
	params     any
	bytes      int
	onResponse func(json.RawMessage, error)
	await      func(awaited) // calls onResponse when the client has replied
	resent     int           // number of times that it was sent again
	// ctx ends when the response is no longer awaited.
	ctx    context.Context
	cancel context.CancelFunc
}

func (q *serverRequest) size() int { return q.bytes }

// transmit sends the request and registers its response.
func (q *serverRequest) transmit(to *rpc) error {
	response, err := to.ask(q.id, q.method)
	if err == nil {
		go q.await(response)
	}
	return err
}

// resentRequest is a server request that is sent again. It overrides transmit, which would register the id twice.
type resentRequest struct{ *serverRequest }

// transmit sends the request as a notification, because its response is awaited already.
func (r resentRequest) transmit(to *rpc) error {
	return to.notify(r.method)
}

func (q *serverRequest) encode(e *encoder) error {
	e.text(`{"jsonrpc":"2.0","id":` + serverRequestID(q.id) + `,"method":`)
	e.buf = protocol.AppendString(e.buf, q.method)
	e.text(`,"params":`)
	err := e.value(q.params)
	e.text("}\n")
	return err
}
