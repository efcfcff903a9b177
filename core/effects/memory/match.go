package memory

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"appserver/platform/database"
)

// maxPostings is the maximum number of rows that the words of a search may match in all. Above it, the
// search uses the rarest words only: words of most rows take long and rank little.
const maxPostings = 20_000

// maxAlikePostings is the same for the words that are similar to those of the search. A word in more than
// maxAlikeRows rows has no similar words: all of its forms rank little.
const maxAlikePostings, maxAlikeRows = 4000, 1000

// fewRows is the number of rows below which the share of a question's words does not use document frequencies.
const fewRows = 1000

// question has the words of a question, and the number of all rows.
type question struct {
	words []word
	rows  float64
}

// word is a term of a question, and in how many rows it is.
type word struct {
	term string
	rows int
	// alike are similar terms. alikeRows is in how many rows they are.
	alike     []alike
	alikeRows int
}

// alike is a term that is similar to one of a question, how similar it is, and in how many rows.
type alike struct {
	term    string
	similar float64
	rows    int
}

func (q question) terms() []string {
	terms := make([]string, len(q.words))
	for i, w := range q.words {
		terms[i] = w.term
	}
	return terms
}

// lookUp finds similar terms of a question's terms, and counts the rows of all of them.
func (s *Store) lookUp(ctx context.Context, db *database.DB, terms []string) (q question, err error) {
	var newest sql.NullFloat64
	if err := db.Read.QueryRowContext(ctx, "SELECT max(key) FROM rows").Scan(&newest); err != nil {
		return q, err
	}
	q.rows = newest.Float64
	count, err := db.Read.PrepareContext(ctx, "SELECT doc FROM vocabulary WHERE term = ?")
	if err != nil {
		return q, err
	}
	defer func() { _ = count.Close() }()
	var rare []string
	for _, term := range terms {
		rows, err := rowsWith(ctx, count, term)
		if err != nil {
			return q, err
		}
		q.words = append(q.words, word{term: term, rows: rows})
		if rows <= maxAlikeRows {
			rare = append(rare, term)
		}
	}
	similar, err := s.lexicon.similar(ctx, db, rare, s.options.minSimilar)
	for i := 0; i < len(q.words) && err == nil; i++ {
		err = q.words[i].add(ctx, count, similar[q.words[i].term])
	}
	return q, err
}

// add adds similar terms that some rows have.
func (w *word) add(ctx context.Context, count *sql.Stmt, similar []alike) (err error) {
	for _, like := range similar {
		if like.rows, err = rowsWith(ctx, count, like.term); err != nil {
			return err
		}
		if like.rows > 0 {
			w.alike = append(w.alike, like)
			w.alikeRows += like.rows
		}
	}
	return nil
}

// rowsWith returns in how many rows a term is.
func rowsWith(ctx context.Context, count *sql.Stmt, term string) (rows int, err error) {
	err = count.QueryRowContext(ctx, term).Scan(&rows)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return rows, err
}

// proposed returns the terms of a question that a search looks for, and the similar ones.
func (q question) proposed() (terms, similar []string) {
	var exact, others []alike
	for _, w := range q.words {
		exact = append(exact, alike{term: w.term, rows: w.rows})
		others = append(others, w.alike...)
	}
	return rarest(exact, maxPostings), rarest(others, maxAlikePostings)
}

// rarest returns the rarest terms, one at least, so that not more than limit rows have one.
func rarest(terms []alike, limit int) (list []string) {
	slices.SortStableFunc(terms, func(a, b alike) int { return cmp.Compare(a.rows, b.rows) })
	postings := 0
	for _, t := range terms {
		if postings += t.rows; postings > limit && len(list) > 0 {
			break
		}
		list = append(list, t.term)
	}
	return list
}
