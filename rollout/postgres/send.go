package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"appserver/rollout/fleet"
)

// Pause between attempts to connect.
const (
	minPause = 20 * time.Millisecond
	maxPause = time.Second
)

// sender sends batches of appends with one connection.
type sender struct {
	db       *DB
	gatherer *gatherer
	// conn is nil until the first batch, and after it was lost.
	conn *pgx.Conn
}

// run sends batches until the gatherer is closed.
func (s *sender) run() {
	for batch := s.gatherer.next(); batch != nil; batch = s.gatherer.next() {
		s.send(batch)
	}
	s.disconnect()
}

func (s *sender) disconnect() {
	if s.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxPause)
	defer cancel()
	_ = s.conn.Close(ctx)
	s.conn = nil
}

// send sends a batch and finishes all of its appends.
func (s *sender) send(batch []*pending) {
	err := s.connect()
	if err != nil {
		s.finishAll(batch, err)
		return
	}
	if batch = s.gatherer.begin(batch); len(batch) == 0 {
		return
	}
	results, err := s.exec(batch)
	switch {
	case err == nil:
		for i, p := range batch {
			s.settle(p, results[i])
		}
	case errors.Is(err, fleet.ErrInDoubt):
		s.resolveAll(batch, err)
	case len(batch) == 1:
		s.gatherer.finish(batch[0], err)
	default: // the server has refused the statement; one append may be the cause
		for _, p := range batch {
			s.send([]*pending{p})
		}
	}
}

func (s *sender) finishAll(batch []*pending, err error) {
	for _, p := range batch {
		s.gatherer.finish(p, err)
	}
}

// exec sends a batch as one statement, which is one transaction.
func (s *sender) exec(batch []*pending) ([]appended, error) {
	ctx, cancel := context.WithTimeout(s.db.lifetime, s.db.options.limit())
	defer cancel()
	results, err := appendBatch(ctx, s.conn, batch)
	return results, s.lose(outcome(s.conn, err))
}

// lose drops the connection if an error has closed it.
func (s *sender) lose(err error) error {
	if s.conn.IsClosed() {
		s.conn = nil
	}
	return err
}

// connect makes the connection, unless there is one. It tries until Options.Limit has passed, so
// that a failover does not fail appends.
func (s *sender) connect() error {
	if s.conn != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(s.db.lifetime, s.db.options.limit())
	defer cancel()
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		var err error
		if s.conn, err = s.db.connect(ctx, appendParams()); err == nil {
			return nil
		}
		s.conn = nil
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// settle finishes an append with the result of its statement.
func (s *sender) settle(p *pending, r appended) {
	n := int64(len(p.lines))
	switch {
	case r.isDone:
		s.gatherer.finish(p, nil)
	case !r.exists:
		s.gatherer.finish(p, fleet.ErrNotFound)
	case !r.isOwner:
		s.gatherer.finish(p, fleet.ErrFenced)
	case r.next == p.first, n > 0 && r.next >= p.first+n:
		// Another transaction changed the thread at the same time, or the lines may be there.
		s.resolve(p, nil)
	default:
		s.gatherer.finish(p, &fleet.OrderError{Next: r.next})
	}
}
