package find

import (
	"cmp"
	"path"
	"slices"
	"unicode/utf8"

	"github.com/junegunn/fzf/src/util"
)

// Boosts of a query of one plain word. They exceed any score, so they order matches in tiers.
const (
	fileNameHas     = 1 << 16 // the name of a file has the word
	directoryNameIs = 2 << 16 // the name of the directory is the word; at most one of all results
	fileNameIs      = 3 << 16 // the name of a file is the word
)

// match compares a path with the query. A boosted match is scored and marked within the name.
func (q Query) match(p Path, slab *util.Slab) (Match, bool) {
	if !q.plain {
		return q.matchPath(p, slab)
	}
	name := path.Base(p.Name)
	score, places, ok := q.fit(name, slab)
	is := ok && len(places) == utf8.RuneCountInString(name)
	if !ok || p.Directory && !is {
		return q.matchPath(p, slab)
	}
	before := utf8.RuneCountInString(p.Name[:len(p.Name)-len(name)])
	for i := range places {
		places[i] += before
	}
	boost := fileNameHas
	var unboosted *Match
	switch {
	case p.Directory:
		m, _ := q.matchPath(p, slab)
		unboosted, boost = &m, directoryNameIs
	case is:
		boost = fileNameIs
	}
	return Match{Path: p, Score: uint32(boost + score), Indices: indices(places), unboosted: unboosted}, true
}

// matchPath compares a whole path with the query. The match has no boost.
func (q Query) matchPath(p Path, slab *util.Slab) (Match, bool) {
	score, places, ok := q.fit(p.Name, slab)
	return Match{Path: p, Score: uint32(score), Indices: indices(places)}, ok
}

func indices(places []int) []uint32 {
	list := make([]uint32, len(places))
	for i, place := range places {
		list[i] = uint32(place)
	}
	return list
}

// Best returns the best matches, at most limit, in order. If it must choose among equal scores
// it prefers shorter paths. It keeps the boost of only one directory: the one with the shortest
// path. Of equals the earlier one stays first.
func Best(found []Match, limit int) []Match {
	shortest := -1
	for i, m := range found {
		if m.unboosted == nil {
			continue
		}
		if shortest < 0 || before(m, found[shortest]) {
			i, shortest = shortest, i
		}
		if i >= 0 {
			found[i] = found[i].demoted()
		}
	}
	if len(found) > limit {
		slices.SortStableFunc(found, func(a, b Match) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(len(a.Name), len(b.Name)), a.Compare(b))
		})
		found = found[:limit]
	}
	slices.SortStableFunc(found, Match.Compare)
	return found
}

// before reports whether a directory takes the boost from another.
func before(m, other Match) bool {
	return cmp.Or(cmp.Compare(len(m.Name), len(other.Name)), cmp.Compare(m.Name, other.Name)) < 0
}

func (m Match) demoted() Match {
	plain := *m.unboosted
	plain.Root = m.Root
	return plain
}
