package patch

import "slices"

// maxEdits bounds the search for the shortest diff, whose time and memory grow with its square. If
// more edits are needed, all lines from the first change to the last are replaced.
const maxEdits = 1000

// block replaces lines of a by lines of b; the ends are exclusive.
type block struct{ a, aEnd, b, bEnd int }

// blocks returns the differences of two texts, in order.
func blocks(a, b []string) []block {
	head, tail := 0, 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	found := shortest(a[head:len(a)-tail], b[head:len(b)-tail])
	for i := range found {
		found[i] = block{found[i].a + head, found[i].aEnd + head, found[i].b + head, found[i].bEnd + head}
	}
	return found
}

// front is the progress of the search on each diagonal from -edits to edits: the number of lines of
// a that it has passed. The algorithm is that of E. Myers, "An O(ND) difference algorithm and its
// variations", 1986.
type front struct {
	edits int
	at    []int
}

func (f front) on(diagonal int) int { return f.at[diagonal+f.edits] }

// from returns the diagonal of the previous front that reaches furthest on a diagonal with one more
// edit. From above, a line of b is added; from below, a line of a is removed.
func (f front) from(diagonal int) int {
	if diagonal-1 < -f.edits || diagonal+1 <= f.edits && f.on(diagonal-1) < f.on(diagonal+1) {
		return diagonal + 1
	}
	return diagonal - 1
}

// shortest returns the smallest set of blocks that turns a into b.
func shortest(a, b []string) []block {
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	fronts := []front{{0, []int{common(a, b, 0, 0)}}}
	for edits := 1; edits <= maxEdits && len(a) > 0 && len(b) > 0; edits++ {
		next := fronts[edits-1].next(a, b)
		fronts = append(fronts, next)
		if d := len(a) - len(b); d >= -edits && d <= edits && (d+edits)%2 == 0 && next.on(d) >= len(a) {
			return back(fronts, len(a), len(b))
		}
	}
	return []block{{0, len(a), 0, len(b)}}
}

// next returns the front after one more edit.
func (f front) next(a, b []string) front {
	n := front{f.edits + 1, make([]int, 2*f.edits+3)}
	for d := -n.edits; d <= n.edits; d += 2 {
		from := f.from(d)
		x := f.on(from)
		if from < d {
			x++
		}
		n.at[d+n.edits] = x + common(a, b, x, x-d)
	}
	return n
}

// common returns the number of equal lines, from x in a and y in b.
func common(a, b []string, x, y int) int {
	n := 0
	for x >= 0 && y >= 0 && x+n < len(a) && y+n < len(b) && a[x+n] == b[y+n] {
		n++
	}
	return n
}

// back follows the fronts from the end to the start.
func back(fronts []front, x, y int) []block {
	var found []block
	for e := len(fronts) - 1; e > 0; e-- {
		d := x - y
		from := fronts[e-1].from(d)
		x = fronts[e-1].on(from)
		y = x - from
		edit := block{x, x, y, y + 1}
		if from < d {
			edit = block{x, x + 1, y, y}
		}
		found = joined(found, edit)
	}
	slices.Reverse(found)
	return found
}

// joined adds an edit to the blocks found so far, of which the last is the nearest.
func joined(found []block, edit block) []block {
	if n := len(found) - 1; n >= 0 && found[n].a == edit.aEnd && found[n].b == edit.bEnd {
		found[n].a, found[n].b = edit.a, edit.b
		return found
	}
	return append(found, edit)
}
