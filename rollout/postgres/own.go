package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"appserver/rollout/fleet"
)

// parseID returns a thread id, or false if it is not in its canonical form.
func parseID(id string) (u pgtype.UUID, ok bool) {
	err := u.Scan(id)
	return u, err == nil && u.String() == id
}

// takeSQL makes a node ($2, incarnation $3) the owner of thread $1. It returns no row if the node
// has no lease, the owner has one, or the thread does not exist.
const takeSQL = `UPDATE thread AS t SET epoch = epoch + 1, node = $2, incarnation = $3
	WHERE id = $1
		AND (t.node IS NULL OR (t.node = $2 AND t.incarnation = $3) OR NOT EXISTS (
			SELECT FROM node AS n WHERE n.id = t.node AND n.incarnation = t.incarnation
				AND n.expires_at > clock_timestamp()))
		AND EXISTS (SELECT FROM node AS n WHERE n.id = $2 AND n.incarnation = $3 AND n.expires_at > clock_timestamp())
	RETURNING epoch, next, generation`

// refusalSQL returns why takeSQL returned no row.
const refusalSQL = `SELECT
	EXISTS (SELECT FROM node WHERE id = $2 AND incarnation = $3 AND expires_at > clock_timestamp()),
	EXISTS (SELECT FROM thread WHERE id = $1), n.id, n.address
	FROM (SELECT 1) AS one LEFT JOIN (thread AS t JOIN node AS n ON n.id = t.node AND n.incarnation = t.incarnation
		AND n.expires_at > clock_timestamp()) ON t.id = $1`

// maxTakes limits how often a Take is tried while the owner changes.
const maxTakes = 5

var errUnsettled = errors.New("the owner of the thread keeps changing: try again")

// Take implements fleet.Driver.
func (db *DB) Take(ctx context.Context, id string, n fleet.Node) (fleet.Own, error) {
	key, ok := parseID(id)
	if !ok {
		return fleet.Own{}, fleet.ErrNotFound
	}
	return repeat(ctx, func(bool) (fleet.Own, error) {
		return write(ctx, db.short(), func(ctx context.Context, c *pgx.Conn) (fleet.Own, error) {
			return take(ctx, c, key, n)
		})
	})
}

func take(ctx context.Context, c *pgx.Conn, key pgtype.UUID, n fleet.Node) (fleet.Own, error) {
	own := fleet.Own{ID: key.String(), Node: n.ID, Incarnation: n.Incarnation}
	for range maxTakes {
		err := c.QueryRow(ctx, takeSQL, key, n.ID, n.Incarnation).Scan(&own.Epoch, &own.Next, &own.Generation)
		if !errors.Is(err, pgx.ErrNoRows) {
			return own, err
		}
		if err := refusal(ctx, c, key, n); err != nil {
			return fleet.Own{}, err
		}
	}
	return fleet.Own{}, errUnsettled
}

// refusal returns why a Take changed nothing, or nil if the cause is gone.
func refusal(ctx context.Context, c *pgx.Conn, key pgtype.UUID, n fleet.Node) error {
	var hasLease, exists bool
	var owner, address *string
	err := c.QueryRow(ctx, refusalSQL, key, n.ID, n.Incarnation).Scan(&hasLease, &exists, &owner, &address)
	switch {
	case err != nil:
		return err
	case !exists:
		return fleet.ErrNotFound
	case !hasLease:
		return fleet.ErrNotJoined
	case owner != nil && *owner != n.ID:
		return &fleet.OwnedError{ID: key.String(), Node: *owner, Address: *address}
	}
	return nil
}

// isOwner is the condition that the arguments $1 to $4 of fence name the owner of the thread.
const isOwner = "id = $1 AND node = $2 AND incarnation = $3 AND epoch = $4"

// fence returns the arguments of isOwner, before others.
func fence(key pgtype.UUID, o fleet.Own, more ...any) []any {
	return append([]any{key, o.Node, o.Incarnation, o.Epoch}, more...)
}

const releaseSQL = "UPDATE thread SET node = NULL, incarnation = NULL WHERE " + isOwner

// Release implements fleet.Driver.
func (db *DB) Release(ctx context.Context, o fleet.Own) error {
	return db.fenced(ctx, db.short(), o, true, func(ctx context.Context, tx pgx.Tx, key pgtype.UUID) error {
		_, err := tx.Exec(ctx, releaseSQL, fence(key, o)...)
		return err
	})
}

// Move implements fleet.Driver.
func (db *DB) Move(ctx context.Context, o fleet.Own, archived bool) error {
	return db.fenced(ctx, db.short(), o, false, func(ctx context.Context, tx pgx.Tx, key pgtype.UUID) error {
		_, err := tx.Exec(ctx, "UPDATE head SET archived = $2 WHERE id = $1", key, archived)
		return err
	})
}

// deleteSQL removes a thread. The row of indexed is removed before the messages, because it is
// their lock.
func deleteSQL() []string {
	return []string{
		"DELETE FROM thread WHERE id = $1", "DELETE FROM indexed WHERE thread = $1",
		"DELETE FROM message WHERE thread = $1", "DELETE FROM title WHERE thread = $1",
		"DELETE FROM head WHERE id = $1", "DELETE FROM line WHERE thread = $1",
	}
}

// Delete implements fleet.Driver.
func (db *DB) Delete(ctx context.Context, o fleet.Own) error {
	return db.fenced(ctx, db.whole(), o, true, func(ctx context.Context, tx pgx.Tx, key pgtype.UUID) error {
		for _, sql := range deleteSQL() {
			if _, err := tx.Exec(ctx, sql, key); err != nil {
				return err
			}
		}
		return nil
	})
}

// lockSQL locks the row of a thread. It writes, so that the commit is synchronous.
const lockSQL = "UPDATE thread SET next = next WHERE " + isOwner + " RETURNING next"

// fenced runs do in a transaction of the owner. isLast is set if do ends the ownership: a repeated
// write that finds it ended has had its effect.
func (db *DB) fenced(ctx context.Context, l lane, o fleet.Own, isLast bool,
	do func(ctx context.Context, tx pgx.Tx, key pgtype.UUID) error) error {
	key, ok := parseID(o.ID)
	if !ok {
		return fleet.ErrNotFound
	}
	_, err := repeat(ctx, func(isRepeated bool) (none, error) {
		return write(ctx, l, func(ctx context.Context, c *pgx.Conn) (none, error) {
			err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
				if _, err := lockThread(ctx, tx, key, o); err != nil {
					return err
				}
				return do(ctx, tx, key)
			})
			if isLast && isRepeated && (errors.Is(err, fleet.ErrFenced) || errors.Is(err, fleet.ErrNotFound)) {
				err = nil
			}
			return none{}, err
		})
	})
	return err
}

// lockThread locks a thread for its owner, and returns its next ordinal.
func lockThread(ctx context.Context, tx pgx.Tx, key pgtype.UUID, o fleet.Own) (next int64, err error) {
	err = tx.QueryRow(ctx, lockSQL, fence(key, o)...).Scan(&next)
	if !errors.Is(err, pgx.ErrNoRows) {
		return next, err
	}
	var exists bool
	if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM thread WHERE id = $1)", key).Scan(&exists); err != nil {
		return 0, err
	}
	if !exists {
		return 0, fleet.ErrNotFound
	}
	return 0, fleet.ErrFenced
}
