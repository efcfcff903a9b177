package digest

import (
	"cmp"
	"slices"

	"appserver/core/pure/words"
)

// Ranking compares texts with a question by BM25: the fewer texts have a word of the question, the more
// it counts. A word also matches words of the same root and words with many of its trigrams, with a lower weight:
// licence matches licensing, and Zahlung matches Zahlungsanbieter. The subject of a text has a score of its own. So the
// output of a command that reads a file outranks a long output that names the file.
type Ranking struct {
	matcher         *words.Matcher
	texts, subjects field
}

// field has the tallies of one part of each text.
type field []*words.Tally

// NewRanking returns a ranking without texts.
func NewRanking(question string) *Ranking {
	return &Ranking{matcher: words.NewMatcher(words.Terms(question))}
}

// Add adds an empty text and returns its index.
func (r *Ranking) Add() int {
	r.texts = append(r.texts, r.matcher.Tally())
	r.subjects = append(r.subjects, r.matcher.Tally())
	return len(r.texts) - 1
}

// Append appends a part to a text.
func (r *Ranking) Append(text int, part string) { r.matcher.Count(r.texts[text], part, 1) }

// Subject appends a part to the subject of a text. The subject of an output is its call.
func (r *Ranking) Subject(text int, subject string) { r.matcher.Count(r.subjects[text], subject, 1) }

// Best returns the indices of the n texts with the highest scores, best first, then in order. It leaves out
// texts without any word of the question.
func (r *Ranking) Best(n int) []int {
	scores, subjects := r.texts.scores(), r.subjects.scores()
	var best []int
	for i := range scores {
		if scores[i] += subjects[i]; scores[i] > 0 {
			best = append(best, i)
		}
	}
	slices.SortStableFunc(best, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return best[:min(n, len(best))]
}

// scores returns the score of each text. The score of a text without any word of the question is 0.
func (f field) scores() []float64 {
	scores := make([]float64, len(f))
	if len(f) == 0 {
		return scores
	}
	all, terms, length := float64(len(f)), len(f[0].Has), 0.0
	has, either := make([]float64, terms), make([]float64, terms)
	for _, text := range f {
		length += text.Length
		for term := range terms {
			if text.Has[term] > 0 {
				has[term]++
			}
			if text.Has[term] > 0 || text.Similar[term] > 0 {
				either[term]++
			}
		}
	}
	weights := make([]words.Weights, terms)
	for term := range weights {
		weights[term] = words.Weights{Exact: words.Rarity(all, has[term]), Similar: words.Rarity(all, either[term])}
	}
	for i, text := range f {
		scores[i] = text.Score(weights, max(length/all, 1))
	}
	return scores
}
