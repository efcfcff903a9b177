package token

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

const (
	// maxKey is the longest chunk whose count is kept, in bytes.
	maxKey = 64

	// places is how many counts are kept, a power of two. With the longest keys they
	// take 6 MB.
	places = 1 << 16
)

// counts keeps the token counts of chunks. It has two places for each chunk, and a
// new one drives out an old one, so its size is bounded by its places. It takes no
// locks: who loses a race counts once more. The hash is seeded, so that nobody can
// write text whose chunks all want the same places.
type counts struct {
	seed    maphash.Seed
	entries []atomic.Pointer[entry]
}

type entry struct {
	chunk  string
	tokens int
}

func newCounts() *counts {
	return &counts{seed: maphash.MakeSeed(), entries: make([]atomic.Pointer[entry], places)}
}

// place is where a chunk is kept: there, or at its neighbour.
func (c *counts) place(chunk string) uint64 {
	return maphash.String(c.seed, chunk) % places
}

func (c *counts) get(place uint64, chunk string) (tokens int, ok bool) {
	if e := c.entries[place].Load(); e != nil && e.chunk == chunk {
		return e.tokens, true
	}
	if e := c.entries[place^1].Load(); e != nil && e.chunk == chunk {
		return e.tokens, true
	}
	return 0, false
}

// put keeps a copy of the chunk, which may be part of a large text.
func (c *counts) put(place uint64, chunk string, tokens int) {
	e := &entry{strings.Clone(chunk), tokens}
	if c.entries[place].Load() != nil && c.entries[place^1].CompareAndSwap(nil, e) {
		return
	}
	c.entries[place].Store(e)
}
