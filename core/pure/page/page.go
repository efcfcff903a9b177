// Package page divides lists in memory into pages.
//
// A page is named by its first entry, a direction and a size. [Size] applies the limits of a method
// to the size that a client requests. [First] cuts the rest of a list, [Indices] selects entries of
// a list in either direction. Cursors are the business of the callers: each list has entries of its
// own to name, and the words of its own errors.
//
// # Decisions
//
// A page never says "more" if the next one would be empty. So both functions look one entry ahead,
// and a client that follows cursors until there is none does not make a request in vain.
package page

import "math"

// Unlimited is a page size that no list reaches.
const Unlimited = math.MaxInt32

// Size returns the number of entries on a page: the requested one, at least 1 and at most maximum,
// or usual if requested is nil.
func Size(requested *uint32, usual, maximum int) int {
	if requested == nil {
		return usual
	}
	return int(min(max(int64(*requested), 1), int64(maximum)))
}

// First returns the first entries of a list, at most size, and reports whether there are more.
func First[T any](list []T, size int) (entries []T, more bool) {
	if size >= len(list) {
		return list, false
	}
	return list[:size], true
}

// Direction is the order in which pages visit a list: 1 is ascending, -1 descending.
type Direction int

// The directions.
const (
	Ascending  Direction = 1
	Descending Direction = -1
)

// Begin returns the index of the first entry in this direction.
func (d Direction) Begin(length int) int {
	if d == Descending {
		return length - 1
	}
	return 0
}

// Next returns the index of the entry that follows in this direction.
func (d Direction) Next(index int) int { return index + int(d) }

// Indices returns the indices of the entries from begin on, at most size, and reports whether there
// are more. fits selects the entries of the page; nil selects all. A begin outside of the list has
// no entries.
func (d Direction) Indices(begin, length, size int, fits func(index int) bool) (indices []int, more bool) {
	for i := begin; i >= 0 && i < length; i = d.Next(i) {
		switch {
		case fits != nil && !fits(i):
		case len(indices) == size:
			return indices, true
		default:
			indices = append(indices, i)
		}
	}
	return indices, false
}
