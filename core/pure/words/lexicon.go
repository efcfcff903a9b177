package words

// Lexicon finds the terms that are similar to a term. The zero value is empty.
type Lexicon struct {
	entries []entry
	// byTrigram has the indices of the terms with a trigram.
	byTrigram map[uint64][]int32
	// common is the number of common trigrams of each term and the term that is searched. It is zero between searches.
	common []uint16
}

// entry is a term with the length of its root, and the number of its trigrams.
type entry struct {
	term           string
	root, trigrams int32
}

// Add adds a term. It gets the next index, from 0 on.
func (l *Lexicon) Add(term string) {
	if l.byTrigram == nil {
		l.byTrigram = map[uint64][]int32{}
	}
	f := formOf(term)
	at := int32(len(l.entries))
	l.entries = append(l.entries, entry{term, int32(len(f.root)), int32(len(f.trigrams))})
	l.common = append(l.common, 0)
	for _, t := range f.trigrams {
		l.byTrigram[t] = append(l.byTrigram[t], at)
	}
}

// Term returns the term with an index.
func (l *Lexicon) Term(at int) string { return l.entries[at].term }

// Similar returns the similar terms, in no order. A term with forms is similar to itself.
func (l *Lexicon) Similar(term string) (found []Match) {
	f := formOf(term)
	var touched []int32
	for _, t := range f.trigrams {
		for _, at := range l.byTrigram[t] {
			if l.common[at] == 0 {
				touched = append(touched, at)
			}
			l.common[at]++
		}
	}
	for _, at := range touched {
		e := l.entries[at]
		common := 2 * float64(l.common[at]) / float64(len(f.trigrams)+int(e.trigrams))
		if like := similarity(f.root, e.term[:e.root], common); like >= minSimilar {
			found = append(found, Match{int(at), like})
		}
		l.common[at] = 0
	}
	return found
}
