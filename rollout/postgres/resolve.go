package postgres

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/jackc/pgx/v5"

	"appserver/rollout/fleet"
)

// resolveAll resolves appends in doubt.
func (s *sender) resolveAll(batch []*pending, doubt error) {
	for _, p := range batch {
		s.resolve(p, doubt)
	}
}

// resolve repeats an append in a transaction of its own and finishes it. doubt is the error of the
// first attempt, or nil if that is known to have changed nothing.
func (s *sender) resolve(p *pending, doubt error) {
	ctx, cancel := context.WithTimeout(s.db.lifetime, s.db.options.limit())
	defer cancel()
	for {
		if err := s.connect(); err != nil {
			s.gatherer.finish(p, errors.Join(doubt, err))
			return
		}
		err := pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error { return appendAgain(ctx, tx, p) })
		err = s.lose(outcome(s.conn, err))
		switch {
		case errors.Is(err, fleet.ErrInDoubt):
			doubt = err
		case errors.Is(err, fleet.ErrFenced), errors.Is(err, fleet.ErrNotFound):
			s.gatherer.finish(p, errors.Join(err, doubt))
			return
		default:
			s.gatherer.finish(p, refused(err, doubt))
			return
		}
		if ctx.Err() != nil {
			s.gatherer.finish(p, errors.Join(doubt, err, ctx.Err()))
			return
		}
	}
}

// refused returns the result of a repeat that is not in doubt. If the server has refused it, the
// first attempt may still happen, unless its ordinals are not the next ones any more.
func refused(err, doubt error) error {
	var order *fleet.OrderError
	if err == nil || errors.As(err, &order) {
		return err
	}
	return errors.Join(err, doubt)
}

const sameSQL = `SELECT count(*) FROM line AS l JOIN unnest($2::bigint[], $3::bytea[]) AS x (ordinal, sum)
	ON l.ordinal = x.ordinal AND sha256(l.data) = x.sum WHERE l.thread = $1`

// appendAgain appends the lines, or compares them with the lines that are there. The lock waits for
// a transaction of the lost connection, and makes the commit synchronous in both cases.
func appendAgain(ctx context.Context, tx pgx.Tx, p *pending) error {
	next, err := lockThread(ctx, tx, p.key, p.own)
	if err != nil {
		return err
	}
	n := int64(len(p.lines))
	if next == p.first {
		_, err := appendBatch(ctx, tx, []*pending{p})
		return err
	}
	if n == 0 || next < p.first+n {
		return &fleet.OrderError{Next: next}
	}
	ordinals, sums := make([]int64, n), make([][]byte, n)
	for i, l := range p.lines {
		sum := sha256.Sum256(l)
		ordinals[i], sums[i] = p.first+int64(i), sum[:]
	}
	var same int64
	err = tx.QueryRow(ctx, sameSQL, p.key, ordinals, sums).Scan(&same)
	if err == nil && same != n {
		err = &fleet.OrderError{Next: next}
	}
	return err
}
