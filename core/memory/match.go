package memory

import (
	"context"
	"database/sql"
	"errors"
	"math"
)

// weigh gives each word of a question its weight: the fewer rows have it, the more it counts.
func weigh(ctx context.Context, db *sql.DB, words []string) (map[string]float64, error) {
	var rows float64
	if err := db.QueryRowContext(ctx, "SELECT max(key) FROM rows").Scan(&sqlFloat{&rows}); err != nil {
		return nil, err
	}
	weights := make(map[string]float64, len(words))
	for _, word := range words {
		var have float64
		err := db.QueryRowContext(ctx, "SELECT doc FROM vocabulary WHERE term = ?", word).Scan(&have)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		weights[word] = math.Log(1 + (rows+1)/(have+0.5))
	}
	return weights, nil
}

// sqlFloat is a number that may be NULL, which is 0.
type sqlFloat struct{ into *float64 }

// Scan takes NULL for 0.
func (f *sqlFloat) Scan(value any) error {
	var n sql.NullFloat64
	err := n.Scan(value)
	*f.into = n.Float64
	return err
}

// match is which part of the words a row has, by their weights.
func match(r Row, weights map[string]float64) float64 {
	has := map[string]bool{}
	note := func(word string) {
		term := stem(word)
		if _, asked := weights[term]; asked {
			has[term] = true
		}
	}
	eachWord(r.Title, note)
	eachWord(r.Text, note)
	all, got := 0.0, 0.0
	for word, weight := range weights {
		all += weight
		if has[word] {
			got += weight
		}
	}
	if all == 0 {
		return 0
	}
	return got / all
}
