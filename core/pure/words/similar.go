package words

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	// minRoot is the minimum length of a root, in letters.
	minRoot = 4
	// minSimilar is the similarity from which two terms may be forms of one word.
	minSimilar = 0.5
	// maxSimilar is the similarity of two terms with one root.
	maxSimilar = 0.9
	// minPart is the length in letters from which a root inside another one counts as a part of a compound.
	minPart = 5
)

// suffixes end words of German, French, Spanish, Italian and English, inflected or derived. They have no
// marks.
var suffixes = sync.OnceValue(func() map[byte][]string {
	return suffixesByEnd(`
	ungen ung heiten heit keiten keit nissen nisse nis schaften schaft ern eren ieren iert ierung lich isch end ende en
	er es em e n s t et te ten tet test st
	ements ement ations ation ateurs ateur atrice euses euse eurs eur ances ance ences ence issons issent issant ables
	able ibles ible ites ite ees ee ant ants ent ez ait aient ir re er
	aciones acion iones ion amientos amiento imientos imiento adores ador adora mente ados ado adas ada idos ido idas ida
	ando iendo aron aba aban an amos emos imos ar ir os as o a
	azioni azione izioni izione amenti amento imenti imento atori atore atrici ati ato ate ata iti ito ita uti uto endo
	are ere ire iamo ano ono i
	ments ment ness ities ity ance ing ings ed ly ive ives al ally ors or ers ic y`)
})

// suffixesByEnd returns the suffixes of a list by their last letter.
func suffixesByEnd(list string) map[byte][]string {
	all := map[byte][]string{}
	for _, suffix := range strings.Fields(list) {
		last := suffix[len(suffix)-1]
		all[last] = append(all[last], suffix)
	}
	return all
}

// form is a term as similarity compares it: its root, which is the term without the longest suffix of five
// languages, and each three neighbouring letters of the root. The start of the root counts as a letter, so that
// words with the same start are more similar than words with the same end.
type form struct {
	root     string
	trigrams []uint64
}

// formOf returns the form of a term. The form of a short term, a number and a term in a script without spaces has no
// trigrams: such a term is similar to no other.
func formOf(term string) form {
	if !HasForms(term) {
		return form{root: term}
	}
	f := form{root: root(term)}
	letters := []rune("^" + f.root)
	for i := 0; i+3 <= len(letters); i++ {
		trigram := uint64(letters[i])<<42 | uint64(letters[i+1])<<21 | uint64(letters[i+2])
		if !slices.Contains(f.trigrams, trigram) {
			f.trigrams = append(f.trigrams, trigram)
		}
	}
	return f
}

// HasForms reports whether a term can be similar to others. A short term, a number and a term in a script without
// spaces cannot.
func HasForms(term string) bool {
	return utf8.RuneCountInString(term) >= minRoot && strings.IndexFunc(term, isNoLetter) < 0
}

func isNoLetter(r rune) bool { return r >= '0' && r <= '9' || IsDense(r) }

// root returns a term without its longest suffix.
func root(term string) string {
	longest := 0
	for _, suffix := range suffixes()[term[len(term)-1]] {
		if len(suffix) > longest && strings.HasSuffix(term, suffix) &&
			utf8.RuneCountInString(term)-len(suffix) >= minRoot {
			longest = len(suffix)
		}
	}
	return term[:len(term)-longest]
}

// similarity returns the similarity of two terms, from 0 for no common trigram to nearly 1 for the
// same root, or a root that starts or ends the other one, as in compounds. common is their share of
// common trigrams.
func similarity(a, b string, common float64) float64 {
	if a == b {
		return maxSimilar
	}
	part, whole := a, b
	if len(part) > len(whole) {
		part, whole = whole, part
	}
	if len(part) >= minPart && (strings.HasPrefix(whole, part) || strings.HasSuffix(whole, part)) {
		return maxSimilar
	}
	return min(common, maxSimilar)
}
