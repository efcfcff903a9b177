package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"appserver/rollout"
)

// List is the page of Store.List, without reading rollouts. It is false where the files
// have to be asked: while the index is not built, or cannot be.
func (ix *Index) List(q rollout.Query) (rollout.Page, bool) {
	from, err := q.Start()
	if err != nil {
		return rollout.Page{}, false
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if !ix.updateLocked() {
		return rollout.Page{}, false
	}
	rows, err := ix.pageLocked(q, from)
	if err != nil {
		if !errors.Is(err, errTooMuch) {
			ix.failLocked(err)
		}
		return rollout.Page{}, false
	}
	return pageOf(rows, q), true
}

// turns is how often a page is made anew because files on it have changed.
const maxRetries = 3

// pageLocked is the rows of a page, and one more where there is. They are as the files
// are now: those that others wrote to were read again.
func (ix *Index) pageLocked(q rollout.Query, from rollout.Position) ([]row, error) {
	for range maxRetries {
		s, err := listQuery(ix.db.Read, ix.options.Store, q, from)
		if err != nil {
			return nil, err
		}
		rows, err := s.rows(ix.db.Read, ix.options.Store)
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
	// rank is how well it fits a search, named whether its preview or name does.
	rank  int64
	named bool
}

func (r row) position(key rollout.SortKey) rollout.Position {
	p := rollout.Position{Key: key, Path: r.path}
	switch key {
	case rollout.SortUpdated:
		p.Updated = r.modTime
	case rollout.SortRelevance:
		p.Updated = r.rank
	}
	return p
}

// choice is a SELECT in the making.
type selectQuery struct {
	with, join  string
	rank, named string
	where       []string
	order       string
	limit       int
	// table is where rows are looked for.
	table string
	// withArgs, selectArgs, tableArgs and args belong to with, to rank and named, to table, and to where.
	withArgs, selectArgs, tableArgs, args []any
}

func (c *selectQuery) and(where string, args ...any) {
	c.where = append(c.where, where)
	c.args = append(c.args, args...)
}

// among allows all where there is no list.
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

// sources allows, or with not before it forbids, what is on a list whole or with its first word.
func (c *selectQuery) sources(not string, list []string) {
	if len(list) > 0 {
		words := asJSON(list)
		c.and(not+" (source IN (SELECT value FROM json_each(?)) OR substr(source, 1, instr(source || '/', '/') - 1) IN (SELECT value FROM json_each(?)))", words, words)
	}
}

func questionMarks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

// asJSON is a list as one argument: SQLite bounds how many there may be.
func asJSON[T int64 | string](list []T) string {
	raw, err := json.Marshal(list)
	if err != nil {
		return "[]" // texts and numbers always encode
	}
	return string(raw)
}

// selection is what a query selects, from a position on.
func listQuery(db *sql.DB, store *rollout.Store, q rollout.Query, from rollout.Position) (*selectQuery, error) {
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

// isNewest is the condition that a thread has no newer file.
const isNewest = "NOT EXISTS (SELECT 1 FROM sessions AS newer WHERE newer.root = one.root AND newer.id = one.id AND newer.rollout_path > one.rollout_path)"

// isDescendant is the condition that a thread was spawned by another, or by one that was.
const isDescendant = `id IN (WITH RECURSIVE spawned(id) AS (SELECT id FROM sessions WHERE parent = ?
	UNION SELECT next.id FROM sessions AS next JOIN spawned ON next.parent = spawned.id) SELECT id FROM spawned)`

func filterQuery(q rollout.Query) *selectQuery {
	c := &selectQuery{rank: "0", named: "0", table: "sessions"}
	root := rollout.Roots()[0]
	if q.Archived {
		root = rollout.Roots()[1]
	}
	c.and("listed AND root = ?", root)
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

// titled is the condition that a preview has a text, or a thread one of the ids.
func titleCondition(text, ids string) (where string, args []any) {
	return "(instr(folded, ?) > 0 OR id IN (SELECT value FROM json_each(?)))", []any{strings.ToLower(text), ids}
}

// named are the ids of threads whose names have a text, as JSON.
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

// mostTitled is of how many threads a list looks at each. Of more, it looks at all in its
// order, until the page is full.
const maxTitled = 2000

// onlyTitled bounds the choice to sessions whose previews may have a text, or which have one
// of the ids, where that is worth it.
func (c *selectQuery) narrowByTitle(db *sql.DB, text, ids string) error {
	term := []rune(strings.ToLower(text))
	if len(term) < gram || strings.Contains(text, "\x00") {
		return nil
	}
	rows, err := db.Query(`SELECT * FROM (SELECT rowid FROM titled WHERE titled MATCH ? LIMIT ?)
		UNION SELECT key FROM sessions WHERE root IN (SELECT value FROM json_each(?)) AND id IN (SELECT value FROM json_each(?)) LIMIT ?`,
		grams(term), maxTitled+1, asJSON(rollout.Roots()), ids, maxTitled+1)
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
	}
	return rows.Err()
}

// from orders the rows, and begins behind or at a position.
func (c *selectQuery) startAt(q rollout.Query, from rollout.Position) {
	columns, direction, compare := "rollout_path", " DESC", "<"
	at := []any{from.Path}
	switch q.Key() {
	case rollout.SortUpdated:
		columns, at = "last_event_at, rollout_path", []any{from.Updated, from.Path}
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
	text := c.with + " SELECT * FROM (SELECT " + rowColumns + ", listed, model_provider, cwd, source, folded, parent, " +
		c.rank + " AS rank, " + c.named + " AS named FROM " + c.table + " " + c.join + ") AS one WHERE " + strings.Join(c.where, " AND ") + " ORDER BY " + c.order
	args := slices.Concat(c.withArgs, c.selectArgs, c.tableArgs, c.args)
	if c.limit > 0 {
		text += " LIMIT ?"
		args = append(args, c.limit)
	}
	return strings.Replace(text, "SELECT *", "SELECT "+rowColumns+", rank, named", 1), args
}

// asker is what rows are asked of: a connection, or any of a pool.
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

// each calls do with the rows until it is false.
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
