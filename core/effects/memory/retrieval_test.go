package memory_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/memory"
	"appserver/test/sample"
)

// quality is how well questions were answered: Recall is the share of those whose passage was
// among the first three, MRR the mean of 1 divided by its rank, 0 beyond ten.
type quality struct {
	questions   int
	recall, mrr float64
	took        time.Duration
	missed      []string
}

// ask asks for every fact.
func ask(t testing.TB, s *memory.Store) quality {
	var q quality
	for _, f := range facts() {
		for _, question := range f.questions {
			begin := time.Now()
			hits, err := s.Search(context.Background(), memory.Query{RepoKey: repo, Text: question, Limit: 10})
			q.took += time.Since(begin)
			require.NoError(t, err)
			q.count(question, rank(hits, f.title))
		}
	}
	q.recall /= float64(q.questions)
	q.mrr /= float64(q.questions)
	return q
}

// nearest asks vectors alone.
func nearest(t testing.TB, by memory.Embedder) quality {
	rows := corpus()
	var texts []string
	for _, r := range rows {
		texts = append(texts, r.Title+"\n"+r.Text)
	}
	passages, err := by.Embed(context.Background(), texts)
	require.NoError(t, err)
	var q quality
	for _, f := range facts() {
		for _, question := range f.questions {
			begin := time.Now()
			asked, err := by.Embed(context.Background(), []string{question})
			require.NoError(t, err)
			hits := make([]memory.Hit, len(rows))
			for i, v := range passages {
				hits[i] = memory.Hit{Row: rows[i], Similarity: cosine(asked[0], v)}
			}
			slices.SortFunc(hits, func(a, b memory.Hit) int { return cmp.Compare(b.Similarity, a.Similarity) })
			q.took += time.Since(begin)
			q.count(question, rank(hits[:10], f.title))
		}
	}
	q.recall /= float64(q.questions)
	q.mrr /= float64(q.questions)
	return q
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

func rank(hits []memory.Hit, title string) int {
	for i, h := range hits {
		if h.Title == title {
			return i + 1
		}
	}
	return 0
}

func (q *quality) count(question string, rank int) {
	q.questions++
	if rank > 0 {
		q.mrr += 1 / float64(rank)
	}
	if rank > 0 && rank <= 3 {
		q.recall++
	} else {
		q.missed = append(q.missed, fmt.Sprintf("%s (%d)", question, rank))
	}
}

// filled returns a store with the corpus, in which every row has a vector if there is an embedder.
func filled(t testing.TB, by memory.Embedder) *memory.Store {
	s := memory.Open(memory.Options{Home: t.TempDir(), Embedder: by, QueryTimeout: time.Minute})
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	rows := corpus()
	require.NoError(t, s.Append(context.Background(), rows))
	if by != nil {
		await(t, s, int64(len(rows)))
	}
	return s
}

// await waits until so many rows have a vector. The race detector makes SQLite ten times slower.
func await(t testing.TB, s *memory.Store, rows int64) {
	t.Helper()
	require.Eventually(t, func() bool {
		st, err := s.Status(context.Background())
		require.NoError(t, err)
		return st.Embedded == rows
	}, 5*time.Minute, 25*time.Millisecond)
}

// TestQuestionsAreAnswered has bounds a little below what the benchmark shows, so that a change
// which harms retrieval fails.
func TestQuestionsAreAnswered(t *testing.T) {
	sample.NoRace(t)
	sample.Long(t)
	require.GreaterOrEqual(t, len(corpus()), 2000)
	words := ask(t, filled(t, nil))
	vectors := nearest(t, newGrams(1024))
	both := ask(t, filled(t, newGrams(1024)))
	t.Logf("words %.3f %.3f, vectors %.3f %.3f, both %.3f %.3f", words.recall, words.mrr, vectors.recall, vectors.mrr,
		both.recall, both.mrr)
	require.GreaterOrEqual(t, words.questions, 200)
	require.GreaterOrEqual(t, words.recall, 0.87)
	require.GreaterOrEqual(t, words.mrr, 0.85)
	require.GreaterOrEqual(t, both.recall, max(words.recall, vectors.recall)-0.01)
	require.GreaterOrEqual(t, both.mrr, max(words.mrr, vectors.mrr)-0.01)
	require.GreaterOrEqual(t, both.recall, 0.89)
	require.GreaterOrEqual(t, both.mrr, 0.86)
}

// TestMatchSeparatesRelevantHits: what a question's words are in stands out from what small talk finds.
func TestMatchSeparatesRelevantHits(t *testing.T) {
	sample.NoRace(t)
	s := filled(t, nil)
	found, meant := 0, 0
	for _, f := range facts() {
		for _, question := range f.questions {
			hits, err := s.Search(t.Context(), memory.Query{RepoKey: repo, Text: question, Limit: 1})
			require.NoError(t, err)
			if len(hits) > 0 && hits[0].Title == f.title {
				found++
				if hits[0].Match >= 0.35 {
					meant++
				}
			}
		}
	}
	require.GreaterOrEqual(t, float64(meant)/float64(found), 0.85)
	for _, talk := range []string{
		"thanks, that looks good to me", "please continue with the next step", "ok", "hmm, I am not sure whether I like it",
		"explain the theory of relativity briefly",
		"good morning, what shall we have for lunch", "write a poem about autumn leaves",
		"undo that and try another approach", "can you summarise what you did",
	} {
		hits, err := s.Search(t.Context(), memory.Query{RepoKey: repo, Text: talk, Limit: 1})
		require.NoError(t, err)
		for _, h := range hits {
			t.Logf("%.2f %s: %s", h.Match, talk, h.Title)
			require.Less(t, h.Match, 0.35, talk)
		}
	}
}

func BenchmarkRetrieval(b *testing.B) {
	words, both := filled(b, nil), filled(b, newGrams(1024))
	for name, run := range map[string]func() quality{
		"words":   func() quality { return ask(b, words) },
		"vectors": func() quality { return nearest(b, newGrams(1024)) },
		"hybrid":  func() quality { return ask(b, both) },
	} {
		b.Run(name, func(b *testing.B) {
			var q quality
			for b.Loop() {
				q = run()
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(100*q.recall, "recall@3-%")
			b.ReportMetric(q.mrr, "MRR")
			b.ReportMetric(float64(q.took.Microseconds())/1000/float64(q.questions), "ms/query")
			if testing.Verbose() {
				for _, m := range q.missed {
					b.Log(m)
				}
			}
		})
	}
}
