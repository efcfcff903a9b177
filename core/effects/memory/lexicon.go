package memory

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"appserver/core/pure/words"
	"appserver/platform/database"
)

// maxAlike is the number of similar terms that a search adds for a term.
const maxAlike = 8

// lexicon has the terms of a database in memory, to find similar ones. Terms of erased rows stay in it; they are in
// no row.
type lexicon struct {
	mu    sync.Mutex
	db    *database.DB
	key   int64
	terms words.Lexicon
}

// similar returns the terms that are similar to each of some terms, the most similar first, without the term itself.
func (l *lexicon) similar(ctx context.Context, db *database.DB, terms []string, minSimilar float64) (map[string][]alike,
	error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.read(ctx, db); err != nil {
		return nil, err
	}
	all := make(map[string][]alike, len(terms))
	for _, term := range terms {
		var list []alike
		for _, m := range l.terms.Similar(term) {
			if found := l.terms.Term(m.Term); found != term && m.Similar >= minSimilar {
				list = append(list, alike{term: found, similar: m.Similar})
			}
		}
		slices.SortFunc(list, func(a, b alike) int {
			return cmp.Or(cmp.Compare(b.similar, a.similar), cmp.Compare(a.term, b.term))
		})
		all[term] = list[:min(len(list), maxAlike)]
	}
	return all, nil
}

// read reads the terms that are new.
func (l *lexicon) read(ctx context.Context, db *database.DB) error {
	if l.db != db {
		l.db, l.key, l.terms = db, 0, words.Lexicon{}
	}
	rows, err := db.Read.QueryContext(ctx, "SELECT key, term FROM terms WHERE key > ? ORDER BY key", l.key)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var term string
		if err := rows.Scan(&l.key, &term); err != nil {
			return err
		}
		l.terms.Add(term)
	}
	return rows.Err()
}
