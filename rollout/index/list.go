package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"

	"appserver/rollout"
)

// List is the page of Store.List, without reading rollouts. It is false where the files
// have to be asked: while the index is not built, or cannot be.
func (ix *Index) List(q rollout.Query) (rollout.Page, bool) {
	from, err := q.Begin()
	if err != nil {
		return rollout.Page{}, false
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if !ix.freshLocked() {
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
const turns = 3

// pageLocked is the rows of a page, and one more where there is. They are as the files
// are now: those that others wrote to were read again.
func (ix *Index) pageLocked(q rollout.Query, from rollout.Position) ([]row, error) {
	s, err := selection(ix.options.Store, q, from)
	if err != nil {
		return nil, err
	}
	for range turns {
		rows, err := s.rows(ix.db.read, ix.options.Store)
		if err != nil {
			return nil, err
		}
		look := survey{store: ix.options.Store, skip: ix.skip}
		for _, r := range rows {
			look.check(r.place, r.known)
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
			page.BackCursor = r.position(q.Key()).Back()
		}
		page.Heads = append(page.Heads, r.head)
	}
	return page
}

// row is a session of a page.
type row struct {
	place
	known
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
type choice struct {
	with, join  string
	rank, named string
	where       []string
	order       string
	limit       int
	// withArgs, selectArgs and args belong to with, to rank and named, and to where.
	withArgs, selectArgs, args []any
}

func (c *choice) and(where string, args ...any) {
	c.where = append(c.where, where)
	c.args = append(c.args, args...)
}

// among allows all where there is no list.
func (c *choice) among(column string, list []string) {
	if len(list) > 0 {
		c.and(column+" IN (SELECT value FROM json_each(?))", asJSON(list))
	}
}

func (c *choice) without(column string, list []string) {
	if len(list) > 0 {
		c.and(column+" NOT IN (SELECT value FROM json_each(?))", asJSON(list))
	}
}

func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

// asJSON is a list as one argument: SQLite bounds how many there may be.
func asJSON(list []string) string {
	raw, err := json.Marshal(list)
	if err != nil {
		return "[]" // texts always encode
	}
	return string(raw)
}

// selection is what a query selects, from a position on.
func selection(store *rollout.Store, q rollout.Query, from rollout.Position) (*choice, error) {
	c := filtered(q)
	if q.Search != "" {
		where, args, err := titled(store, q.Search)
		if err != nil {
			return nil, err
		}
		c.and(where, args...)
	}
	c.from(q, from)
	return c, nil
}

func filtered(q rollout.Query) *choice {
	c := &choice{rank: "0", named: "0"}
	root := rollout.Roots()[0]
	if q.Archived {
		root = rollout.Roots()[1]
	}
	c.and("listed AND root = ?", root)
	c.among("model_provider", q.Providers)
	c.among("cwd", q.Cwds)
	c.among("source", q.Sources)
	c.without("source", q.OtherSources)
	c.without("id", q.Excluded)
	if q.Limit > 0 {
		c.limit = q.Limit + 1
	}
	return c
}

// titled is the condition that a preview or a name has a text.
func titled(store *rollout.Store, text string) (where string, args []any, err error) {
	names, err := store.Names()
	if err != nil {
		return "", nil, err
	}
	term := strings.ToLower(text)
	ids := []string{}
	for id, name := range names {
		if strings.Contains(strings.ToLower(name), term) {
			ids = append(ids, id)
		}
	}
	list, err := json.Marshal(ids)
	return "(instr(folded, ?) > 0 OR id IN (SELECT value FROM json_each(?)))", []any{term, string(list)}, err
}

// from orders the rows, and begins behind or at a position.
func (c *choice) from(q rollout.Query, from rollout.Position) {
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
	if from.Here {
		compare += "="
	}
	if from.Path != "" {
		c.and("("+columns+") "+compare+" ("+marks(len(at))+")", at...)
	}
	c.order = strings.ReplaceAll(columns, ",", direction+",") + direction
}

const rowColumns = knownColumns + ", key, id, started_at, preview, head"

func (c *choice) query() (string, []any) {
	text := c.with + " SELECT * FROM (SELECT " + rowColumns + ", listed, model_provider, cwd, source, folded, " +
		c.rank + " AS rank, " + c.named + " AS named FROM sessions " + c.join + ") WHERE " + strings.Join(c.where, " AND ") + " ORDER BY " + c.order
	args := append(append(append([]any{}, c.withArgs...), c.selectArgs...), c.args...)
	if c.limit > 0 {
		text += " LIMIT ?"
		args = append(args, c.limit)
	}
	return strings.Replace(text, "SELECT *", "SELECT "+rowColumns+", rank, named", 1), args
}

// asker is what rows are asked of: a connection, or any of a pool.
type asker interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (c *choice) rows(db asker, store *rollout.Store) ([]row, error) {
	var all []row
	err := c.each(db, store, func(r row) bool {
		all = append(all, r)
		return true
	})
	return all, err
}

// each calls do with the rows until it is false.
func (c *choice) each(db asker, store *rollout.Store, do func(r row) bool) error {
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
		err = loadHead(head, &r.head)
	}
	r.head.Path = store.PathOf(r.root, r.path)
	r.head.CreatedAt, r.head.UpdatedAt = nanoTime(began), nanoTime(r.modTime)
	return r, err
}
