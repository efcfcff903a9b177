package postgres

import (
	"bytes"
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"appserver/rollout/fleet"
)

// Limits of the changed lines in memory during a rewrite.
const (
	rewriteBytes = 8 << 20
	rewriteLines = 64
)

const (
	bumpSQL = "UPDATE thread SET epoch = epoch + 1, generation = generation + 1 WHERE " + isOwner +
		" RETURNING epoch, next, generation"

	measureSQL = `UPDATE thread SET bytes = (SELECT coalesce(sum(octet_length(data)), 0) FROM line WHERE thread = $1)
		WHERE id = $1`

	replaceSQL = `UPDATE line SET data = n.data FROM unnest($2::bigint[], $3::bytea[]) AS n (ordinal, data)
		WHERE line.thread = $1 AND line.ordinal = n.ordinal`
)

// Rewrite implements fleet.Driver.
func (db *DB) Rewrite(
	ctx context.Context, o fleet.Own, h *fleet.Head, line func(ordinal int64, raw []byte) []byte,
) (fleet.Own, error) {
	key, ok := parseID(o.ID)
	if !ok {
		return fleet.Own{}, fleet.ErrNotFound
	}
	return write(ctx, db.whole(), func(ctx context.Context, c *pgx.Conn) (fleet.Own, error) {
		own := o
		err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			w := rewriter{tx: tx, key: key, line: line}
			return w.run(ctx, &own, h)
		})
		return own, err
	})
}

// rewriter replaces lines of a thread in a transaction.
type rewriter struct {
	tx   pgx.Tx
	key  pgtype.UUID
	line func(ordinal int64, raw []byte) []byte
	// ordinals and data are replacements that are not written yet; size is their length.
	ordinals []int64
	data     [][]byte
	size     int
}

func (w *rewriter) run(ctx context.Context, own *fleet.Own, h *fleet.Head) error {
	if _, err := lockThread(ctx, w.tx, w.key, *own); err != nil {
		return err
	}
	err := w.tx.QueryRow(ctx, bumpSQL, fence(w.key, *own)...).Scan(&own.Epoch, &own.Next, &own.Generation)
	if err != nil {
		return err
	}
	if err := w.clearMessages(ctx); err != nil {
		return err
	}
	for next := int64(0); next < own.Next; {
		var err error
		if next, err = w.replacePage(ctx, next, own.Next); err != nil {
			return err
		}
	}
	if _, err := w.tx.Exec(ctx, measureSQL, w.key); err != nil || h == nil {
		return err
	}
	return updateHead(ctx, w.tx, w.key, *h)
}

// clearMessages locks the messages of the thread and removes them.
func (w *rewriter) clearMessages(ctx context.Context) error {
	if _, err := w.tx.Exec(ctx, "UPDATE indexed SET next = 0 WHERE thread = $1", w.key); err != nil {
		return err
	}
	_, err := w.tx.Exec(ctx, "DELETE FROM message WHERE thread = $1", w.key)
	return err
}

// replacePage replaces lines from an ordinal on, and returns the ordinal after them.
func (w *rewriter) replacePage(ctx context.Context, from, end int64) (int64, error) {
	r := lineReader{next: from, line: func(ordinal int64, raw []byte) bool {
		if changed := w.line(ordinal, raw); changed != nil {
			w.ordinals = append(w.ordinals, ordinal)
			w.data = append(w.data, bytes.Clone(changed))
			w.size += len(changed)
		}
		return w.size < rewriteBytes
	}}
	if err := r.readPage(ctx, w.tx, w.key, min(from+rewriteLines, end)); err != nil {
		return from, err
	}
	if r.next == from {
		return from, r.gap(from)
	}
	if len(w.ordinals) > 0 {
		if _, err := w.tx.Exec(ctx, replaceSQL, w.key, w.ordinals, w.data); err != nil {
			return from, err
		}
	}
	w.ordinals, w.data, w.size = nil, nil, 0
	return r.next, nil
}

const (
	updateHeadSQL = `UPDATE head SET listed = $2, updated = $3, running = $4, provider = $5, cwd = $6, source = $7,
		parent = $8, body = $9 WHERE id = $1`
	updateTitleSQL = "UPDATE title SET folded = $2 WHERE thread = $1 AND kind = 0"
)

func updateHead(ctx context.Context, tx pgx.Tx, key pgtype.UUID, h fleet.Head) error {
	row, err := encodeHead(h)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, updateHeadSQL, key, row.listed, row.updated, row.running, row.provider, row.cwd, row.source,
		row.parent, row.body)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, updateTitleSQL, key, row.folded)
	return err
}
