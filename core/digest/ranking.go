package digest

import (
	"cmp"
	"slices"

	"appserver/core/words"
)

// Ranking compares texts with a question by BM25: the fewer texts have a word of the question, the more
// it counts. A word also matches words of the same root and words with many of its trigrams, with a lower weight:
// licence matches licensing, and Zahlung matches Zahlungsanbieter.
type Ranking struct {
	terms   int
	matcher *words.Matcher
	texts   []*words.Tally
}

// NewRanking returns a ranking without texts.
func NewRanking(question string) *Ranking {
	terms := words.Terms(question)
	return &Ranking{terms: len(terms), matcher: words.NewMatcher(terms)}
}

// Add adds an empty text and returns its index.
func (r *Ranking) Add() int {
	r.texts = append(r.texts, r.matcher.Tally())
	return len(r.texts) - 1
}

// Append appends a part to a text.
func (r *Ranking) Append(text int, part string) { r.matcher.Count(r.texts[text], part, 1) }

// Best returns the indices of the n texts with the highest scores, best first, then in order. It leaves out
// texts without any word of the question.
func (r *Ranking) Best(n int) []int {
	scores := r.scores()
	var best []int
	for i, score := range scores {
		if score > 0 {
			best = append(best, i)
		}
	}
	slices.SortStableFunc(best, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return best[:min(n, len(best))]
}

// scores returns the score of each text. The score of a text without any word of the question is 0.
func (r *Ranking) scores() []float64 {
	has, either, length := make([]float64, r.terms), make([]float64, r.terms), 0.0
	for _, text := range r.texts {
		length += text.Length
		for term := range r.terms {
			if text.Has[term] > 0 {
				has[term]++
			}
			if text.Has[term] > 0 || text.Similar[term] > 0 {
				either[term]++
			}
		}
	}
	all := float64(len(r.texts))
	weights := make([]words.Weights, r.terms)
	for term := range weights {
		weights[term] = words.Weights{Exact: words.Rarity(all, has[term]), Similar: words.Rarity(all, either[term])}
	}
	mean := max(length/max(all, 1), 1)
	scores := make([]float64, len(r.texts))
	for i, text := range r.texts {
		scores[i] = text.Score(weights, mean)
	}
	return scores
}
