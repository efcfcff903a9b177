package memory

import (
	"cmp"
	"slices"

	"appserver/core/pure/words"
)

// ranked orders rows by the words of a question, the best first, and sets their matches.
func ranked(rows map[int64]*Hit, asked question, minSimilar float64) []near {
	matcher := words.NewMatcher(asked.terms())
	matcher.MinSimilar = minSimilar
	tallies, length := make(map[int64]*words.Tally, len(rows)), 0.0
	for key, hit := range rows {
		t := matcher.Tally()
		matcher.Count(t, hit.Title, titleWeight)
		matcher.Count(t, hit.Text, 1)
		hit.Match = asked.match(t)
		tallies[key] = t
		length += t.Length
	}
	mean := max(length/float64(max(len(rows), 1)), 1)
	weights := asked.weights()
	var list []near
	for key, t := range tallies {
		if score := t.Score(weights, mean); score > 0 {
			list = append(list, near{key, score})
		}
	}
	slices.SortFunc(list, func(a, b near) int {
		return cmp.Or(cmp.Compare(b.similarity, a.similarity), cmp.Compare(b.key, a.key))
	})
	return list
}

// match returns the share of the question's words that a row has, by their weights. A similar word
// counts for a part.
func (q question) match(t *words.Tally) float64 {
	all, got := 0.0, 0.0
	for i, w := range q.words {
		// In a small store, a word that no row has would outweigh all others.
		weight := words.Rarity(max(q.rows, fewRows), float64(w.rows))
		all += weight
		if t.Has[i] > 0 {
			got += weight
		} else {
			got += weight * words.SimilarWeight * t.Similar[i]
		}
	}
	if all == 0 {
		return 0
	}
	return got / all
}

func (q question) weights() []words.Weights {
	all := make([]words.Weights, len(q.words))
	for i, w := range q.words {
		all[i] = words.Weights{Exact: words.Rarity(q.rows, float64(w.rows)),
			Similar: words.Rarity(q.rows, float64(w.rows+w.alikeRows))}
	}
	return all
}
