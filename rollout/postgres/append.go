package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// appendSQL appends the lines of many threads. Arguments: the threads with their fence, the first
// ordinal, the number of lines and their size ($1 to $7); the lines ($8 to $10). A thread whose fence or next
// ordinal differs is left out of own, so nothing of it is written. shown are the heads.
const (
	appendSQL = `WITH want AS (
		SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[],
				$7::bigint[])
			AS w (id, node, incarnation, epoch, first, lines, bytes)
	), own AS (
		UPDATE thread AS t SET next = t.next + w.lines, bytes = t.bytes + w.bytes FROM want AS w
		WHERE t.id = w.id AND t.node = w.node AND t.incarnation = w.incarnation AND t.epoch = w.epoch
			AND t.next = w.first
		RETURNING t.id
	), added AS (
		INSERT INTO line (thread, ordinal, data)
		SELECT l.thread, l.ordinal, l.data FROM unnest($8::uuid[], $9::bigint[], $10::bytea[]) AS l (thread, ordinal, data)
		WHERE l.thread IN (SELECT id FROM own)
	)`

	headsSQL = `, shown AS (
		SELECT * FROM unnest($11::uuid[], $12::boolean[], $13::bigint[], $14::boolean[], $15::text[], $16::text[],
			$17::text[], $18::text[], $19::bytea[], $20::text[])
			AS s (id, listed, updated, running, provider, cwd, source, parent, body, folded)
		WHERE s.id IN (SELECT id FROM own)
	), headed AS (
		UPDATE head AS h SET listed = s.listed, updated = s.updated, running = s.running, provider = s.provider,
			cwd = s.cwd, source = s.source, parent = s.parent, body = s.body
		FROM shown AS s WHERE h.id = s.id
	), titled AS (
		UPDATE title AS t SET folded = s.folded FROM shown AS s
		WHERE t.thread = s.id AND t.kind = 0 AND t.folded <> s.folded
	)`

	resultsSQL = `
	SELECT w.id, own.id IS NOT NULL, t.id IS NOT NULL,
		coalesce(t.node = w.node AND t.incarnation = w.incarnation AND t.epoch = w.epoch, false), coalesce(t.next, 0)
	FROM want AS w LEFT JOIN own ON own.id = w.id LEFT JOIN thread AS t ON t.id = w.id`
)

// appended is the result of an append. The members after isDone describe the thread before the
// statement.
type appended struct {
	isDone, exists, isOwner bool
	next                    int64
}

// appendBatch sends appends of different threads as one statement. The results have the order of
// the batch.
func appendBatch(ctx context.Context, q querier, batch []*pending) ([]appended, error) {
	sql := appendSQL + resultsSQL
	args := lineArgs(batch)
	if heads := headArgs(batch); heads != nil {
		sql = appendSQL + headsSQL + resultsSQL
		args = append(args, heads...)
	}
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	found := make(map[pgtype.UUID]appended, len(batch))
	var key pgtype.UUID
	var a appended
	_, err = pgx.ForEachRow(rows, []any{&key, &a.isDone, &a.exists, &a.isOwner, &a.next}, func() error {
		found[key] = a
		return nil
	})
	results := make([]appended, len(batch))
	for i, p := range batch {
		results[i] = found[p.key]
	}
	return results, err
}

func lineArgs(batch []*pending) []any {
	var ids, threads []pgtype.UUID
	var nodes, incarnations []string
	var epochs, firsts, counts, sizes, ordinals []int64
	var data [][]byte
	for _, p := range batch {
		ids = append(ids, p.key)
		nodes = append(nodes, p.own.Node)
		incarnations = append(incarnations, p.own.Incarnation)
		epochs = append(epochs, p.own.Epoch)
		firsts = append(firsts, p.first)
		counts = append(counts, int64(len(p.lines)))
		sizes = append(sizes, sizeOf(p.lines))
		for i, l := range p.lines {
			threads = append(threads, p.key)
			ordinals = append(ordinals, p.first+int64(i))
			data = append(data, notNull(l))
		}
	}
	return []any{ids, nodes, incarnations, epochs, firsts, counts, sizes, threads, ordinals, data}
}

// sizeOf returns the size of lines in bytes.
func sizeOf(lines [][]byte) (size int64) {
	for _, l := range lines {
		size += int64(len(l))
	}
	return size
}

// notNull returns an empty line for nil, which would be NULL.
func notNull(line []byte) []byte {
	if line == nil {
		return []byte{}
	}
	return line
}

// headArgs returns the arguments of headsSQL, or nil if the batch has no heads.
func headArgs(batch []*pending) []any {
	var ids []pgtype.UUID
	var listed, running []bool
	var updated []int64
	var providers, cwds, sources, folded []string
	var parents []*string
	var bodies [][]byte
	for _, p := range batch {
		if h := p.head; h != nil {
			ids = append(ids, p.key)
			listed = append(listed, h.listed)
			updated = append(updated, h.updated)
			running = append(running, h.running)
			providers = append(providers, h.provider)
			cwds = append(cwds, h.cwd)
			sources = append(sources, h.source)
			parents = append(parents, h.parent)
			bodies = append(bodies, h.body)
			folded = append(folded, h.folded)
		}
	}
	if ids == nil {
		return nil
	}
	return []any{ids, listed, updated, running, providers, cwds, sources, parents, bodies, folded}
}
