package memory

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"appserver/test/sample"

	"github.com/stretchr/testify/require"
)

// clustered returns vectors of unit length around some subjects, and not around zero, like vectors of
// real texts.
func clustered(random *rand.Rand, count, dimension, subjects int) [][]float32 {
	centers := make([][]float32, subjects)
	for i := range centers {
		centers[i] = gauss(random, dimension, 1)
		for k := range centers[i] {
			centers[i][k] += float32(k%7) / 3
		}
	}
	all := make([][]float32, count)
	for i := range all {
		v := gauss(random, dimension, 0.7)
		for k, x := range centers[random.IntN(subjects)] {
			v[k] += x
		}
		all[i] = unit(v)
	}
	return all
}

func gauss(random *rand.Rand, dimension int, spread float64) []float32 {
	v := make([]float32, dimension)
	for k := range v {
		v[k] = float32(random.NormFloat64() * spread)
	}
	return v
}

func matrixOf(vectors [][]float32) *matrix {
	m := &matrix{dimension: len(vectors[0])}
	for i, v := range vectors {
		m.add(int64(i), v)
	}
	return m
}

// truth returns the rows nearest to a vector, by comparing all.
func truth(vectors [][]float32, v []float32, limit int) []int64 {
	keys := make([]int64, len(vectors))
	similarity := make([]float32, len(vectors))
	for i, row := range vectors {
		keys[i] = int64(i)
		for k, x := range row {
			similarity[i] += x * v[k]
		}
	}
	slices.SortFunc(keys, func(a, b int64) int { return cmp.Compare(similarity[b], similarity[a]) })
	return keys[:limit]
}

// found returns the number of the best ten rows that are among the best twenty of a matrix, over
// some questions.
func found(random *rand.Rand, m *matrix, vectors [][]float32, questions int) float64 {
	hits := 0
	for range questions {
		v := slices.Clone(vectors[random.IntN(len(vectors))])
		for k, x := range gauss(random, len(v), 0.02) {
			v[k] += x
		}
		v = unit(v)
		var got []int64
		for _, n := range m.nearest(v, 20) {
			got = append(got, n.key)
		}
		for _, key := range truth(vectors, v, 10) {
			if slices.Contains(got, key) {
				hits++
			}
		}
	}
	return float64(hits) / float64(10*questions)
}

func TestBytesFindWhatWholeVectorsFind(t *testing.T) {
	sample.NoRace(t)
	for _, c := range []struct {
		rows, dimension int
		least           float64
	}{{10, 3, 1}, {exactRows, 96, 0.99}, {exactRows + 1, 96, 0.95}, {3 * exactRows, 384, 0.97}} {
		t.Run(fmt.Sprintf("%d rows of %d", c.rows, c.dimension), func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			vectors := clustered(random, c.rows, c.dimension, 200)
			require.GreaterOrEqual(t, found(random, matrixOf(vectors), vectors, 20), c.least)
		})
	}
}

func TestSignsFollowAMatrixThatGrows(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	vectors := clustered(random, 3*exactRows, 64, 50)
	m := &matrix{dimension: 64}
	for i, v := range vectors {
		m.add(int64(i), v)
		if i > exactRows && i%3000 == 0 {
			require.Equal(t, int64(i), m.nearest(v, 1)[0].key)
		}
	}
	require.GreaterOrEqual(t, found(random, m, vectors, 20), 0.9)
}

func TestAMatrixWithoutAnswers(t *testing.T) {
	require.Empty(t, (&matrix{dimension: 3}).nearest([]float32{1, 0, 0}, 5))
	m := matrixOf([][]float32{{1, 0, 0}, {0, 0, 0}})
	require.Empty(t, m.nearest([]float32{1, 0}, 5))
	require.Equal(t, []near{{0, 1}, {1, 0}}, m.nearest([]float32{1, 0, 0}, 5))
}

func BenchmarkNearest(b *testing.B) {
	for _, rows := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("%dx768", rows), func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 2))
			vectors := clustered(random, rows, 768, 500)
			m := matrixOf(vectors)
			share := found(random, m, vectors, 10)
			for b.Loop() {
				m.nearest(vectors[7], 100)
			}
			b.ReportMetric(100*share, "recall@10-%")
			b.ReportMetric(float64(m.bytes())/(1<<20), "MiB")
		})
	}
}
