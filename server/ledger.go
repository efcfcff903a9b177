package server

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"
)

// call is a request of the client on its way to an answer.
type call struct {
	// number is jsonrpc2's id for the request, and Caller.Request. It is 0 where
	// the message was refused before it became a request.
	number uint64
	id     json.RawMessage // as the client wrote it
	batch  *batch
}

// ledger knows the requests of one connection that have no answer yet. It is safe
// for concurrent use.
type ledger struct {
	mu         sync.Mutex
	last       uint64
	open       map[uint64]*call
	unanswered int           // open, and taken but not yet settled
	idle       chan struct{} // closed when unanswered becomes 0; nil where nobody waits
}

// accept numbers a request, unless limit requests are unanswered.
func (l *ledger) accept(c *call, limit int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unanswered >= limit {
		return false
	}
	if l.open == nil {
		l.open = map[uint64]*call{}
	}
	l.last++
	l.unanswered++
	c.number = l.last
	l.open[c.number] = c
	return true
}

// count is how many requests are not settled.
func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unanswered
}

// take gives a request to the one who answers it. It is nil for a request that was
// answered before. settled has to follow when the answer is on its way.
func (l *ledger) take(number uint64) *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.open[number]
	delete(l.open, number)
	return c
}

func (l *ledger) settled() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unanswered--
	if l.unanswered == 0 && l.idle != nil {
		close(l.idle)
		l.idle = nil
	}
}

// quiet is closed once no request is unanswered.
func (l *ledger) quiet() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.idle != nil {
		return l.idle
	}
	idle := make(chan struct{})
	if l.unanswered == 0 {
		close(idle)
	} else {
		l.idle = idle
	}
	return idle
}

// rest are the numbers of the open requests, oldest first.
func (l *ledger) rest() []uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.open))
}
