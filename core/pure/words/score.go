package words

import "math"

const (
	// SimilarWeight is the weight of a similar term, where the term itself has 1.
	SimilarWeight = 0.6
	// saturation and lengthShare are the parameters k1 and b of BM25. Texts are outputs of programs and code
	// among others, where length says little.
	saturation, lengthShare = 1.2, 0.4
)

// Rarity returns the weight of a term that some of all texts have: the fewer have it, the more it counts.
func Rarity(all, texts float64) float64 { return math.Log(1 + (all+1)/(texts+0.5)) }

// Weights are the rarity of a term, and the rarity of a term similar to it.
type Weights struct{ Exact, Similar float64 }

// Tally has the length of a text in words, and for each term of a question how often the text has it, and the
// greatest similarity of another word.
type Tally struct {
	Length  float64
	Has     []float64
	Similar []float64
}

// Score returns the score of a text by BM25 among texts of a mean length. A similar term counts when the text has
// not the term itself, with a lower weight.
func (t *Tally) Score(weights []Weights, mean float64) (score float64) {
	damping := saturation * (1 - lengthShare + lengthShare*t.Length/mean)
	for term, w := range weights {
		if n := t.Has[term]; n > 0 {
			score += w.Exact * n / (n + damping)
		} else if like := t.Similar[term]; like > 0 {
			score += SimilarWeight * like * w.Similar / (1 + damping)
		}
	}
	return score
}
