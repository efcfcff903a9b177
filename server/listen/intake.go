package listen

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// freeBytes is the part of an unfinished message that every connection may hold.
	freeBytes = 64 << 10
	// mediumBytes and mediumShares are the length of messages of the first class, and how many may be unfinished.
	mediumBytes, mediumShares = 1 << 20, 64
	// largeShares is the number of longer messages that may be unfinished.
	largeShares = 3
	// patience is the time after which a message that waits for a share takes one from a client that is silent.
	patience = 2 * time.Second
	// maxPatience is the time after which it takes one from a client that sends.
	maxPatience = time.Minute
)

// evicted is the reason for the end of a connection whose share went to another client.
const evicted = "the message was not finished while other clients waited to send theirs; connect again and send it at once"

var errEvicted = errors.New(evicted)

// Intake bounds the memory of unfinished messages of all connections of a server. A message longer than freeBytes
// needs a share of its class, and releases it when it was handled. A connection that waits for a share is not read.
// Each share is large enough for the longest message of its class, so that no two messages wait for each other.
//
// A silent client loses its share if another client has waited for it for patience; any client does after
// maxPatience. Its connection is closed.
type Intake struct {
	mu                    sync.Mutex
	classes               [2]class
	patience, maxPatience time.Duration
}

// class is a class of messages by their length.
type class struct {
	bytes, shares int
	held          []*holding
	queue         []*waiter
}

// waiter is a message that waits for a share of a class.
type waiter struct {
	holding *holding
	begun   time.Time
	granted chan struct{}
}

// holding is the share of one connection.
type holding struct {
	// read is the time of the last received part of the message, or 0 while the message is handled.
	read atomic.Int64
	// evict closes the connection. ended is closed when the share is lost.
	evict func()
	ended chan struct{}
	// classes is the number of classes whose shares are held. Intake.mu guards it.
	classes int
	lost    bool
}

// NewIntake returns an intake for messages of at most maxMessage bytes: 256 MiB in all.
func NewIntake() *Intake {
	return &Intake{patience: patience, maxPatience: maxPatience,
		classes: [2]class{{bytes: mediumBytes, shares: mediumShares}, {bytes: maxMessage, shares: largeShares}}}
}

func newHolding(evict func()) *holding { return &holding{evict: evict, ended: make(chan struct{})} }

// reserve waits until the holding has shares for a message of this length. It returns errEvicted if the connection
// must end.
func (in *Intake) reserve(h *holding, length int) error {
	for i := range in.classes {
		if i > 0 && length <= in.classes[i-1].bytes || length <= freeBytes {
			break
		}
		if err := in.acquire(h, i); err != nil {
			return err
		}
	}
	return nil
}

// acquire waits for a share of a class.
func (in *Intake) acquire(h *holding, i int) error {
	w, err := in.enqueue(h, i)
	if w == nil {
		return err
	}
	impatience := time.NewTicker(in.patience / 2)
	defer impatience.Stop()
	for {
		select {
		case <-w.granted:
			return nil
		case <-h.ended:
			return errEvicted
		case <-impatience.C:
			in.makeRoom(w, i)
		}
	}
}

// enqueue takes a share at once and returns no waiter, or it returns one.
func (in *Intake) enqueue(h *holding, i int) (*waiter, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	c := &in.classes[i]
	switch {
	case h.lost:
		return nil, errEvicted
	case h.classes > i:
		return nil, nil
	}
	w := &waiter{h, time.Now(), make(chan struct{})}
	c.queue = append(c.queue, w)
	in.grantLocked(i)
	return w, nil
}

// grantLocked assigns the free shares of a class to the longest waiters.
func (in *Intake) grantLocked(i int) {
	c := &in.classes[i]
	for len(c.held) < c.shares && len(c.queue) > 0 {
		w := c.queue[0]
		c.queue = c.queue[1:]
		c.held = append(c.held, w.holding)
		w.holding.classes = i + 1
		w.holding.read.Store(time.Now().UnixNano())
		close(w.granted)
	}
}

// makeRoom takes the share of the client that is silent for longest. If none is silent, a share of the first class
// comes from the message that was last to wait for one of the second. Otherwise the message that waits longest takes
// the share that is held for longest, after maxPatience.
func (in *Intake) makeRoom(w *waiter, i int) {
	in.mu.Lock()
	c := &in.classes[i]
	victim := in.silentLocked(c)
	if next := in.classes[len(in.classes)-1].queue; victim == nil && i == 0 && len(next) > 0 {
		victim = next[len(next)-1].holding
	}
	if victim == nil && len(c.queue) > 0 && c.queue[0] == w && time.Since(w.begun) >= in.maxPatience {
		victim = c.held[0]
	}
	if len(c.held) < c.shares {
		victim = nil
	}
	if victim != nil {
		in.takeLocked(victim)
	}
	in.mu.Unlock()
	if victim != nil {
		victim.evict()
	}
}

// silentLocked returns the holder from which nothing arrived for longest, if that is longer than the patience. The
// message of a holder that waits for a share of the next class is not silent.
func (in *Intake) silentLocked(c *class) (victim *holding) {
	oldest := time.Now().Add(-in.patience).UnixNano()
	for _, h := range c.held {
		if at := h.read.Load(); at != 0 && at < oldest && !in.waitsLocked(h) {
			victim, oldest = h, at
		}
	}
	return victim
}

func (in *Intake) waitsLocked(h *holding) bool {
	return slices.ContainsFunc(in.classes[:], func(c class) bool {
		return slices.ContainsFunc(c.queue, func(w *waiter) bool { return w.holding == h })
	})
}

// release returns the shares, also the requested ones. The holding can be used again unless it was lost.
func (in *Intake) release(h *holding) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if h.classes > 0 && !h.lost {
		in.dropLocked(h)
	}
}

// end returns the shares for good. A wait for one ends.
func (in *Intake) end(h *holding) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !h.lost {
		in.takeLocked(h)
	}
}

// takeLocked takes the shares of a holding for good.
func (in *Intake) takeLocked(h *holding) {
	h.lost = true
	close(h.ended)
	in.dropLocked(h)
}

func (in *Intake) dropLocked(h *holding) {
	h.classes = 0
	for i := range in.classes {
		c := &in.classes[i]
		c.held = slices.DeleteFunc(c.held, func(other *holding) bool { return other == h })
		c.queue = slices.DeleteFunc(c.queue, func(w *waiter) bool { return w.holding == h })
		in.grantLocked(i)
	}
}
