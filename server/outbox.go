package server

import (
	"sync"
	"time"

	"appserver/protocol"
)

// chunkBytes is about how much is encoded for one write, unless one message has more.
const chunkBytes = 256 << 10

// outbox is the queue of one connection. Messages leave in the order in which they
// came in; a delta joins the first queued delta of the same text, unless an item
// started or ended in between. It is safe for concurrent use.
type outbox struct {
	// congestion is the number of bytes above which the outbox is congested. It is
	// not congested any more below half of that.
	congestionLimit int
	// drained is closed by the writer when it ends.
	drained chan struct{}
	wake    chan struct{} // holds a token when the writer has something to look at

	mu        sync.Mutex
	queue     []message
	merging   map[protocol.DeltaKey]*queuedDelta // the queued pieces that deltas join
	bytes     int                                // queued, or taken and not yet written
	congested chan struct{}                      // closed when there is room; nil while there is
	finishing bool                               // the writer ends once the queue is empty
	closed    bool                               // what comes in is dropped
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

// take waits for messages and gives some of the oldest, with their size: one, or as many as
// chunkBytes hold. It gives none when the writer is to end.
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
		if n > 0 && size+more > chunkBytes { // what is ready does not wait for what is large
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

// written tells that messages of this size have left.
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

// finish lets the writer end after what is queued now and until then.
func (o *outbox) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finishing = true
	o.wakeWriter()
}

// close drops what is queued. The writer ends as soon as it can.
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

// room is nil while there is room, else a channel that is closed when there is.
func (o *outbox) congestion() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.congested
}

// backlog is how many bytes the client has not yet taken, about.
func (o *outbox) backlog() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes
}
