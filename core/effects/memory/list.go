package memory

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"appserver/protocol"
)

// Filter selects the rows of a list.
type Filter struct {
	// RepoKey, Kind and SessionID select rows. "" selects any.
	RepoKey, Kind, SessionID string
	// Cursor is the cursor of the page before, or "" for the first page.
	Cursor string
	// Limit is the maximum number of rows of a page. 0 means 10.
	Limit int
}

// CursorError rejects a cursor that List has not returned.
type CursorError struct{ Cursor string }

// Error returns a message with the cursor.
func (e *CursorError) Error() string {
	return "invalid cursor: " + e.Cursor + " (use one that a list returned)"
}

// List returns rows, the newest first, and the cursor of the next page, or "". The scores of its hits
// are 0. It rejects an invalid cursor with a *CursorError.
func (s *Store) List(ctx context.Context, f Filter) (rows []Hit, next string, err error) {
	limit := min(max(f.Limit, 0), maxLimit)
	if limit == 0 {
		limit = defaultLimit
	}
	where, args, err := f.condition()
	if err != nil {
		return nil, "", err
	}
	db, err := s.ready(ctx, false)
	if err != nil || db == nil {
		return nil, "", err
	}
	found, err := db.Read.QueryContext(ctx, "SELECT "+rowColumns+
		", rows.key FROM rows JOIN repos ON repos.key = rows.repo WHERE "+where+
		" ORDER BY rows.ts DESC, rows.key DESC LIMIT ?", append(args, limit+1)...)
	if err != nil {
		s.spoiled(db, err)
		return nil, "", fmt.Errorf("memory: list: %w", err)
	}
	defer func() { _ = found.Close() }()
	var last int64
	for found.Next() {
		var hit Hit
		var key int64
		if err := scanRow(found, &hit, &key); err != nil {
			return nil, "", fmt.Errorf("memory: list: %w", err)
		}
		if len(rows) == limit {
			return rows, fmt.Sprintf("%d.%d", rows[limit-1].TS, last), nil
		}
		rows, last = append(rows, hit), key
	}
	return rows, "", found.Err()
}

func (f Filter) condition() (where string, args []any, err error) {
	conditions := []string{"1"}
	and := func(condition string, values ...any) {
		conditions, args = append(conditions, condition), append(args, values...)
	}
	if f.RepoKey != "" {
		and("rows.repo = (SELECT key FROM repos WHERE name = ?)", f.RepoKey)
	}
	if f.Kind != "" {
		and("rows.kind = ?", f.Kind)
	}
	if f.SessionID != "" {
		and("rows.session = ?", f.SessionID)
	}
	if f.Cursor != "" {
		before, after, ok := strings.Cut(f.Cursor, ".")
		ts, err := strconv.ParseInt(before, 10, 64)
		key, keyErr := strconv.ParseInt(after, 10, 64)
		if !ok || err != nil || keyErr != nil {
			return "", nil, &CursorError{f.Cursor}
		}
		and("(rows.ts, rows.key) < (?, ?)", ts, key)
	}
	return strings.Join(conditions, " AND "), args, nil
}

// Summarized returns the items of a thread for which a summary is stored.
func (s *Store) Summarized(ctx context.Context, session string, ids []string) (map[string]bool, error) {
	db, err := s.ready(ctx, false)
	if err != nil || db == nil {
		return nil, err
	}
	asked, err := protocol.Marshal(nonNil(ids))
	if err != nil {
		return nil, err
	}
	found, err := db.Read.QueryContext(ctx, `SELECT DISTINCT item.value FROM rows, json_each(rows.msg_ids) AS item
		WHERE rows.session = ? AND rows.session != '' AND rows.kind = ? AND item.value IN (SELECT value FROM json_each(?))`,
		session, Summary, string(asked))
	if err != nil {
		s.spoiled(db, err)
		return nil, fmt.Errorf("memory: items that are summarised: %w", err)
	}
	defer func() { _ = found.Close() }()
	known := map[string]bool{}
	for found.Next() {
		var id string
		if err := found.Scan(&id); err != nil {
			return nil, fmt.Errorf("memory: items that are summarised: %w", err)
		}
		known[id] = true
	}
	return known, found.Err()
}
