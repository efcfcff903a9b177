package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"appserver/rollout/fleet"
)

// pageLines is the number of lines of one query. Lines are passed on as they arrive, so memory
// holds one of them. With both ends of the range, every plan of the server reads these lines only. With
// ORDER BY and LIMIT, a server without statistics may read and sort all later lines for each page.
const pageLines = 1000

const readSQL = "SELECT ordinal, data FROM line WHERE thread = $1 AND ordinal >= $2 AND ordinal < $3 ORDER BY ordinal"

// Read implements fleet.Driver.
func (db *DB) Read(
	ctx context.Context, id string, from int64, line func(ordinal int64, raw []byte) bool,
) (next int64, err error) {
	key, ok := parseID(id)
	if !ok {
		return 0, fleet.ErrNotFound
	}
	var end int64
	err = db.reads.QueryRow(ctx, "SELECT next FROM thread WHERE id = $1", key).Scan(&end)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, fleet.ErrNotFound
	}
	if err != nil {
		return 0, db.explainAcquire(err)
	}
	r := lineReader{next: from, line: line}
	for r.next < end && !r.isStopped {
		before := r.next
		if err := r.readPage(ctx, db.reads, key, min(r.next+pageLines, end)); err != nil {
			return r.next, err
		}
		if r.next == before {
			return r.next, r.gap(r.next)
		}
	}
	return r.next, nil
}

// lineReader passes lines on.
type lineReader struct {
	next      int64
	isStopped bool
	line      func(ordinal int64, raw []byte) bool
}

// readPage passes on the lines before end.
func (r *lineReader) readPage(ctx context.Context, q querier, key pgtype.UUID, end int64) error {
	rows, err := q.Query(ctx, readSQL, key, r.next, end)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var ordinal int64
		var raw pgtype.DriverBytes
		if err := rows.Scan(&ordinal, &raw); err != nil {
			return err
		}
		if ordinal != r.next {
			return r.gap(ordinal)
		}
		r.next++
		if !r.line(ordinal, raw) {
			r.isStopped = true
			return nil
		}
	}
	return rows.Err()
}

// gap reports a missing line. Only damage of the database, or a delete at the same time, leads to it.
func (r *lineReader) gap(found int64) error {
	return fmt.Errorf("line %d of the thread is missing in the database; line %d follows", r.next, found)
}
