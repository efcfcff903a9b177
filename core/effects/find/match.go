package find

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/junegunn/fzf/src/algo"
	"github.com/junegunn/fzf/src/util"
)

// New returns a finder. The library has global settings, so no search may run during the call.
func New() *Finder {
	algo.Init("path")
	return &Finder{personal: personalRules(os.Getenv)}
}

// Match is a path that matches. Indices are the positions of the matched characters in the path, in
// ascending order.
type Match struct {
	Path
	// Root is set by the caller. Rank leaves it empty.
	Root    string
	Score   uint32
	Indices []uint32
	// unboosted is the match without the boost of a directory, or nil.
	unboosted *Match
}

// Compare returns a negative number if m ranks before other: by score, then by name in byte order.
func (m Match) Compare(other Match) int {
	return cmp.Or(cmp.Compare(other.Score, m.Score), cmp.Compare(m.Name, other.Name))
}

// compare is a function of the library.
type compare func(caseSensitive, normalize, forward bool, text *util.Chars, pattern []rune, withPos bool,
	slab *util.Slab) (algo.Result, *[]int)

// word is a part of a query.
type word struct {
	text    []rune
	compare compare
	not     bool
	// normalize is set if the word has no accents. Then the accents of a path do not count.
	normalize bool
}

// Query is a parsed query.
type Query struct {
	words []word
	// plain is set for one word without operators. Then matches in names rank first.
	plain bool
}

// maxQuery is the maximum size of a query in bytes. The rest is ignored.
const maxQuery = 1 << 10

// NewQuery parses a query.
func NewQuery(text string) Query {
	if len(text) > maxQuery {
		text = strings.ToValidUTF8(text[:maxQuery], "")
	}
	var q Query
	fields := strings.Fields(strings.ToLower(text))
	for _, field := range fields {
		if w, ok := newWord(field); ok {
			q.words = append(q.words, w)
		}
	}
	q.plain = len(fields) == 1 && len(q.words) == 1 && string(q.words[0].text) == fields[0]
	return q
}

// Empty reports whether the query has no words. It matches nothing then.
func (q Query) Empty() bool { return len(q.words) == 0 }

func newWord(text string) (word, bool) {
	w := word{compare: algo.FuzzyMatchV2}
	if text, w.not = strings.CutPrefix(text, "!"); w.not {
		w.compare = algo.ExactMatchNaive
	}
	quoted, begins, ends := false, false, false
	if text, quoted = strings.CutPrefix(text, "'"); !quoted {
		text, begins = strings.CutPrefix(text, "^")
	}
	text, ends = strings.CutSuffix(text, "$")
	switch {
	case begins && ends:
		w.compare = algo.EqualMatch
	case begins:
		w.compare = algo.PrefixMatch
	case ends:
		w.compare = algo.SuffixMatch
	case quoted:
		w.compare = algo.ExactMatchNaive
	}
	w.text = []rune(text)
	w.normalize = slices.Equal(w.text, algo.NormalizeRunes(w.text))
	return w, text != ""
}

// Rank returns the best matches, the best first. It returns none if ctx ends.
func (q Query) Rank(ctx context.Context, paths []Path, limit int) []Match {
	if q.Empty() {
		return nil
	}
	parts := runtime.GOMAXPROCS(0)
	best := make([][]Match, parts)
	var work sync.WaitGroup
	for i := range parts {
		work.Add(1)
		go func() {
			defer work.Done()
			best[i] = q.rank(ctx, paths[i*len(paths)/parts:(i+1)*len(paths)/parts], limit)
		}()
	}
	work.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return Best(slices.Concat(best...), limit)
}

// checkEvery is the number of paths between two checks of the context.
const checkEvery = 1 << 10

// rank ranks a part of the paths.
func (q Query) rank(ctx context.Context, paths []Path, limit int) (best []Match) {
	slab := util.MakeSlab(100<<10, 2<<10)
	for i, p := range paths {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil
		}
		if m, ok := q.match(p, slab); ok {
			best = append(best, m)
		}
		if len(best) >= 4*limit+checkEvery {
			best = Best(best, limit)
		}
	}
	return Best(best, limit)
}

// fit compares a text with all words. Places are in ascending order.
func (q Query) fit(text string, slab *util.Slab) (score int, places []int, ok bool) {
	chars := util.ToChars([]byte(text))
	for _, w := range q.words {
		result, found := w.compare(false, w.normalize, true, &chars, w.text, true, slab)
		if (result.Start >= 0) == w.not {
			return 0, nil, false
		}
		if w.not {
			continue
		}
		at := w.places(result, found)
		score += scoreOf(&chars, at)
		places = append(places, at...)
	}
	slices.Sort(places)
	return score, slices.Compact(places), true
}

// places returns the matched characters in ascending order. The library returns them only for
// words whose characters may stand apart.
func (w word) places(result algo.Result, found *[]int) []int {
	if found != nil {
		slices.Sort(*found)
		return *found
	}
	var places []int
	for i := result.Start; i < result.End; i++ {
		places = append(places, i)
	}
	return places
}
