package memory

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"

	"appserver/core/words"
)

// maxPostings is the maximum number of rows that the words of a search may match in all. Above it, the
// search uses the rarest words only: words of most rows take long and rank little.
const maxPostings = 20_000

// fewRows is the number of rows below which document frequencies are not used. In a small corpus, a
// word that no row has would outweigh all others.
const fewRows = 1000

// word is a term of a question, in how many rows it is, and its weight: the fewer have it, the more
// it counts.
type word struct {
	term   string
	rows   int
	weight float64
}

func weigh(ctx context.Context, db *sql.DB, terms []string) ([]word, error) {
	var rows sql.NullFloat64
	if err := db.QueryRowContext(ctx, "SELECT max(key) FROM rows").Scan(&rows); err != nil {
		return nil, err
	}
	words := make([]word, len(terms))
	for i, term := range terms {
		w := &words[i]
		w.term = term
		err := db.QueryRowContext(ctx, "SELECT doc FROM vocabulary WHERE term = ?", term).Scan(&w.rows)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		w.weight = math.Log(1 + (max(rows.Float64, fewRows)+1)/(float64(w.rows)+0.5))
	}
	return words, nil
}

// rarest are the terms of the rarest words, one at least.
func rarest(words []word) []string {
	words = slices.Clone(words)
	slices.SortStableFunc(words, func(a, b word) int { return cmp.Compare(a.rows, b.rows) })
	var terms []string
	postings := 0
	for _, w := range words {
		if postings += w.rows; postings > maxPostings && len(terms) > 0 {
			break
		}
		terms = append(terms, w.term)
	}
	return terms
}

// match is which part of the words a row has, by their weights.
func match(r Row, asked []word) float64 {
	if len(asked) == 0 {
		return 0
	}
	has := make(map[string]bool, len(asked))
	for _, w := range asked {
		has[w.term] = false
	}
	count := func(word string) {
		term := words.Stem(word)
		if _, wanted := has[term]; wanted {
			has[term] = true
		}
	}
	words.Each(r.Title, count)
	words.Each(r.Text, count)
	all, got := 0.0, 0.0
	for _, w := range asked {
		all += w.weight
		if has[w.term] {
			got += w.weight
		}
	}
	return got / all
}
