package index

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"appserver/rollout"
	"appserver/rollout/database"
)

// Search finds the threads in whose messages, preview or name a text stands; case does
// not matter. An index that is being built is waited for a moment; then what it has is
// searched. An unusable cursor is a *rollout.CursorError, a database that cannot be used rollout.ErrNoIndex.
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
	// One connection for all of it: there are few.
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

// await waits until every file was looked at, or patience ends.
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

// namedRank is how much a preview or name counts, in messages.
const namedRank = 1_000_000

// searched is what a search selects: threads of which some message may have the text.
func searchQuery(store *rollout.Store, q rollout.Query, from rollout.Position) (*selectQuery, error) {
	c := filterQuery(q)
	c.limit = 0
	ids, err := threadsNamed(store, q.Search)
	if err != nil {
		return nil, err
	}
	where, args := titleCondition(q.Search, ids)
	condition, value := candidates(strings.ToLower(q.Search))
	c.with = "WITH hit AS MATERIALIZED (SELECT session, count(*) AS hits FROM messages WHERE " + condition + " GROUP BY session)"
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
	// gram is the length of what the index knows texts by, maxGrams how many of a term are
	// looked up; the rest is read.
	gram     = 3
	maxGrams = 24
)

// candidates is the condition of messages that may have a term.
func candidates(term string) (condition, value string) {
	runes := []rune(strings.ReplaceAll(term, "\x00", " "))
	if len(runes) < gram && len(runes) == len(term) {
		return "instr(lower(coalesce(folded, text)), ?) > 0", term
	}
	if len(runes) < gram { // lower knows ASCII only: all messages are read
		return "length(?) > 0", term
	}
	return "number IN (SELECT rowid FROM found WHERE found MATCH ?)", grams(runes)
}

// grams is what FTS5 is asked for to find texts that may have a term, which is no shorter than
// a gram.
func grams(term []rune) string {
	var all []string
	for i := 0; i+gram <= len(term) && len(all) < maxGrams; i++ {
		all = append(all, `"`+strings.ReplaceAll(string(term[i:i+gram]), `"`, `""`)+`"`)
	}
	return strings.Join(all, " AND ")
}

// found reads candidates until the page is full.
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
		hits.Hits = append(hits.Hits, rollout.Hit{Head: r.head, Snippet: snippet(text, term)})
		last = r
		return true
	})
	return hits, errors.Join(err, failed)
}

// said is the first text of a thread that has the term; ok is false where none has.
func matchingText(db querier, r row, term string) (text string, ok bool, err error) {
	if strings.Contains(strings.ToLower(r.head.Preview), term) {
		return r.head.Preview, true, nil
	}
	rows, err := db.QueryContext(context.Background(), "SELECT text FROM messages WHERE session = ? ORDER BY offset", r.key)
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

// A snippet has so many characters before and behind the begin of what was found.
const (
	snippetBefore = 48
	snippetAfter  = 112
)

// snippet is a line of a text around a term, or its begin.
func snippet(text, term string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	lower, runes := strings.ToLower(text), []rune(text) // which has as many, though not as many bytes
	at := utf8.RuneCountInString(lower[:max(0, strings.Index(lower, strings.Join(strings.Fields(term), " ")))])
	from, to := max(0, at-snippetBefore), min(len(runes), at+snippetAfter)
	part := string(runes[from:to])
	if from > 0 {
		part = "... " + part
	}
	if to < len(runes) {
		part += " ..."
	}
	return part
}
