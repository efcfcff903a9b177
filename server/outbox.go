package server

import (
	"sync"
	"time"

	"appserver/protocol"
)

// chunkBytes is the approximate amount of output per write. A larger message is written alone.
const chunkBytes = 256 << 10

// outbox is the output queue of one connection. Messages leave in the order of arrival. A
// delta is merged into a queued delta of the same text, unless an item started or completed
// between. An outbox is safe for concurrent use.
type outbox struct {
	// congestionLimit is the number of queued bytes above which the outbox is congested.
	// Congestion ends below half of it.
	congestionLimit int
	// drained is closed by the writer when it ends.
	drained chan struct{}
	wake    chan struct{} // holds a token if the queue has changed

	mu        sync.Mutex
	queue     []message
	merging   map[protocol.DeltaKey]*queuedDelta // queued deltas that accept more text
	bytes     int                                // queued, or passed to the writer and not yet written
	congested chan struct{}                      // closed when congestion ends; nil if not congested
	finishing bool                               // the writer ends when the queue is empty
	closed    bool                               // new messages are dropped
}

func newOutbox(congestion int) *outbox {
	return &outbox{
		congestionLimit: congestion,
		drained:         make(chan struct{}),
		wake:            make(chan struct{}, 1),
		merging:         map[protocol.DeltaKey]*queuedDelta{},
	}
}

func (o *outbox) add(m message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	if n, ok := m.(*queuedNotification); ok && n.endsMerging() {
		clear(o.merging)
	}
	o.pushLocked(m)
}

func (o *outbox) addDelta(d protocol.Delta) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	key := d.DeltaKey()
	if p := o.merging[key]; p != nil {
		p.merge(d.DeltaText())
		o.growLocked(len(d.DeltaText()))
		return
	}
	p := &queuedDelta{delta: d, emittedAt: time.Now()}
	o.merging[key] = p
	o.pushLocked(p)
}

func (o *outbox) pushLocked(m message) {
	o.queue = append(o.queue, m)
	o.growLocked(m.size())
	o.wakeWriter()
}

func (o *outbox) growLocked(n int) {
	o.bytes += n
	if o.bytes > o.congestionLimit && o.congested == nil {
		o.congested = make(chan struct{})
	}
}

func (o *outbox) wakeWriter() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// nextChunk waits for messages and returns the oldest, with their total size: one message, or
// as many as fit in chunkBytes. It returns none if the writer must end.
func (o *outbox) nextChunk() ([]message, int) {
	for {
		chunk, size, end := o.tryNextChunk()
		if len(chunk) > 0 || end {
			return chunk, size
		}
		<-o.wake
	}
}

func (o *outbox) tryNextChunk() (chunk []message, size int, end bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for ; n < len(o.queue); n++ {
		more := o.queue[n].size()
		if n > 0 && size+more > chunkBytes { // small messages do not wait for the encoding of a large one
			break
		}
		size += more
	}
	chunk, o.queue = o.queue[:n:n], o.queue[n:]
	o.stopMergingLocked(chunk)
	o.closed = o.closed || (n == 0 && o.finishing)
	return chunk, size, o.closed
}

func (o *outbox) stopMergingLocked(chunk []message) {
	if len(o.queue) == 0 {
		clear(o.merging)
		return
	}
	for _, m := range chunk {
		if p, ok := m.(*queuedDelta); ok && o.merging[p.delta.DeltaKey()] == p {
			delete(o.merging, p.delta.DeltaKey())
		}
	}
}

// written subtracts the size of written messages from the queued bytes.
func (o *outbox) written(size int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.bytes -= size
	if o.congested != nil && o.bytes < o.congestionLimit/2 {
		close(o.congested)
		o.congested = nil
	}
}

// finish makes the writer end as soon as the queue is empty.
func (o *outbox) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finishing = true
	o.wakeWriter()
}

// close drops all queued messages and makes the writer end.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed, o.queue, o.bytes = true, nil, 0
	clear(o.merging)
	if o.congested != nil {
		close(o.congested)
		o.congested = nil
	}
	o.wakeWriter()
}

// congestion returns a channel that is closed when congestion ends, or nil if the outbox is
// not congested.
func (o *outbox) congestion() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.congested
}

// backlog returns the approximate number of bytes that the client has not read.
func (o *outbox) backlog() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes
}
