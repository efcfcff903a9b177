package server

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"appserver/protocol"
)

// request is a request of the client without a response.
type request struct {
	// number is the id of the request in jsonrpc2, and Caller.Request. It is 0 if the message
	// was rejected before it became a request.
	number uint64
	id     json.RawMessage // as the client wrote it
	batch  *batch
	// bytes is the length of its params.
	bytes int
	// answered gets the response to a request of Server.Call. It is nil for a request of the client.
	answered func(result any, err *protocol.Error)
}

// pendingRequests holds the requests of one connection that have no response. It is safe for
// concurrent use.
type pendingRequests struct {
	mu         sync.Mutex
	last       uint64
	open       map[uint64]*request
	unanswered int           // in open, or removed without a call to responded
	emptied    chan struct{} // closed when unanswered becomes 0; nil if empty was not called
	bytes      int           // of the params of the open requests
	shared     *paramBytes   // nil if nothing bounds them
}

// paramBytes bounds the params of the pending requests of all connections that share it. It is safe for concurrent
// use.
type paramBytes struct {
	limit int64
	used  atomic.Int64
}

// ownParamBytes is how many bytes of params each connection may have pending, whatever others have.
const ownParamBytes = 1 << 20

// fits reports whether a connection with own bytes may add more.
func (b *paramBytes) fits(own, more int) bool {
	return b == nil || own+more <= ownParamBytes || b.used.Load()+int64(more) <= b.limit
}

func (b *paramBytes) add(n int) {
	if b != nil {
		b.used.Add(int64(n))
	}
}

// add assigns a number to a request and stores it. It returns false if limit requests are
// pending, or too many bytes of params.
func (p *pendingRequests) add(c *request, limit int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unanswered >= limit || !p.shared.fits(p.bytes, c.bytes) {
		return false
	}
	if p.open == nil {
		p.open = map[uint64]*request{}
	}
	p.last++
	p.unanswered++
	p.bytes += c.bytes
	p.shared.add(c.bytes)
	c.number = p.last
	p.open[c.number] = c
	return true
}

// count returns the number of requests without a queued response.
func (p *pendingRequests) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unanswered
}

// remove returns a request and forgets it, so that it gets one response only. It returns nil
// if the request was removed before. The caller calls responded after it has queued the
// response.
func (p *pendingRequests) remove(number uint64) *request {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.open[number]
	if c != nil {
		delete(p.open, number)
		p.bytes -= c.bytes
		p.shared.add(-c.bytes)
	}
	return c
}

// abandon forgets the params of the open requests of a connection that has ended.
func (p *pendingRequests) abandon() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shared.add(-p.bytes)
	p.bytes, p.shared = 0, nil
}

func (p *pendingRequests) responded() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unanswered--
	if p.unanswered == 0 && p.emptied != nil {
		close(p.emptied)
		p.emptied = nil
	}
}

// empty returns a channel that is closed as soon as no request is pending.
func (p *pendingRequests) empty() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.emptied != nil {
		return p.emptied
	}
	idle := make(chan struct{})
	if p.unanswered == 0 {
		close(idle)
	} else {
		p.emptied = idle
	}
	return idle
}

// numbers returns the numbers of the open requests, oldest first.
func (p *pendingRequests) numbers() []uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.open))
}
