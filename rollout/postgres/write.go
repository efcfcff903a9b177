package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"appserver/rollout/fleet"
)

// maxRepeats is the number of times that a write in doubt is repeated, if repeating it is harmless.
const maxRepeats = 3

// errLocalOnly reports that the server stopped waiting for a standby, for example because an
// administrator cancelled the query. The commit is on the primary only.
var errLocalOnly = errors.New("the server did not wait for its standby")

// result is the result of a write.
type result[T any] struct {
	value T
	err   error
}

// operation uses a connection that writes.
type operation[T any] func(ctx context.Context, c *pgx.Conn) (T, error)

// lane is a kind of writes: their connections and their time limit.
type lane struct {
	db    *DB
	pool  *pgxpool.Pool
	limit time.Duration
}

// slowdown is the time limit of a write of a whole thread, in multiples of Options.Limit.
const slowdown = 20

// renewalPart is the part of the time to live of a lease after which its renewal is abandoned. The next one
// needs the connection, and may find another server.
const renewalPart = 3

// renewals returns the writes of leases. They have a connection of their own, so that no other write
// delays them.
func (db *DB) renewals() lane {
	return lane{db, db.leases, min(db.options.limit(), db.options.lease()/renewalPart)}
}

// short returns the writes of a few rows, and whole those of a whole thread.
func (db *DB) short() lane { return lane{db, db.writes, db.options.limit()} }
func (db *DB) whole() lane { return lane{db, db.writes, slowdown * db.options.limit()} }

// laneFor returns the lane of a write of a size in bytes.
func (db *DB) laneFor(size int64) lane {
	if size > maxBatchBytes {
		return db.whole()
	}
	return db.short()
}

// write runs do with a connection of a lane. It runs to its end, at most for the limit, even if ctx
// ends: the error is then fleet.ErrInDoubt.
func write[T any](ctx context.Context, l lane, do operation[T]) (T, error) {
	var none T
	db := l.db
	if err := db.begin(); err != nil {
		return none, err
	}
	c, err := l.pool.Acquire(ctx)
	if err != nil {
		db.running.Done()
		return none, db.explainAcquire(err)
	}
	done := make(chan result[T], 1)
	go func() {
		defer db.running.Done()
		done <- finish(l, c, do)
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return none, errors.Join(fleet.ErrInDoubt, ctx.Err())
	}
}

// begin counts a running write, unless the database is closed.
func (db *DB) begin() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.isClosed {
		return fleet.ErrClosed
	}
	db.running.Add(1)
	return nil
}

func finish[T any](l lane, c *pgxpool.Conn, do operation[T]) (r result[T]) {
	ctx, cancel := context.WithTimeout(l.db.lifetime, l.limit)
	defer cancel()
	defer c.Release()
	r.value, r.err = do(ctx, c.Conn())
	r.err = outcome(c.Conn(), r.err)
	if c.Conn().IsClosed() { // the library keeps the socket, and its place in the pool, for up to 15 s
		_ = c.Conn().PgConn().Conn().Close()
	}
	l.db.counts.write(r.err)
	return r
}

// outcome adds fleet.ErrInDoubt to the error of a write, unless the server has rejected the write. The
// connection is open after a rejection, and closed after a lost answer. pgconn.SafeToRetry is not used: it
// can be true for a commit whose answer is lost.
func outcome(c *pgx.Conn, err error) error {
	isLocalOnly := linkOf(c).isLocalOnly.Swap(false)
	switch {
	case err == nil && isLocalOnly:
		return errors.Join(fleet.ErrInDoubt, errLocalOnly)
	case err == nil, !c.IsClosed():
		return err
	}
	return errors.Join(fleet.ErrInDoubt, err)
}

// repeat calls do again while it is in doubt. do must have the same effect if it is repeated. If a
// repeat fails, the first attempt stays in doubt.
func repeat[T any](ctx context.Context, do func(isRepeated bool) (T, error)) (value T, err error) {
	var doubt error
	for n := range maxRepeats {
		value, err = do(n > 0)
		if !errors.Is(err, fleet.ErrInDoubt) {
			break
		}
		if doubt = err; ctx.Err() != nil {
			return value, err
		}
	}
	if err != nil && doubt != nil && !errors.Is(err, fleet.ErrInDoubt) {
		err = errors.Join(err, doubt)
	}
	return value, err
}

// explainAcquire converts an error of a pool.
func (db *DB) explainAcquire(err error) error {
	var failed *pgconn.ConnectError
	if errors.As(err, &failed) {
		return db.options.explainConnect(db.config, err)
	}
	return err
}
