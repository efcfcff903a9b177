package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"appserver/rollout/fleet"
	"appserver/rollout/listing"
)

const findSQL = "SELECT " + headColumns + `, t.next, t.generation, t.bytes, coalesce(n.id, ''), coalesce(n.address, '')
	FROM thread AS t JOIN head AS h ON h.id = t.id LEFT JOIN node AS n
		ON n.id = t.node AND n.incarnation = t.incarnation AND n.expires_at > clock_timestamp()
	WHERE t.id = $1`

// Find implements fleet.Driver.
func (db *DB) Find(ctx context.Context, id string) (fleet.Place, error) {
	key, ok := parseID(id)
	if !ok {
		return fleet.Place{}, fleet.ErrNotFound
	}
	var p fleet.Place
	var s headScan
	err := db.reads.QueryRow(ctx, findSQL, key).Scan(s.targets(&p.Next, &p.Generation, &p.Bytes, &p.Owner, &p.Address)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return p, fleet.ErrNotFound
	}
	if err != nil {
		return p, db.explainAcquire(err)
	}
	p.Head, err = s.decode()
	return p, err
}

// interruptedSQL compares all leases with one time, so that each of them either has ended or ends next.
const interruptedSQL = `WITH present AS MATERIALIZED (SELECT clock_timestamp() AS at)
	SELECT ARRAY(SELECT h.id::text FROM head AS h JOIN thread AS t ON t.id = h.id
		WHERE h.running AND t.node IS NOT NULL AND NOT EXISTS (SELECT FROM node AS n
			WHERE n.id = t.node AND n.incarnation = t.incarnation AND n.expires_at > (SELECT at FROM present))
		ORDER BY h.id LIMIT $1),
	coalesce((SELECT ceil(extract(epoch FROM min(n.expires_at) - (SELECT at FROM present)) * 1e6)::bigint
		FROM node AS n WHERE n.expires_at > (SELECT at FROM present)), 0)`

// Interrupted implements fleet.Driver.
func (db *DB) Interrupted(ctx context.Context, limit int) (ids []string, next time.Duration, err error) {
	var micros int64
	err = db.reads.QueryRow(ctx, interruptedSQL, limit).Scan(&ids, &micros)
	return ids, time.Duration(micros) * time.Microsecond, db.explainAcquire(err)
}

const usageSQL = `SELECT count(*), coalesce(sum(t.bytes), 0)::bigint,
	coalesce(sum(t.bytes) FILTER (WHERE h.archived), 0)::bigint
	FROM thread AS t JOIN head AS h ON h.id = t.id`

// Usage implements fleet.Driver.
func (db *DB) Usage(ctx context.Context) (u fleet.Usage, err error) {
	err = db.reads.QueryRow(ctx, usageSQL).Scan(&u.Threads, &u.Bytes, &u.ArchivedBytes)
	return u, db.explainAcquire(err)
}

// List implements fleet.Driver.
func (db *DB) List(ctx context.Context, q listing.Query) (fleet.Page, error) {
	from, err := start(q)
	if err != nil {
		return fleet.Page{}, err
	}
	sql, args := listQuery(q, from)
	rows, err := db.reads.Query(ctx, sql, args...)
	if err != nil {
		return fleet.Page{}, db.explainAcquire(err)
	}
	heads, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (fleet.Head, error) {
		var s headScan
		if err := row.Scan(s.targets()...); err != nil {
			return fleet.Head{}, err
		}
		return s.decode()
	})
	return pageOf(heads, q), err
}

func listQuery(q listing.Query, from listing.Position) (string, []any) {
	c := filters(q)
	if q.Search != "" {
		c.and("h.id IN (SELECT thread FROM title WHERE folded LIKE " + c.arg(contains(q.Search)) + ")")
	}
	c.startAt(q, from, sortColumn(q.Key()))
	sql := c.sql("SELECT "+listColumns+" FROM head AS h", q)
	return sql, c.args
}

func pageOf(heads []fleet.Head, q listing.Query) (page fleet.Page) {
	if q.Limit > 0 && len(heads) > q.Limit {
		heads = heads[:q.Limit]
		page.NextCursor = heads[q.Limit-1].Position(q.Key(), 0).Cursor()
	}
	if len(heads) > 0 {
		page.BackCursor = heads[0].Position(q.Key(), 0).BackCursor()
	}
	page.Heads = heads
	return page
}

