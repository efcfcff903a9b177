package index

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"appserver/platform/database"
	"appserver/rollout"
	"appserver/rollout/listing"
)

// Search returns the threads whose messages, preview or name contain a text, regardless of
// case. It waits briefly for an index that is being built, and then searches what the index
// has. An invalid cursor is a *rollout.CursorError. An unusable database is
// rollout.ErrNoIndex.
func (ix *Index) Search(ctx context.Context, q rollout.Query) (rollout.Hits, error) {
	from, err := q.Start()
	if err != nil {
		return rollout.Hits{}, err
	}
	ix.await(ctx)
	ix.mu.Lock()
	complete := ix.updateLocked()
	db := ix.db
	ix.mu.Unlock()
	if db == nil {
		return rollout.Hits{}, rollout.ErrNoIndex
	}
	c, err := searchQuery(ix.options.Store, q, from)
	if err != nil {
		return rollout.Hits{}, err
	}
	select {
	case ix.searching <- struct{}{}:
		defer func() { <-ix.searching }()
	case <-ctx.Done():
		return rollout.Hits{}, ctx.Err()
	}
	// Use one connection throughout, because there are only two.
	conn, err := db.Read.Conn(ctx)
	if err != nil {
		return rollout.Hits{}, err
	}
	defer func() { _ = conn.Close() }()
	hits, err := readHits(conn, ix.options.Store, c, q)
	hits.Complete = complete
	if database.IsDamaged(err) {
		ix.mu.Lock()
		defer ix.mu.Unlock()
		if ix.db == db {
			ix.failLocked(err)
		}
		err = rollout.ErrNoIndex
	}
	return hits, err
}

// await waits until a first sweep is complete, or for searchWait.
func (ix *Index) await(ctx context.Context) {
	ix.mu.Lock()
	ix.updateLocked()
	sweeping := ix.sweeping
	if ix.complete {
		sweeping = nil
	}
	ix.mu.Unlock()
	if sweeping == nil {
		return
	}
	enough := time.NewTimer(searchWait)
	defer enough.Stop()
	select {
	case <-sweeping:
	case <-enough.C:
	case <-ctx.Done():
	}
}

// namedRank is the relevance of a matching preview or name. It exceeds any number of matching
// messages.
const namedRank = 1_000_000

// searchQuery returns the statement for threads with candidate messages.
func searchQuery(store *rollout.Store, q rollout.Query, from listing.Position) (*selectQuery, error) {
	c := filterQuery(q)
	c.limit = 0
	ids, err := threadsNamed(store, q.Search)
	if err != nil {
		return nil, err
	}
	where, args := titleCondition(q.Search, ids)
	condition, value := candidates(strings.ToLower(q.Search))
	c.with = "WITH hit AS MATERIALIZED (SELECT session, count(*) AS hits FROM messages WHERE " + condition +
		" GROUP BY session)"
	c.withArgs = []any{value}
	c.join = "LEFT JOIN hit ON hit.session = sessions.key"
	c.named = where
	c.rank = "coalesce(hits, 0) + " + fmt.Sprintf("CASE WHEN %s THEN %d ELSE 0 END", where, namedRank)
	c.selectArgs = append(append([]any{}, args...), args...)
	c.and("rank > 0")
	c.startAt(q, from)
	return c, nil
}

const (
	// gram is the length of the indexed character sequences. maxGrams limits how many of a
	// term are looked up; matchingText verifies the rest.
	gram     = 3
	maxGrams = 24
)

// candidates returns the condition of messages that may contain a term.
func candidates(term string) (condition, value string) {
	runes := []rune(strings.ReplaceAll(term, "\x00", " "))
	if len(runes) < gram && len(runes) == len(term) {
		return "instr(lower(coalesce(folded, text)), ?) > 0", term
	}
	if len(runes) < gram { // lower folds ASCII only, so all messages are read
		return "length(?) > 0", term
	}
	return "number IN (SELECT rowid FROM found WHERE found MATCH ?)", grams(runes, 1)
}

// grams returns the FTS5 expression for texts that may contain a term of at least gram
// characters. It has the sequences that begin at each step characters, and the last one.
func grams(term []rune, step int) string {
	var all []string
	for i := 0; i+gram <= len(term) && len(all) < maxGrams; i++ {
		if i%step == 0 || i+gram == len(term) {
			all = append(all, `"`+strings.ReplaceAll(string(term[i:i+gram]), `"`, `""`)+`"`)
		}
	}
	return strings.Join(all, " AND ")
}

// readHits verifies candidates until the page is full.
func readHits(db querier, store *rollout.Store, c *selectQuery, q rollout.Query) (rollout.Hits, error) {
	var hits rollout.Hits
	var last row
	var failed error
	term := strings.ToLower(q.Search)
	err := c.each(db, store, func(r row) bool {
		text, ok, err := matchingText(db, r, term)
		if err != nil || !ok {
			failed = err
			return err == nil
		}
		if q.Limit > 0 && len(hits.Hits) == q.Limit {
			hits.NextCursor = last.position(q.Key()).Cursor()
			return false
		}
		if len(hits.Hits) == 0 {
			hits.BackCursor = r.position(q.Key()).BackCursor()
		}
		hits.Hits = append(hits.Hits, rollout.Hit{Head: r.head, Snippet: listing.Snippet(text, term)})
		last = r
		return true
	})
	return hits, errors.Join(err, failed)
}

// matchingText returns the first text of a thread that contains the term, or false.
func matchingText(db querier, r row, term string) (text string, ok bool, err error) {
	if strings.Contains(strings.ToLower(r.head.Preview), term) {
		return r.head.Preview, true, nil
	}
	rows, err := db.QueryContext(
		context.Background(),
		"SELECT text FROM messages WHERE session = ? ORDER BY offset",
		r.key,
	)
	if err != nil {
		return "", false, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(&text); err != nil {
			return "", false, err
		}
		if strings.Contains(strings.ToLower(text), term) {
			return text, true, nil
		}
	}
	return r.head.Preview, r.named, rows.Err()
}
