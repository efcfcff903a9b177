package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"appserver/rollout/fleet"
)

// Limits of appends. A batch is limited so that a long one does not delay all threads; an append
// above the limit is sent alone. The protocol limits a message of the server to 1 GiB.
const (
	maxBatchBytes   = 8 << 20
	maxBatchAppends = 1000
	maxAppendBytes  = 512 << 20
)

// pending is an append.
type pending struct {
	own   fleet.Own
	key   pgtype.UUID
	first int64
	lines [][]byte
	head  *headRow
	size  int
	begun time.Time
	// done gets the result.
	done chan error
	// isTaken is set once a batch includes the append, and isSent before the batch is sent. isWithdrawn is
	// set if the caller stopped waiting before that. The gatherer's mutex protects them.
	isTaken, isSent, isWithdrawn bool
}

// gatherer collects the appends that arrive while earlier ones are in flight. Each of its senders
// has one connection. At most one append of a thread is in flight, so appends of a thread keep
// their order.
type gatherer struct {
	senders sync.WaitGroup
	mu      sync.Mutex
	wake    *sync.Cond
	// ready are the appends to send next, of different threads. later are further appends of
	// threads that have one in ready or in flight; a thread without further ones has nil.
	ready    []*pending
	later    map[pgtype.UUID][]*pending
	isClosed bool
	counts   *counters
}

func newGatherer(db *DB) *gatherer {
	g := &gatherer{later: map[pgtype.UUID][]*pending{}, counts: db.counts}
	g.wake = sync.NewCond(&g.mu)
	for range appendConns {
		s := &sender{db: db, gatherer: g}
		g.senders.Go(s.run)
	}
	return g
}

// Append implements fleet.Driver.
func (db *DB) Append(ctx context.Context, o fleet.Own, first int64, lines [][]byte, h *fleet.Head) error {
	p, err := newPending(o, first, lines, h)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if !db.appends.add(p) {
		return fleet.ErrClosed
	}
	select {
	case err := <-p.done:
		return err
	case <-ctx.Done():
		if db.appends.withdraw(p) {
			return ctx.Err()
		}
		return errors.Join(fleet.ErrInDoubt, ctx.Err())
	}
}

func newPending(o fleet.Own, first int64, lines [][]byte, h *fleet.Head) (*pending, error) {
	p := &pending{own: o, first: first, lines: lines, begun: time.Now(), done: make(chan error, 1)}
	var ok bool
	if p.key, ok = parseID(o.ID); !ok {
		return nil, fleet.ErrNotFound
	}
	p.size = int(sizeOf(lines))
	if p.size > maxAppendBytes {
		return nil, fleet.ErrTooLarge
	}
	if h != nil {
		row, err := encodeHead(*h)
		if err != nil {
			return nil, err
		}
		p.head = &row
		p.size += len(row.body) + len(row.folded)
	}
	return p, nil
}

// add queues an append, or returns false after close.
func (g *gatherer) add(p *pending) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isClosed {
		return false
	}
	if later, isBusy := g.later[p.key]; isBusy {
		g.later[p.key] = append(later, p)
		return true
	}
	g.readyLocked(p)
	return true
}

func (g *gatherer) readyLocked(p *pending) {
	g.later[p.key] = slices.Clip(g.later[p.key])
	g.ready = append(g.ready, p)
	g.wake.Signal()
}

// next waits for appends and returns a batch, or nil after close.
func (g *gatherer) next() []*pending {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.ready) == 0 {
		if g.isClosed {
			return nil
		}
		g.wake.Wait()
	}
	n, size := 0, 0
	for n < len(g.ready) && n < maxBatchAppends && (n == 0 || size+g.ready[n].size <= maxBatchBytes) {
		size += g.ready[n].size
		g.ready[n].isTaken = true
		n++
	}
	batch := slices.Clone(g.ready[:n])
	g.counts.batches.add(int64(n))
	g.ready = slices.Delete(g.ready, 0, n)
	if len(g.ready) > 0 {
		g.wake.Signal()
	}
	return batch
}

// begin records that a batch is sent. It returns the batch without the appends that were withdrawn.
func (g *gatherer) begin(batch []*pending) []*pending {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.DeleteFunc(batch, func(p *pending) bool {
		p.isSent = !p.isWithdrawn
		if p.isWithdrawn {
			g.advanceLocked(p.key)
		}
		return p.isWithdrawn
	})
}

// finish passes on the result of an append.
func (g *gatherer) finish(p *pending, err error) {
	g.counts.append(p, err)
	p.done <- err
	g.mu.Lock()
	defer g.mu.Unlock()
	g.advanceLocked(p.key)
}

// advanceLocked makes the next append of a thread ready.
func (g *gatherer) advanceLocked(key pgtype.UUID) {
	later := g.later[key]
	if len(later) == 0 {
		delete(g.later, key)
		return
	}
	g.later[key] = later[1:]
	g.readyLocked(later[0])
}

// withdraw removes an append that was not sent. It returns false if it was.
func (g *gatherer) withdraw(p *pending) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.isTaken {
		p.isWithdrawn = !p.isSent
		return p.isWithdrawn
	}
	if i := slices.Index(g.ready, p); i >= 0 {
		g.ready = slices.Delete(g.ready, i, i+1)
		g.advanceLocked(p.key)
		return true
	}
	later := g.later[p.key]
	i := slices.Index(later, p)
	if i < 0 {
		return false
	}
	g.later[p.key] = slices.Delete(later, i, i+1)
	return true
}

// close fails the appends that were not sent, and waits for the others.
func (g *gatherer) close() {
	g.mu.Lock()
	g.isClosed = true
	unsent := g.ready
	for _, list := range g.later {
		unsent = append(unsent, list...)
	}
	g.ready, g.later = nil, map[pgtype.UUID][]*pending{}
	g.wake.Broadcast()
	g.mu.Unlock()
	for _, p := range unsent {
		p.done <- fleet.ErrClosed
	}
	g.senders.Wait()
}
