package memory

import (
	"math"
	"math/bits"
	"slices"
)

const (
	// exactRows is the maximum number of rows that are all compared. Of more rows, only those whose
	// signs are near to the question's are compared.
	exactRows = 4000
	// sketchShare is the divisor of the number of rows to compare then, and sketchRows its minimum.
	sketchShare, sketchRows = 25, 2000
)

// matrix has vectors of unit length, with one byte for each number.
type matrix struct {
	dimension int
	keys      []int64
	// codes has dimension numbers for each row, in units of the row's scale.
	codes  []int8
	scales []float32
	// signs has one bit for each number: whether it is above the mean of all rows. It is computed
	// when there are many rows, and again when they have doubled.
	signs  []uint64
	mean   []float32
	signed int
}

func (m *matrix) bytes() int { return len(m.codes) + 8*len(m.keys) + 4*len(m.scales) + 8*len(m.signs) }

// add appends a vector of the matrix's dimension.
func (m *matrix) add(key int64, v []float32) {
	code, scale := quantised(v)
	m.keys = append(m.keys, key)
	m.codes = append(m.codes, code...)
	m.scales = append(m.scales, scale)
}

// quantised returns a vector as bytes, and the value of one unit.
func quantised(v []float32) ([]int8, float32) {
	most := float32(0)
	for _, x := range v {
		most = max(most, max(x, -x))
	}
	code := make([]int8, len(v))
	if most == 0 {
		return code, 0
	}
	for i, x := range v {
		code[i] = int8(math.Round(float64(x / most * 127)))
	}
	return code, most / 127
}

func (m *matrix) row(i int) []int8 { return m.codes[i*m.dimension : (i+1)*m.dimension] }

// near is a row and the cosine of its angle to a question.
type near struct {
	key        int64
	similarity float64
}

// nearest returns the rows nearest to a vector of unit length, with the precision of bytes.
func (m *matrix) nearest(v []float32, limit int) []near {
	if len(v) != m.dimension || len(m.keys) == 0 {
		return nil
	}
	code, scale := quantised(v)
	best := ranking{limit: limit}
	if len(m.keys) <= exactRows {
		for i := range m.keys {
			best.offer(m.keys[i], float32(dot(code, m.row(i)))*scale*m.scales[i])
		}
		return best.sorted()
	}
	m.sketch()
	for _, i := range m.likely(v, max(sketchRows, len(m.keys)/sketchShare)) {
		best.offer(m.keys[i], float32(dot(code, m.row(i)))*scale*m.scales[i])
	}
	return best.sorted()
}

// dot returns the sum of the products of two rows of one length.
func dot(a, b []int8) int32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 int32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		x, y := a[i:i+4:i+4], b[i:i+4:i+4]
		s0 += int32(x[0]) * int32(y[0])
		s1 += int32(x[1]) * int32(y[1])
		s2 += int32(x[2]) * int32(y[2])
		s3 += int32(x[3]) * int32(y[3])
	}
	for ; i < len(a); i++ {
		s0 += int32(a[i]) * int32(b[i])
	}
	return s0 + s1 + s2 + s3
}

func (m *matrix) words() int { return (m.dimension + 63) / 64 }

// sketch computes the signs of rows that have none.
func (m *matrix) sketch() {
	if len(m.keys) >= 2*m.signed {
		m.average()
		m.signs, m.signed = m.signs[:0], 0
	}
	row := make([]float32, m.dimension)
	for ; m.signed < len(m.keys); m.signed++ {
		for k, c := range m.row(m.signed) {
			row[k] = float32(c) * m.scales[m.signed]
		}
		m.signs = m.appendSigns(m.signs, row)
	}
}

func (m *matrix) average() {
	sums := make([]float64, m.dimension)
	for i := range m.keys {
		scale := float64(m.scales[i])
		for k, c := range m.row(i) {
			sums[k] += float64(c) * scale
		}
	}
	m.mean = make([]float32, m.dimension)
	for k := range sums {
		m.mean[k] = float32(sums[k] / float64(len(m.keys)))
	}
}

func (m *matrix) appendSigns(to []uint64, v []float32) []uint64 {
	for begin := 0; begin < len(v); begin += 64 {
		var word uint64
		for k := begin; k < min(begin+64, len(v)); k++ {
			if v[k] > m.mean[k] {
				word |= 1 << (k - begin)
			}
		}
		to = append(to, word)
	}
	return to
}

// likely returns the indices of about count rows whose signs differ least from a vector's.
func (m *matrix) likely(v []float32, count int) []int {
	asked, words := m.appendSigns(nil, v), m.words()
	distances := make([]uint16, len(m.keys))
	histogram := make([]int, 64*words+1)
	for i := range distances {
		d := 0
		row := m.signs[i*words : (i+1)*words]
		for k, word := range asked[:len(row)] {
			d += bits.OnesCount64(word ^ row[k])
		}
		distances[i] = uint16(d)
		histogram[d]++
	}
	within := 0
	for sum := 0; within < len(histogram); within++ {
		if sum += histogram[within]; sum >= count {
			break
		}
	}
	var rows []int
	for i, d := range distances {
		if int(d) <= within {
			rows = append(rows, i)
		}
	}
	return rows
}

// ranking keeps the best of the offered rows.
type ranking struct {
	limit int
	list  []near
	least float64
}

func (r *ranking) offer(key int64, similarity float32) {
	s := float64(similarity)
	if len(r.list) >= 2*r.limit {
		r.cut()
	}
	if len(r.list) < r.limit || s > r.least {
		r.list = append(r.list, near{key, s})
	}
}

func (r *ranking) cut() {
	slices.SortFunc(r.list, func(a, b near) int {
		switch {
		case a.similarity > b.similarity:
			return -1
		case a.similarity < b.similarity:
			return 1
		}
		return int(b.key - a.key)
	})
	if len(r.list) > r.limit {
		r.list = r.list[:r.limit]
	}
	if len(r.list) == r.limit {
		r.least = r.list[r.limit-1].similarity
	}
}

func (r *ranking) sorted() []near {
	r.cut()
	return r.list
}
