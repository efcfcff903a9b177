package history

import (
	"cmp"
	"slices"
)

// Saving is the number of tokens that the edits in force keep out of each request, from a revision on.
type Saving struct{ Revision, Tokens int64 }

// savings has a Saving for each revision that changed it, oldest first.
type savings []Saving

// at returns the tokens of a revision.
func (s savings) at(revision int64) int64 {
	byRevision := func(s Saving, r int64) int { return cmp.Compare(s.Revision, r) }
	i, exact := slices.BinarySearchFunc(s, revision, byRevision)
	if !exact {
		i--
	}
	if i < 0 {
		return 0
	}
	return s[i].Tokens
}

// add returns the savings with more tokens from the latest revision on.
func (s savings) add(revision, tokens int64) savings {
	last := len(s) - 1
	switch {
	case tokens == 0:
		return s
	case last >= 0 && s[last].Revision == revision:
		s[last].Tokens += tokens
		return s
	}
	return append(s, Saving{revision, s.at(revision) + tokens})
}
