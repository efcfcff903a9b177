package server

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"
)

// call is a request of the client on its way to an answer.
type request struct {
	// number is jsonrpc2's id for the request, and Caller.Request. It is 0 where
	// the message was refused before it became a request.
	number uint64
	id     json.RawMessage // as the client wrote it
	batch  *batch
}

// ledger knows the requests of one connection that have no answer yet. It is safe
// for concurrent use.
type pendingRequests struct {
	mu         sync.Mutex
	last       uint64
	open       map[uint64]*request
	unanswered int           // open, and taken but not yet settled
	emptied    chan struct{} // closed when unanswered becomes 0; nil where nobody waits
}

// accept numbers a request, unless limit requests are unanswered.
func (p *pendingRequests) add(c *request, limit int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unanswered >= limit {
		return false
	}
	if p.open == nil {
		p.open = map[uint64]*request{}
	}
	p.last++
	p.unanswered++
	c.number = p.last
	p.open[c.number] = c
	return true
}

// count is how many requests are not settled.
func (p *pendingRequests) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unanswered
}

// take gives a request to the one who answers it. It is nil for a request that was
// answered before. settled has to follow when the answer is on its way.
func (p *pendingRequests) remove(number uint64) *request {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.open[number]
	delete(p.open, number)
	return c
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

// quiet is closed once no request is unanswered.
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

// rest are the numbers of the open requests, oldest first.
func (p *pendingRequests) numbers() []uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.open))
}
