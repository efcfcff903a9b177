package memory_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/memory"
	"appserver/test/sample"
)

// scripted is an embedder whose answers a test makes.
type scripted struct {
	name string
	mu   sync.Mutex
	give func(ctx context.Context, texts []string) ([][]float32, error)
	// asked are the texts of each request.
	asked [][]string
}

func newScripted() *scripted {
	return &scripted{name: "scripted", give: newGrams(64).Embed}
}

func (s *scripted) Model() string { return s.name }

func (s *scripted) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	s.mu.Lock()
	s.asked = append(s.asked, texts)
	give := s.give
	s.mu.Unlock()
	return give(ctx, texts)
}

func (s *scripted) answer(give func(ctx context.Context, texts []string) ([][]float32, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.give = give
}

func (s *scripted) requests() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// clock is a time that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func embedded(t *testing.T, by *scripted) (*rig, *clock) {
	at := &clock{now: time.Unix(1_700_000_000, 0)}
	return newRig(t, func(o *memory.Options) {
		o.Embedder, o.Now, o.QueryTimeout = by, at.Now, time.Minute
	}), at
}

func TestVectorsFindWhatWordsDoNot(t *testing.T) {
	by := newScripted()
	r, _ := embedded(t, by)
	r.append(row(1, "one", "authentication of customers"), row(2, "two", "stock of the warehouse"))
	await(t, r.store, 2)
	hits, err := r.store.Search(t.Context(), memory.Query{RepoKey: repo, Text: "buyer"})
	require.NoError(t, err)
	require.Equal(t, "one", hits[0].Title)
	require.Zero(t, hits[0].Match)
	require.Greater(t, hits[0].Similarity, 0.2)
	require.LessOrEqual(t, hits[0].Similarity, 1.0)
	for _, kinds := range [][]string{{memory.Code}, {"dream"}} {
		hits, err = r.store.Search(t.Context(), memory.Query{RepoKey: repo, Text: "buyer", Kinds: kinds})
		require.NoError(t, err)
		require.Empty(t, hits)
	}
}

func TestTextsAreEmbeddedOnceAndInBatches(t *testing.T) {
	by := newScripted()
	r, _ := embedded(t, by)
	var rows []memory.Row
	for n := range 150 {
		rows = append(rows, row(int64(n), "title", fmt.Sprint("text ", n%130)))
	}
	r.append(rows...)
	await(t, r.store, 150)
	total := 0
	for _, texts := range by.requests() {
		require.LessOrEqual(t, len(texts), 64)
		total += len(texts)
	}
	require.Equal(t, 130, total)

	require.NoError(t, r.store.Close())
	second := memory.Open(r.options)
	require.NotEmpty(t, search(t, second, "title"))
	require.NotEmpty(t, search(t, second, "title"))
	require.NoError(t, second.Close())
	require.Equal(t, total+1, len(flat(by.requests())), "the question, once")
}

func flat(lists [][]string) (all []string) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func TestAnEmbedderThatFailsCostsOneWarning(t *testing.T) {
	by := newScripted()
	by.answer(func(context.Context, []string) ([][]float32, error) { return nil, errors.New("connection refused") })
	r, at := embedded(t, by)
	r.append(row(1, "one", "some text"))
	for range 5 {
		require.Equal(t, []string{"one"}, search(t, r.store, "text"))
		at.pass(time.Minute)
	}
	require.Eventually(t, func() bool {
		st, err := r.store.Status(t.Context())
		require.NoError(t, err)
		return st.Error == "connection refused"
	}, time.Minute, time.Millisecond)
	require.Equal(t, []string{"memory is searched by words alone: connection refused"}, r.warned())

	by.answer(newGrams(64).Embed)
	require.Eventually(t, func() bool {
		at.pass(time.Minute)
		_ = search(t, r.store, "text")
		st, err := r.store.Status(t.Context())
		require.NoError(t, err)
		return st.Embedded == 1 && st.Error == "" && st.Dimension == 64
	}, time.Minute, time.Millisecond)
	require.Empty(t, r.warned())
}

func TestAnEmbedderThatFailsIsLeftAlone(t *testing.T) {
	by := newScripted()
	by.answer(func(context.Context, []string) ([][]float32, error) { return nil, errors.New("no") })
	r, _ := embedded(t, by)
	r.append(row(1, "one", "some text"))
	require.Eventually(t, func() bool { return len(by.requests()) > 0 }, time.Minute, time.Millisecond)
	require.Eventually(t, func() bool {
		st, err := r.store.Status(t.Context())
		require.NoError(t, err)
		return st.Error == "no"
	}, time.Minute, time.Millisecond)
	asked := len(by.requests())
	for range 10 {
		require.Len(t, search(t, r.store, "text"), 1)
	}
	require.Len(t, by.requests(), asked)
}