// start returns the position of a query's cursor.
func start(q listing.Query) (listing.Position, error) {
	from, err := q.Start()
	if err != nil {
		return from, err
	}
	if _, ok := parseID(from.Path); from.Path != "" && !ok {
		return from, &listing.CursorError{Cursor: q.Cursor}
	}
	return from, nil
}

func sortColumn(key listing.SortKey) string {
	if key == listing.SortUpdated {
		return "h.updated"
	}
	return "h.created"
}

// clauses builds the end of a SELECT statement.
type clauses struct {
	where []string
	order string
	args  []any
}

// arg adds an argument and returns its placeholder.
func (c *clauses) arg(value any) string {
	c.args = append(c.args, value)
	return fmt.Sprintf("$%d", len(c.args))
}

func (c *clauses) and(condition string) { c.where = append(c.where, condition) }

func (c *clauses) sql(selected string, q listing.Query) string {
	text := selected + " WHERE " + strings.Join(c.where, " AND ") + " ORDER BY " + c.order
	if q.Limit > 0 {
		text += " LIMIT " + c.arg(q.Limit+1)
	}
	return text
}

// startAt sets the order, by a column and the id, and the start position.
func (c *clauses) startAt(q listing.Query, from listing.Position, column string) {
	direction, compare := " DESC", "<"
	if q.Ascending {
		direction, compare = " ASC", ">"
	}
	if from.Inclusive {
		compare += "="
	}
	if from.Path != "" {
		c.and("(" + column + ", h.id) " + compare + " (" + c.arg(from.Updated) + "::bigint, " + c.arg(from.Path) + "::uuid)")
	}
	c.order = column + direction + ", h.id" + direction
}

// descendants selects the threads that descend from the one in the argument, in a statement.
const descendants = `(WITH RECURSIVE spawned (id) AS (SELECT id FROM head WHERE parent = %[1]s
	UNION SELECT n.id FROM head AS n JOIN spawned AS s ON n.parent = s.id::text) SELECT id FROM spawned)`

// filters returns the conditions of a query except for its search and its cursor. The arguments
// begin with first.
func filters(q listing.Query, first ...any) *clauses {
	c := &clauses{args: first}
	if !q.Unlisted {
		c.and("h.listed")
	}
	c.and(fmt.Sprintf("h.archived = %t", q.Archived)) // no argument, so that the plan uses the index
	if q.Parent != "" {
		c.and("h.parent = " + c.arg(clean(q.Parent)))
	}
	if q.Ancestor != "" {
		ancestor := c.arg(clean(q.Ancestor))
		c.and("h.id IN " + fmt.Sprintf(descendants, ancestor))
		c.and("h.id::text <> " + ancestor)
	}
	if len(q.Providers) > 0 {
		c.and("h.provider = ANY (" + c.arg(cleanAll(q.Providers)) + ")")
	}
	if len(q.Cwds) > 0 {
		c.and("h.cwd = ANY (" + c.arg(cleanAll(q.Cwds)) + ")")
	}
	if len(q.Sources) > 0 {
		c.and(c.among(q.Sources))
	}
	if len(q.OtherSources) > 0 {
		c.and("NOT " + c.among(q.OtherSources))
	}
	if len(q.Excluded) > 0 {
		c.and("h.id <> ALL (" + c.arg(keysOf(q.Excluded)) + "::uuid[])")
	}
	return c
}

// among returns the condition that the list has the source or its first word.
func (c *clauses) among(list []string) string {
	words := c.arg(cleanAll(list))
	return fmt.Sprintf("(h.source = ANY (%[1]s) OR split_part(h.source, '/', 1) = ANY (%[1]s))", words)
}

func cleanAll(list []string) []string {
	all := make([]string, len(list))
	for i, text := range list {
		all[i] = clean(text)
	}
	return all
}

// keysOf returns the valid ids of a list.
func keysOf(ids []string) []pgtype.UUID {
	keys := []pgtype.UUID{}
	for _, id := range ids {
		if key, ok := parseID(id); ok {
			keys = append(keys, key)
		}
	}
	return keys
}
