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
func (db *DB) Create(ctx context.Context, id string, n fleet.Node, c fleet.Content) (fleet.Own, error) {
	key, ok := parseID(id)
	if !ok {
		return fleet.Own{}, fmt.Errorf("thread id %q is not a UUID", id)
	}
	lent := &loan{content: c}
	defer lent.end()
	insert := func(ctx context.Context, conn *pgx.Conn) (fleet.Own, error) {
		created := creation{key: key, own: fleet.Own{ID: id, Node: n.ID, Incarnation: n.Incarnation}}
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return created.run(ctx, tx, lent) })
		return created.own, err
	}
	defer lent.passPanic()
	return repeat(ctx, func(isRepeated bool) (fleet.Own, error) {
		own, err := write(ctx, db.laneFor(c.Size), insert)
		if isRepeated && errors.Is(err, fleet.ErrExists) {
			// The first attempt has created it: no other process creates a thread with this id.
			return db.Take(ctx, id, n)
		}
		return own, err
	})
}

// creation stores a new thread in a transaction.
type creation struct {
	key pgtype.UUID
	own fleet.Own
	// bytes is the size of the lines.
	bytes int64
}

// run stores the lines before the thread, whose row has their number and size. One line is in memory.
func (c *creation) run(ctx context.Context, tx pgx.Tx, from *loan) error {
	next := from.lines()
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"line"}, []string{"thread", "ordinal", "data"},
		pgx.CopyFromFunc(func() ([]any, error) {
			line, err := next()
			if line == nil || err != nil {
				return nil, err
			}
			ordinal := c.own.Next
			c.own.Next, c.bytes = ordinal+1, c.bytes+int64(len(line))
			return []any{c.key, ordinal, line}, nil
		}))
	if contentErr := from.endLines(); contentErr != nil {
		return contentErr // err quotes it only
	}
	if err == nil {
		err = c.addRows(ctx, tx, from)
	}
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fleet.ErrNotJoined
	case codeOf(err) == codeUniqueViolation:
		return fleet.ErrExists
	}
	return err
}

// addRows adds the rows of the thread in all tables but that of the lines.
func (c *creation) addRows(ctx context.Context, tx pgx.Tx, from *loan) error {
	h, err := from.head()
	if err != nil {
		return err
	}
	row, err := encodeHead(h)
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	batch.Queue(insertThreadSQL, c.key, c.own.Node, c.own.Incarnation, c.own.Next, c.bytes).
		QueryRow(func(r pgx.Row) error { return r.Scan(&c.own.Epoch) })
	batch.Queue(insertHeadSQL, c.key, h.Archived, row.listed, row.created, row.updated,
		row.running, row.provider, row.cwd, row.source, row.parent, clean(h.Name), row.body)
	batch.Queue("INSERT INTO title (thread, kind, folded) VALUES ($1, 0, $2), ($1, 1, $3)", c.key, row.folded, fold(h.Name))
	batch.Queue("INSERT INTO indexed (thread, next) VALUES ($1, 0)", c.key)
	return tx.SendBatch(ctx, batch).Close()
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