func TestASlowEmbedderIsNotWaitedFor(t *testing.T) {
	by := newScripted()
	r := newRig(t, func(o *memory.Options) { o.Embedder, o.QueryTimeout = by, time.Millisecond })
	r.append(row(1, "one", "some text"))
	await(t, r.store, 1)
	by.answer(func(ctx context.Context, _ []string) ([][]float32, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	hits, err := r.store.Search(t.Context(), memory.Query{RepoKey: repo, Text: "text"})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	require.Zero(t, hits[0].Similarity)
	require.NoError(t, r.store.Close())
	require.Equal(t, []string{"memory is searched by words alone: no vector of a question came within 1ms"}, r.warned())
}

// refusal is the error of an embedder that rejects a text.
type refusal struct{}

func (refusal) Error() string { return "the text is too long" }
func (refusal) Refused() bool { return true }

func TestATextThatIsRefusedKeepsNoOtherFromItsVector(t *testing.T) {
	by := newScripted()
	by.answer(func(ctx context.Context, texts []string) ([][]float32, error) {
		for _, text := range texts {
			if strings.Contains(text, "poison") {
				return nil, fmt.Errorf("request: %w", refusal{})
			}
		}
		return newGrams(64).Embed(ctx, texts)
	})
	r, _ := embedded(t, by)
	r.append(row(1, "one", "text"), row(2, "two", "poison"), row(3, "three", "text of three"))
	await(t, r.store, 3)
	require.Empty(t, r.warned())
	require.Len(t, search(t, r.store, "text"), 2)
	require.Contains(t, search(t, r.store, "poison"), "two", "words find it")
	asked := len(by.requests())
	require.NoError(t, r.store.Close())
	require.Len(t, search(t, r.other(), "poison of another time"), 1)
	require.LessOrEqual(t, len(by.requests()), asked+1, "it is not asked for again")
}

func TestAnEmbedderThatRefusesEverythingFails(t *testing.T) {
	by := newScripted()
	by.answer(func(context.Context, []string) ([][]float32, error) { return nil, refusal{} })
	r, _ := embedded(t, by)
	r.append(row(1, "one", "text"))
	require.Eventually(t, func() bool {
		st, err := r.store.Status(t.Context())
		require.NoError(t, err)
		return st.Error == "the text is too long"
	}, time.Minute, time.Millisecond)
	st, err := r.store.Status(t.Context())
	require.NoError(t, err)
	require.Zero(t, st.Embedded)
}

func TestVectorsOfAnotherModelDoNotCount(t *testing.T) {
	by := newScripted()
	r, _ := embedded(t, by)
	r.append(row(1, "one", "text one"), row(2, "two", "text two"))
	await(t, r.store, 2)
	dimension := func(s *memory.Store) int {
		st, err := s.Status(t.Context())
		require.NoError(t, err)
		return st.Dimension
	}
	require.Equal(t, 64, dimension(r.store))
	require.NoError(t, r.store.Close())

	t.Run("another name", func(t *testing.T) {
		other := newScripted()
		other.name = "other"
		other.answer(newGrams(32).Embed)
		o := r.options
		o.Embedder = other
		s := memory.Open(o)
		_ = search(t, s, "text")
		await(t, s, 2)
		require.Equal(t, 32, dimension(s))
		require.Len(t, search(t, s, "text"), 2)
		require.NoError(t, s.Close())
	})
	t.Run("another length", func(t *testing.T) {
		by.answer(newGrams(16).Embed)
		s := memory.Open(r.options)
		require.NoError(t, s.Append(t.Context(), []memory.Row{row(3, "three", "text three")}))
		require.Eventually(t, func() bool { return dimension(s) == 16 }, time.Minute, time.Millisecond)
		await(t, s, 3)
		hits, err := s.Search(t.Context(), memory.Query{RepoKey: repo, Text: "text"})
		require.NoError(t, err)
		require.Len(t, hits, 3)
		for _, h := range hits {
			require.NotZero(t, h.Similarity, h.Title)
		}
		require.NoError(t, s.Close())
	})
}

func TestInvalidVectorsAreRejected(t *testing.T) {
	for want, vectors := range map[string][][]float32{
		"gave 1 vectors for 2 texts":         {{1}},
		"vectors of 2 and of 1 numbers":      {{1, 2}, {1}},
		"vectors of 0 and of 0 numbers":      {{}, {}},
		"a vector with a number that is non": {{1}, {float32(math.NaN())}},
	} {
		t.Run(want, func(t *testing.T) {
			by := newScripted()
			by.answer(func(context.Context, []string) ([][]float32, error) { return vectors, nil })
			r, _ := embedded(t, by)
			r.append(row(1, "one", "some text"), row(2, "two", "more text"))
			require.Eventually(t, func() bool {
				st, err := r.store.Status(t.Context())
				require.NoError(t, err)
				return strings.Contains(st.Error, want)
			}, time.Minute, time.Millisecond)
			require.Len(t, search(t, r.store, "text"), 2)
		})
	}
}

func TestRowsOfOtherProcessesAreEmbedded(t *testing.T) {
	by := newScripted()
	r, _ := embedded(t, by)
	o := r.options
	o.Embedder = nil
	plain := memory.Open(o)
	require.NoError(t, plain.Append(t.Context(), []memory.Row{row(1, "one", "text")}))
	require.NoError(t, plain.Close())
	require.Len(t, search(t, r.store, "text"), 1)
	await(t, r.store, 1)
	require.NoError(t, r.store.PutCode(t.Context(), repo,
		[]memory.CodeFile{{Path: "a", Hash: "1", Chunks: []memory.Chunk{{Title: "a", Text: "code"}}}}))
	await(t, r.store, 2)
	require.Equal(t, []string{"a", "one"}, search(t, r.store, "codes"), "vectors come with the rows")
	require.NoError(t, r.store.DropCode(t.Context(), repo, []string{"a"}))
	require.Equal(t, []string{"one"}, search(t, r.store, "codes"), "and go")
}

func TestCloseEndsAnEmbedderThatWorks(t *testing.T) {
	by := newScripted()
	begun := make(chan struct{}, 10)
	by.answer(func(ctx context.Context, _ []string) ([][]float32, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	r, _ := embedded(t, by)
	r.append(row(1, "one", "text"))
	<-begun
	require.NoError(t, r.store.Close())
	require.Empty(t, r.warned())
}

func TestVectorsOfEachRepositoryAreItsOwn(t *testing.T) {
	by := newScripted()
	r, _ := embedded(t, by)
	other := r.other()
	for n := range int64(4) {
		theirs := row(n, fmt.Sprint("theirs ", n), fmt.Sprint("authentication ", n))
		theirs.RepoKey = "/home/ann/other"
		r.append(row(n, fmt.Sprint("ours ", n), fmt.Sprint("authentication ", n)), theirs)
		await(t, r.store, 2*(n+1))
		for _, s := range []*memory.Store{r.store, other} {
			for of, count := range map[string]int64{repo: n + 1, "/home/ann/other": n + 1, "": 2 * (n + 1)} {
				hits, err := s.Search(t.Context(), memory.Query{RepoKey: of, Text: "reauthenticating", Limit: 100})
				require.NoError(t, err)
				require.Len(t, hits, int(count), "%q", of)
				for _, h := range hits {
					require.Positive(t, h.Similarity)
				}
			}
		}
	}
}

// TestVectorsOfManyRowsAreCompared has so many that signs choose which are.
func TestVectorsOfManyRowsAreCompared(t *testing.T) {
	sample.NoRace(t)
	sample.Long(t)
	by := newScripted()
	r, _ := embedded(t, by)
	const files, chunks = 42, 100
	for n := range files {
		f := memory.CodeFile{Path: fmt.Sprint("f", n), Hash: "1"}
		for k := range chunks {
			f.Chunks = append(f.Chunks,
				memory.Chunk{Title: fmt.Sprintf("f%d:%d", n, k), Text: fmt.Sprintf("stock %d of warehouse %d", k, n)})
		}
		require.NoError(t, r.store.PutCode(t.Context(), repo, []memory.CodeFile{f}))
	}
	r.append(row(1, "wanted", "authentication of customers"))
	await(t, r.store, files*chunks+1)
	for range 2 {
		hits, err := r.store.Search(t.Context(), memory.Query{RepoKey: repo, Text: "reauthenticating customer"})
		require.NoError(t, err)
		require.Equal(t, "wanted", hits[0].Title)
		require.Greater(t, hits[0].Similarity, 0.3)
		_, err = r.store.Forget(t.Context(), memory.Selection{IDs: []string{hits[1].ID}})
		require.NoError(t, err)
	}
	require.Empty(t, r.warned())
}

// TestAQuestionsVectorThatCannotBeUsedIsLeftOut lets words decide, and keeps the vectors of rows.
func TestAQuestionsVectorThatCannotBeUsedIsLeftOut(t *testing.T) {
	none := make([]float32, 64)
	infinite, noNumber := make([]float32, 64), make([]float32, 64)
	infinite[3], noNumber[63] = float32(math.Inf(1)), float32(math.NaN())
	for name, c := range map[string]struct {
		vectors [][]float32
		err     string
	}{
		"no number":         {[][]float32{noNumber}, "a vector with a number that is none"},
		"infinite":          {[][]float32{infinite}, "a vector with a number that is none"},
		"missing":           {nil, "gave 0 vectors for 1 texts"},
		"two":               {[][]float32{none, none}, "gave 2 vectors for 1 texts"},
		"empty":             {[][]float32{{}}, "vectors of 0 and of 0 numbers"},
		"another dimension": {[][]float32{{1, 0, 0}}, ""},
		"zero":              {[][]float32{none}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			by := newScripted()
			r, _ := embedded(t, by)
			r.append(row(1, "one", "some text"), row(2, "two", "authentication"))
			await(t, r.store, 2)
			by.answer(func(context.Context, []string) ([][]float32, error) { return c.vectors, nil })
			hits, err := r.store.Search(t.Context(), memory.Query{RepoKey: repo, Text: "text"})
			require.NoError(t, err)
			require.Equal(t, "one", hits[0].Title)
			for _, h := range hits {
				require.Zero(t, h.Similarity)
			}
			st, err := r.store.Status(t.Context())
			require.NoError(t, err)
			require.Contains(t, st.Error, c.err)
			require.Equal(t, c.err == "", st.Error == "")
			require.EqualValues(t, 2, st.Embedded)
			require.Equal(t, 64, st.Dimension)
		})
	}
}
