package token

// candidate is a pair of neighbouring parts: 32 bits of the rank of the token that they make, and 32 bits
// of the index of the first one. The lowest candidate is merged next; of equal ranks, the leftmost.
type candidate uint64

func newCandidate(rank uint32, first int32) candidate {
	return candidate(rank)<<32 | candidate(first)
}

func (c candidate) first() int32 { return int32(uint32(c)) }

// merger merges the bytes of one piece of text into tokens. A part is named by the index of its first byte.
// Parts that were merged into the part before them have next 0.
type merger struct {
	table      *table
	piece      string
	next, prev []int32
	candidates queue
}

// countParts returns the number of tokens of a piece of text, which has at most 2 GiB, in n log n time.
func (t *table) countParts(piece string) int {
	n := int32(len(piece))
	m := &merger{table: t, piece: piece, next: make([]int32, n+1), prev: make([]int32, n+1)}
	m.candidates = make(queue, 0, n)
	for i := range n {
		m.next[i], m.prev[i] = i+1, i-1
	}
	for i := range n {
		m.add(i)
	}
	parts := len(piece)
	for len(m.candidates) > 0 {
		if m.merge(m.candidates.pop()) {
			parts--
		}
	}
	return parts
}

// pair returns the candidate of a part and the next one, if both make a token.
func (m *merger) pair(first int32) (c candidate, found bool) {
	second := m.next[first]
	if second == 0 || second == int32(len(m.piece)) {
		return 0, false
	}
	rank, found := m.table.rank(m.piece[first:m.next[second]])
	return newCandidate(rank, first), found
}

func (m *merger) add(first int32) {
	if c, found := m.pair(first); found {
		m.candidates.push(c)
	}
}

// merge merges the parts of a candidate. It reports false if another merge has taken one of them.
func (m *merger) merge(c candidate) bool {
	first := c.first()
	if now, found := m.pair(first); !found || now != c {
		return false
	}
	second := m.next[first]
	third := m.next[second]
	m.next[first], m.next[second] = third, 0
	m.prev[third] = first
	m.add(first)
	if before := m.prev[first]; before >= 0 {
		m.add(before)
	}
	return true
}

// queue is a binary heap. Unlike container/heap it does not allocate.
type queue []candidate

func (q *queue) push(c candidate) {
	*q = append(*q, c)
	h := *q
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if h[parent] <= h[i] {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

func (q *queue) pop() candidate {
	h := *q
	lowest := h[0]
	h[0] = h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	for i := 0; 2*i+1 < len(h); {
		child := 2*i + 1
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if h[i] <= h[child] {
			break
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
	return lowest
}
