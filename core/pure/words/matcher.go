package words

import "strings"

// Matcher finds the terms of a question in texts: the terms, and terms that are similar to them. A word that
// it has seen costs one look into a map.
type Matcher struct {
	// MinSimilar is the minimum similarity of other terms. 0 is the default, 1 excludes all of
	// them.
	MinSimilar float64

	exact   map[string]int
	similar Lexicon
	// known has the terms that each word of a text matches.
	known map[string][]Match
}

// Match is a term that a word matches, by its index, and how similar they are: 1 for the term itself.
type Match struct {
	Term    int
	Similar float64
}

// NewMatcher returns a matcher for terms, as [Terms] returns them.
func NewMatcher(terms []string) *Matcher {
	m := &Matcher{exact: make(map[string]int, len(terms)), known: map[string][]Match{}}
	for i, term := range terms {
		m.exact[term] = i
		m.similar.Add(term)
	}
	return m
}

// matches returns the terms that a word in lower case matches.
func (m *Matcher) matches(word string) []Match {
	found, known := m.known[word]
	if known {
		return found
	}
	term := Term(word)
	same, isTerm := m.exact[term]
	if isTerm {
		found = append(found, Match{same, 1})
	}
	for _, like := range m.similar.Similar(term) {
		if like.Similar >= m.MinSimilar && !(isTerm && like.Term == same) {
			found = append(found, like)
		}
	}
	m.known[strings.Clone(word)] = found
	return found
}

// Tally returns the tally of an empty text.
func (m *Matcher) Tally() *Tally {
	return &Tally{Has: make([]float64, len(m.exact)), Similar: make([]float64, len(m.exact))}
}

// Count adds a part of a text to a tally. A term of the part counts weight times.
func (m *Matcher) Count(t *Tally, part string, weight float64) {
	Each(part, func(word string) {
		t.Length++
		for _, found := range m.matches(word) {
			if found.Similar == 1 {
				t.Has[found.Term] += weight
			} else {
				t.Similar[found.Term] = max(t.Similar[found.Term], found.Similar)
			}
		}
	})
}
