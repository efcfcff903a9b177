package digest

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"appserver/core/words"
)

const (
	// minNgramWord is the length in letters from which a word matches similar words. minSimilar is how similar
	// they must be: from 0 for no common trigram to 1 for the same stem. maxSimilar is for words of other stems.
	minNgramWord, minSimilar, maxSimilar = 5, 0.5, 0.9
	// similarWeight is the weight of a similar word, where a word with the same stem has 1.
	similarWeight = 0.5
	// saturation and lengthShare are the parameters k1 and b of BM25. Texts are outputs of programs
	// among others, where length says little.
	saturation, lengthShare = 1.2, 0.4
)

// Ranking compares texts with a question by BM25: the fewer texts have a word of the question, the more
// it counts. A word also matches words with many of its trigrams, with a lower weight: licence matches
// licensing, and Zahlung matches Zahlungsanbieter.
type Ranking struct {
	terms []asked
	// exact has the index of each term. byTrigram has the indices of the terms with a trigram.
	exact     map[string]int
	byTrigram map[string][]int
	// known has the terms that each word of a text matches.
	known map[string][]meeting
	texts []ranked
}

// asked is a word of the question, with its trigrams.
type asked struct {
	word     string
	trigrams map[string]bool
}

// meeting is a term that a word matches, and how similar they are: 1 for the same stem.
type meeting struct {
	term    int
	similar float64
}

// ranked is a text: its length in words, and for each term how often it has the term, and the greatest
// similarity of its other words.
type ranked struct {
	words   int
	has     map[int]int
	similar map[int]float64
}

// NewRanking returns a ranking without texts.
func NewRanking(question string) *Ranking {
	r := &Ranking{exact: map[string]int{}, byTrigram: map[string][]int{}, known: map[string][]meeting{}}
	for _, term := range words.Terms(question) {
		r.exact[term] = len(r.terms)
		r.terms = append(r.terms, asked{})
	}
	words.Each(question, func(word string) {
		i, isTerm := r.exact[words.Stem(word)]
		if !isTerm || r.terms[i].word != "" {
			return
		}
		r.terms[i] = asked{word, trigrams(word)}
		for t := range r.terms[i].trigrams {
			r.byTrigram[t] = append(r.byTrigram[t], i)
		}
	})
	return r
}

// Add adds an empty text and returns its index.
func (r *Ranking) Add() int {
	r.texts = append(r.texts, ranked{has: map[int]int{}, similar: map[int]float64{}})
	return len(r.texts) - 1
}

// Append appends a part to a text.
func (r *Ranking) Append(text int, part string) {
	row := &r.texts[text]
	words.Each(part, func(word string) {
		row.words++
		for _, m := range r.meetings(word) {
			if m.similar == 1 {
				row.has[m.term]++
			} else {
				row.similar[m.term] = max(row.similar[m.term], m.similar)
			}
		}
	})
}

// meetings returns the terms that a word matches.
func (r *Ranking) meetings(word string) []meeting {
	found, known := r.known[word]
	if known {
		return found
	}
	same, isTerm := r.exact[words.Stem(word)]
	if isTerm {
		found = append(found, meeting{same, 1})
	}
	common := map[int]int{}
	of := trigrams(word)
	for t := range of {
		for _, term := range r.byTrigram[t] {
			common[term]++
		}
	}
	for term, n := range common {
		like := similarity(r.terms[term].word, word, 2*float64(n)/float64(len(r.terms[term].trigrams)+len(of)))
		if like >= minSimilar && !(isTerm && term == same) {
			found = append(found, meeting{term, like})
		}
	}
	r.known[strings.Clone(word)] = found
	return found
}

// similarity returns how similar two words with different stems are: their share of common trigrams, or nearly 1
// if one contains the other, as compounds do.
func similarity(a, b string, common float64) float64 {
	if strings.Contains(a, b) || strings.Contains(b, a) {
		return maxSimilar
	}
	return min(common, maxSimilar)
}

// trigrams returns each three neighbouring letters of a word, or none for a short word, a number and a
// script without spaces. The start of the word counts as a letter, so that words with the same start are more
// similar than words with the same end.
func trigrams(word string) map[string]bool {
	if utf8.RuneCountInString(word) < minNgramWord || strings.IndexFunc(word, isNoLetter) >= 0 {
		return nil
	}
	letters := []rune("^" + word)
	all := make(map[string]bool, len(letters))
	for i := 0; i+3 <= len(letters); i++ {
		all[string(letters[i:i+3])] = true
	}
	return all
}

func isNoLetter(r rune) bool { return r >= '0' && r <= '9' || words.IsDense(r) }

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
	has, similar, length := make([]int, len(r.terms)), make([]int, len(r.terms)), 0
	for _, text := range r.texts {
		length += text.words
		for term := range r.terms {
			if text.has[term] > 0 {
				has[term]++
			} else if text.similar[term] > 0 {
				similar[term]++
			}
		}
	}
	mean := max(float64(length)/float64(max(len(r.texts), 1)), 1)
	scores := make([]float64, len(r.texts))
	for i, text := range r.texts {
		damping := saturation * (1 - lengthShare + lengthShare*float64(text.words)/mean)
		for term := range r.terms {
			if n := float64(text.has[term]); n > 0 {
				scores[i] += r.rarity(has[term]) * n / (n + damping)
			} else if like := text.similar[term]; like > 0 {
				scores[i] += similarWeight * like * r.rarity(has[term]+similar[term]) / (1 + damping)
			}
		}
	}
	return scores
}

// rarity returns the weight of a word that some of the texts have.
func (r *Ranking) rarity(texts int) float64 {
	return math.Log(1 + (float64(len(r.texts))+1)/(float64(texts)+0.5))
}
