package find

import (
	"cmp"
	"context"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/junegunn/fzf/src/algo"
	"github.com/junegunn/fzf/src/util"
)

// Finder walks and ranks.
type Finder struct{ personal string }

// New makes a finder. The library keeps what it prefers for all of the program, so no search
// may run meanwhile.
func New() *Finder {
	algo.Init("path")
	return &Finder{personal: personalRules(os.Getenv)}
}

// Match is a path that fits. Indices are the characters that do, as places in the path in
// ascending order.
type Match struct {
	Path
	Score   uint32
	Indices []uint32
}

// Compare is negative where a match is the better one: by score, then the shorter path, then
// by name.
func (m Match) Compare(other Match) int {
	return cmp.Or(cmp.Compare(other.Score, m.Score), cmp.Compare(len(m.Name), len(other.Name)), cmp.Compare(m.Name, other.Name))
}

// What is better about a file name than any sum of good characters: it is what was asked for,
// or begins with it.
const (
	nameIs     = 2 << 16
	nameBegins = 1 << 16
)

// compare is a function of the library.
type compare func(caseSensitive, normalize, forward bool, text *util.Chars, pattern []rune, withPos bool, slab *util.Slab) (algo.Result, *[]int)

// word is a part of a query.
type word struct {
	text    []rune
	compare compare
	not     bool
}

// Query is what is looked for.
type Query struct {
	words []word
	// name is the query as a file name, in lower case, where it is one word.
	name string
}

// maxQuery is how many bytes of a query count.
const maxQuery = 1 << 10

// NewQuery reads a query.
func NewQuery(text string) Query {
	if len(text) > maxQuery {
		text = strings.ToValidUTF8(text[:maxQuery], "")
	}
	var q Query
	for _, field := range strings.Fields(strings.ToLower(text)) {
		if w, ok := newWord(field); ok {
			q.words = append(q.words, w)
		}
	}
	if len(q.words) == 1 && !q.words[0].not {
		q.name = string(q.words[0].text)
	}
	return q
}

// Empty tells whether nothing is looked for. Then nothing fits.
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
	w.text = algo.NormalizeRunes([]rune(text))
	return w, text != ""
}

// Rank gives the paths that fit best, the best first. Where ctx ends it gives none.
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
	return q.placed(trim(slices.Concat(best...), limit))
}

// checkEvery is after how many paths it is looked whether the search goes on.
const checkEvery = 1 << 10

// rank is a part of Rank, without indices.
func (q Query) rank(ctx context.Context, paths []Path, limit int) (best []Match) {
	slab := util.MakeSlab(100<<10, 2<<10)
	for i, p := range paths {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil
		}
		if score, _, ok := q.fit(p, false, slab); ok {
			best = append(best, Match{Path: p, Score: score})
		}
		if len(best) >= 4*limit+checkEvery {
			best = trim(best, limit)
		}
	}
	return trim(best, limit)
}

// trim sorts, and keeps the best.
func trim(found []Match, limit int) []Match {
	slices.SortFunc(found, Match.Compare)
	return found[:min(len(found), limit)]
}

// placed adds the indices.
func (q Query) placed(found []Match) []Match {
	for i, m := range found {
		_, places, _ := q.fit(m.Path, true, nil)
		slices.Sort(places)
		found[i].Indices = []uint32{}
		for _, place := range slices.Compact(places) {
			found[i].Indices = append(found[i].Indices, uint32(place))
		}
	}
	return found
}

// fit compares a path with all words.
func (q Query) fit(p Path, withPlaces bool, slab *util.Slab) (score uint32, places []int, ok bool) {
	text := util.ToChars([]byte(p.Name))
	sum := 0
	for _, w := range q.words {
		result, found := w.compare(false, true, true, &text, w.text, withPlaces, slab)
		if (result.Start >= 0) == w.not {
			return 0, nil, false
		}
		if w.not {
			continue
		}
		sum += max(result.Score, 0)
		if withPlaces {
			places = append(places, w.places(result, found)...)
		}
	}
	return uint32(sum) + q.nameScore(p.Name), places, true
}

// places are the characters that fit: the library tells them of words whose characters may
// stand apart.
func (w word) places(result algo.Result, found *[]int) []int {
	if found != nil {
		return *found
	}
	var places []int
	for i := result.Start; i < result.End; i++ {
		places = append(places, i)
	}
	return places
}

// nameScore is what a file name adds.
func (q Query) nameScore(name string) uint32 {
	base := path.Base(name)
	switch {
	case q.name == "":
		return 0
	case strings.EqualFold(base, q.name):
		return nameIs
	case len(base) > len(q.name) && strings.EqualFold(base[:len(q.name)], q.name):
		return nameBegins
	}
	return 0
}
