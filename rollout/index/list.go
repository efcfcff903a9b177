package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"appserver/rollout"
	"appserver/rollout/home"
	"appserver/rollout/listing"
)

// List returns the page that Store.List would return, without reading rollouts. It returns
// false if the index is not complete or not usable; the caller then reads the files.
func (ix *Index) List(q rollout.Query) (rollout.Page, bool) {
	from, err := q.Start()
	if err != nil {
		return rollout.Page{}, false
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	rows, err := ix.checkedPageLocked(q, from)
	if err != nil {
		return rollout.Page{}, false
	}
	return pageOf(rows, q), true
}

var errNotUsable = errors.New("index: the files have to be read")

// checkedPageLocked returns the rows of a page after it has updated the index. Only folders on which the page
// depends are looked at.
func (ix *Index) checkedPageLocked(q rollout.Query, from listing.Position) (rows []row, err error) {
	if !ix.usableLocked() {
		return nil, errNotUsable
	}
	if rows, err = ix.pageLocked(q, from); err != nil {
		return nil, err
	}
	near := scopeOf(q, rows)
	before := ix.applied
	if !ix.refreshedLocked(near) {
		return nil, errNotUsable
	}
	if ix.applied == before {
		return rows, nil
	}
	if rows, err = ix.pageLocked(q, from); err != nil || near.covers(scopeOf(q, rows)) {
		return rows, err
	}
	if !ix.refreshedLocked(scope{}) {
		return nil, errNotUsable
	}
	return ix.pageLocked(q, from)
}

// maxRetries limits how often a page is read again because its files have changed.
const maxRetries = 3

// pageLocked returns the rows of a page and the following row. It checks the files of the page
// and reads changed ones again.
func (ix *Index) pageLocked(q rollout.Query, from listing.Position) (rows []row, err error) {
	defer func() {
		if err != nil && !errors.Is(err, errTooMuch) {
			ix.failLocked(err)
		}
	}()
	for range maxRetries {
		s, err := listQuery(ix.db.Prepared, ix.options.Store, q, from)
		if err != nil {
			return nil, err
		}
		rows, err := s.rows(ix.db.Prepared, ix.options.Store)
		if err != nil {
			return nil, err
		}
		look := folderScan{store: ix.options.Store, skip: ix.skip}
		for _, r := range rows {
			look.checkFile(r.location, r.indexedState)
		}
		if len(look.changed)+len(look.gone) == 0 {
			return rows, nil
		}
		if err := ix.applyLocked(&look); err != nil {
			return nil, err
		}
	}
	return nil, errTooMuch
}

func pageOf(rows []row, q rollout.Query) rollout.Page {
	var page rollout.Page
	for i, r := range rows {
		if q.Limit > 0 && i == q.Limit {
			page.NextCursor = rows[i-1].position(q.Key()).Cursor()
			break
		}
		if i == 0 {
			page.BackCursor = r.position(q.Key()).BackCursor()
		}
		page.Heads = append(page.Heads, r.head)
	}
	return page
}

// row is a session of a page.
type row struct {
	location
	indexedState
	key  int64
	head rollout.Head
	// rank is the relevance in a search. named is set if the preview or the name matches.
	rank  int64
	named bool
}

func (r row) position(key rollout.SortKey) listing.Position {
	p := listing.Position{Key: key, Path: r.path}
	switch key {
	case rollout.SortUpdated:
		p.Updated = r.head.UpdatedAt.UnixNano()
	case rollout.SortRelevance:
		p.Updated = r.rank
	}
	return p
}

// selectQuery builds a SELECT statement.
type selectQuery struct {
	with, join  string
	rank, named string
	where       []string
	order       string
	limit       int
	// table is the table expression of FROM.
	table string
	// sortsKeys is set if the order needs a sort. It sorts keys only, since whole rows take several times as long.
	sortsKeys bool
	// Arguments, in the order of the statement: of with, of rank and named, of table, of
	// where.
	withArgs, selectArgs, tableArgs, args []any
}

func (c *selectQuery) and(where string, args ...any) {
	c.where = append(c.where, where)
	c.args = append(c.args, args...)
}

// in adds a condition that a column is in the list. An empty list adds nothing.
func (c *selectQuery) in(column string, list []string) {
	if len(list) > 0 {
		c.and(column+" IN (SELECT value FROM json_each(?))", asJSON(list))
	}
}

func (c *selectQuery) notIn(column string, list []string) {
	if len(list) > 0 {
		c.and(column+" NOT IN (SELECT value FROM json_each(?))", asJSON(list))
	}
}

// sources adds a condition that the list has the source or its first word. not is "NOT" to
// negate it, or "".
func (c *selectQuery) sources(not string, list []string) {
	if len(list) > 0 {
		words := asJSON(list)
		c.and(
			not+" (source IN (SELECT value FROM json_each(?)) OR substr(source, 1, instr(source || '/', '/') - 1) IN (SELECT value FROM json_each(?)))",
			words,
			words,
		)
	}
}

func questionMarks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

// asJSON returns a list as one argument, because SQLite limits the number of arguments.
func asJSON[T int64 | string](list []T) string {
	raw, err := json.Marshal(list)
	if err != nil {
		return "[]" // strings and numbers always encode
	}
	return string(raw)
}

// listQuery returns the statement of a query, from a position on.
func listQuery(db querier, store *rollout.Store, q rollout.Query, from listing.Position) (*selectQuery, error) {
	c := filterQuery(q)
	if q.Search != "" {
		ids, err := threadsNamed(store, q.Search)
		if err == nil {
			err = c.narrowByTitle(db, q.Search, ids)
		}
		if err != nil {
			return nil, err
		}
		where, args := titleCondition(q.Search, ids)
		c.and(where, args...)
	}
	c.startAt(q, from)
	return c, nil
}

// isNewest is the condition that the file is the newest of its thread.
const isNewest = "NOT EXISTS (SELECT 1 FROM sessions AS newer WHERE newer.root = one.root AND newer.id = one.id AND newer.rollout_path > one.rollout_path)"

// isDescendant is the condition that a thread descends from another one.
const isDescendant = `id IN (WITH RECURSIVE spawned(id) AS (SELECT id FROM sessions WHERE parent = ?
	UNION SELECT next.id FROM sessions AS next JOIN spawned ON next.parent = spawned.id) SELECT id FROM spawned)`

func filterQuery(q rollout.Query) *selectQuery {
	c := &selectQuery{rank: "0", named: "0", table: "sessions"}
	root := home.Roots()[0]
	if q.Archived {
		root = home.Roots()[1]
	}
	if !q.Unlisted {
		c.and("listed")
	}
	c.and("root = ?", root)
	if q.Parent != "" {
		c.and("parent = ?", q.Parent)
	}
	if q.Ancestor != "" {
		c.and(isDescendant, q.Ancestor)
		c.and("id <> ?", q.Ancestor)
	}
	c.in("model_provider", q.Providers)
	c.in("cwd", q.Cwds)
	c.sources("", q.Sources)
	c.sources("NOT", q.OtherSources)
	c.notIn("id", q.Excluded)
	c.and(isNewest)
	if q.Limit > 0 {
		c.limit = q.Limit + 1
	}
	return c
}

// titleCondition returns the condition that a preview contains the text or the thread has one of
// the ids.
func titleCondition(text, ids string) (where string, args []any) {
	return "(instr(folded, ?) > 0 OR id IN (SELECT value FROM json_each(?)))", []any{strings.ToLower(text), ids}
}

// threadsNamed returns the ids of threads whose names contain the text, as JSON.
func threadsNamed(store *rollout.Store, text string) (string, error) {
	names, err := store.Names()
	term := strings.ToLower(text)
	ids := []string{}
	for id, name := range names {
		if strings.Contains(strings.ToLower(name), term) {
			ids = append(ids, id)
		}
	}
	return asJSON(ids), err
}

// maxTitled is the number of matching previews up to which a list visits only those. Above it,
// a list visits all sessions in order until the page is full.
const maxTitled = 2000

// titleStep is the distance of the looked up sequences of a term. Each pair of adjacent characters is in one of
// them, and half of the sequences take half of the time. The condition on the preview verifies the rest.
const titleStep = 2

// narrowByTitle limits the statement to sessions whose previews may contain the text and to
// the ids, if those are few.
func (c *selectQuery) narrowByTitle(db querier, text, ids string) error {
	term := []rune(strings.ToLower(text))
	if len(term) < gram || strings.Contains(text, "\x00") {
		return nil
	}
	limit := fmt.Sprintf(" LIMIT %d", maxTitled+1)
	matching, args := "SELECT rowid FROM titled WHERE titled MATCH ?"+limit, []any{grams(term, titleStep)}
	if ids != "[]" {
		matching = "SELECT * FROM (" + matching + `)
			UNION SELECT key FROM sessions WHERE root IN (SELECT value FROM json_each(?)) AND id IN (SELECT value FROM json_each(?))` + limit
		args = append(args, asJSON(home.Roots()), ids)
	}
	rows, err := db.QueryContext(context.Background(), matching, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	keys := []int64{}
	for rows.Next() {
		var key int64
		if err := rows.Scan(&key); err != nil {
			return err
		}
		keys = append(keys, key)
	}
	if len(keys) <= maxTitled {
		c.table, c.tableArgs = "(SELECT value AS wanted FROM json_each(?)) AS one_of CROSS JOIN sessions ON sessions.key = one_of.wanted", []any{asJSON(keys)}
		c.sortsKeys = true
	}
	return rows.Err()
}

// startAt sets the order and the start position.
func (c *selectQuery) startAt(q rollout.Query, from listing.Position) {
	columns, direction, compare := "rollout_path", " DESC", "<"
	at := []any{from.Path}
	switch q.Key() {
	case rollout.SortUpdated:
		columns, at = "updated_at, rollout_path", []any{from.Updated, from.Path}
	case rollout.SortRelevance:
		columns, at = "rank, rollout_path", []any{from.Updated, from.Path}
	}
	if q.Ascending {
		direction, compare = " ASC", ">"
	}
	if from.Inclusive {
		compare += "="
	}
	if from.Path != "" {
		c.and("("+columns+") "+compare+" ("+questionMarks(len(at))+")", at...)
	}
	c.order = strings.ReplaceAll(columns, ",", direction+",") + direction
}

const rowColumns = knownColumns + ", key, id, started_at, preview, head"

func (c *selectQuery) query() (string, []any) {
	text := c.with + " SELECT * FROM (SELECT " + rowColumns +
		", listed, model_provider, cwd, source, folded, parent, updated_at, " +
		c.rank + " AS rank, " + c.named + " AS named FROM " + c.table + " " + c.join + ") AS one WHERE " +
		strings.Join(c.where, " AND ") + " ORDER BY " + c.order
	args := slices.Concat(c.withArgs, c.selectArgs, c.tableArgs, c.args)
	if c.limit > 0 {
		text += " LIMIT +?"
		args = append(args, c.limit)
	}
	if c.sortsKeys {
		return "SELECT " + rowColumns + ", " + c.rank + " AS rank, " + c.named + " AS named FROM sessions WHERE key IN (" +
			strings.Replace(text, "SELECT *", "SELECT key", 1) + ") ORDER BY " + c.order, args
	}
	return strings.Replace(text, "SELECT *", "SELECT "+rowColumns+", rank, named", 1), args
}

// querier is a connection or a pool.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (c *selectQuery) rows(db querier, store *rollout.Store) ([]row, error) {
	var all []row
	err := c.each(db, store, func(r row) bool {
		all = append(all, r)
		return true
	})
	return all, err
}

// each calls do with each row until do returns false.
func (c *selectQuery) each(db querier, store *rollout.Store, do func(r row) bool) error {
	text, args := c.query()
	rows, err := db.QueryContext(context.Background(), text, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		r, err := scan(rows, store)
		if err != nil {
			return err
		}
		if !do(r) {
			return nil
		}
	}
	return rows.Err()
}

func scan(rows *sql.Rows, store *rollout.Store) (row, error) {
	var r row
	var began int64
	var head string
	err := rows.Scan(&r.root, &r.path, &r.inode, &r.size, &r.modTime, &r.offset, &r.beginSize, &r.beginSum,
		&r.key, &r.head.ID, &began, &r.head.Preview, &head, &r.rank, &r.named)
	if err == nil {
		err = decodeHead(head, &r.head)
	}
	r.head.Path = store.AbsPath(r.root, r.path)
	r.head.CreatedAt = nanoTime(began)
	return r, err
}
