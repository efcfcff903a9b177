package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"appserver/rollout/fleet"
)

const insertThreadSQL = `INSERT INTO thread (id, epoch, next, node, incarnation, bytes)
	SELECT $1, 1, $4, $2, $3, $5 WHERE EXISTS (
		SELECT FROM node WHERE id = $2 AND incarnation = $3 AND expires_at > clock_timestamp())
	RETURNING epoch`

const insertHeadSQL = `INSERT INTO head (id, archived, listed, created, updated, running, provider, cwd,
		source, parent, name, body)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`

// Create implements fleet.Driver.
func (db *DB) Create(
	ctx context.Context, id string, n fleet.Node, h fleet.Head, lines [][]byte,
) (fleet.Own, error) {
	key, ok := parseID(id)
	if !ok {
		return fleet.Own{}, fmt.Errorf("thread id %q is not a UUID", id)
	}
	row, err := encodeHead(h)
	if err != nil {
		return fleet.Own{}, err
	}
	insert := func(ctx context.Context, c *pgx.Conn) (fleet.Own, error) {
		own := fleet.Own{ID: id, Node: n.ID, Incarnation: n.Incarnation, Next: int64(len(lines))}
		err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			return create(ctx, tx, key, &own, h, row, lines)
		})
		return own, err
	}
	return repeat(ctx, func(isRepeated bool) (fleet.Own, error) {
		own, err := write(ctx, db.laneFor(lines), insert)
		if isRepeated && errors.Is(err, fleet.ErrExists) {
			// The first attempt has created it: no other process creates a thread with this id.
			return db.Take(ctx, id, n)
		}
		return own, err
	})
}

func create(
	ctx context.Context, tx pgx.Tx, key pgtype.UUID, own *fleet.Own, h fleet.Head, row headRow, lines [][]byte,
) error {
	err := tx.QueryRow(ctx, insertThreadSQL, key, own.Node, own.Incarnation, own.Next,
		sizeOf(lines)).Scan(&own.Epoch)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fleet.ErrNotJoined
	case codeOf(err) == codeUniqueViolation:
		return fleet.ErrExists
	case err != nil:
		return err
	}
	batch := &pgx.Batch{}
	batch.Queue(insertHeadSQL, key, h.Archived, row.listed, row.created, row.updated,
		row.running, row.provider, row.cwd, row.source, row.parent, clean(h.Name), row.body)
	batch.Queue("INSERT INTO title (thread, kind, folded) VALUES ($1, 0, $2), ($1, 1, $3)", key, row.folded, fold(h.Name))
	batch.Queue("INSERT INTO indexed (thread, next) VALUES ($1, 0)", key)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"line"}, []string{"thread", "ordinal", "data"},
		pgx.CopyFromSlice(len(lines), func(i int) ([]any, error) {
			return []any{key, int64(i), lines[i]}, nil
		}))
	return err
}

// Rename implements fleet.Driver.
func (db *DB) Rename(ctx context.Context, id, name string) error {
	key, ok := parseID(id)
	if !ok {
		return fleet.ErrNotFound
	}
	_, err := repeat(ctx, func(bool) (none, error) {
		return write(ctx, db.short(), func(ctx context.Context, c *pgx.Conn) (none, error) {
			return none{}, pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error { return rename(ctx, tx, key, name) })
		})
	})
	return err
}

func rename(ctx context.Context, tx pgx.Tx, key pgtype.UUID, name string) error {
	tag, err := tx.Exec(ctx, "UPDATE head SET name = $2 WHERE id = $1", key, clean(name))
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return fleet.ErrNotFound
	}
	_, err = tx.Exec(ctx, "UPDATE title SET folded = $2 WHERE thread = $1 AND kind = 1", key, fold(name))
	return err
}
