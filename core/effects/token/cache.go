package token

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

const (
	// maxKey is the longest match whose count is kept, in bytes.
	maxKey = 64

	// places is how many counts are kept, a power of two. With the longest keys they
	// take 6 MB.
	places = 1 << 16
)

// counts caches the token counts of matches. Each match has two places, and a new one replaces an old
// one, so the size is bounded. It takes no locks: a lost race costs one more count. The hash is
// seeded, so that no text can be made whose matches all have the same place.
type counts struct {
	seed    maphash.Seed
	entries []atomic.Pointer[entry]
}

type entry struct {
	match  string
	tokens int
}

func newCounts() *counts {
	return &counts{seed: maphash.MakeSeed(), entries: make([]atomic.Pointer[entry], places)}
}

// place returns the place of a match: there, or at its neighbour.
func (c *counts) place(match string) uint64 {
	return maphash.String(c.seed, match) % places
}

func (c *counts) get(place uint64, match string) (tokens int, ok bool) {
	if e := c.entries[place].Load(); e != nil && e.match == match {
		return e.tokens, true
	}
	if e := c.entries[place^1].Load(); e != nil && e.match == match {
		return e.tokens, true
	}
	return 0, false
}

// put keeps a copy of the match, which may be part of a large text.
func (c *counts) put(place uint64, match string, tokens int) {
	e := &entry{strings.Clone(match), tokens}
	if c.entries[place].Load() != nil && c.entries[place^1].CompareAndSwap(nil, e) {
		return
	}
	c.entries[place].Store(e)
}
