package memory_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/memory"
)

// benchRows is how many pieces of code the benchmarks have, as a large repository does.
const benchRows = 20_000

// pieces returns chunks of code of some 600 bytes, in files of ten.
func pieces() []memory.CodeFile {
	random := rand.New(rand.NewPCG(1, 2))
	files := make([]memory.CodeFile, benchRows/10)
	for i := range files {
		f := memory.CodeFile{Path: fmt.Sprintf("src/file%d.go", i), Hash: fmt.Sprint(i)}
		for k := range 10 {
			text := ""
			for range 6 {
				_, some := distractor(random)
				text += "// " + some + "\n"
			}
			text += invented(random, 8)
			f.Chunks = append(f.Chunks, memory.Chunk{Title: fmt.Sprintf("%s:%d-%d", f.Path, 40*k+1, 40*k+40), Text: text})
		}
		files[i] = f
	}
	return files
}

// invented returns n of some 150,000 words, as names in code are.
func invented(random *rand.Rand, n int) (text string) {
	syllables := strings.Fields("con fig ser vice port er test base data ling ment pay lock ation read write in dex re pro " +
		"cess list map node key val queue send user name time out sys tem log max min hash link mail item cart tax rate " +
		"bill ship stock find part form text page line word")
	for range n {
		for range 3 {
			text += syllables[random.IntN(len(syllables))]
		}
		text += " "
	}
	return text
}

func BenchmarkStore(b *testing.B) {
	s := memory.Open(memory.Options{Home: b.TempDir()})
	defer func() { require.NoError(b, s.Close()) }()
	ctx := context.Background()
	require.NoError(b, s.Append(ctx, corpus()))
	files := pieces()
	begin := time.Now()
	for i := 0; i < len(files); i += 100 {
		require.NoError(b, s.PutCode(ctx, repo, files[i:i+100]))
	}
	put := time.Since(begin)
	begin = time.Now()
	_, err := s.Search(ctx, memory.Query{RepoKey: repo, Text: "postgres port"})
	require.NoError(b, err)
	first := time.Since(begin) // reads all terms
	b.Run("PutCode", func(b *testing.B) {
		for b.Loop() {
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(put.Microseconds())/benchRows, "µs/chunk")
	})
	b.Run("Search/first", func(b *testing.B) {
		for b.Loop() {
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(first.Milliseconds()), "ms")
	})
	b.Run("Append", func(b *testing.B) {
		for n := 0; b.Loop(); n++ {
			require.NoError(b, s.Append(ctx, []memory.Row{row(int64(n), "title", "some text")}))
		}
	})
	for name, q := range map[string]memory.Query{
		"Search/summaries": {Kinds: []string{memory.Summary},
			Text: "which port does postgres use in the integration tests?", Limit: 3},
		"Search/all":          {Text: "which port does postgres use in the integration tests?", Limit: 10},
		"Search/common words": {Text: "service customers cache production orders billing timeout", Limit: 10},
	} {
		q.RepoKey = repo
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				hits, err := s.Search(ctx, q)
				require.NoError(b, err)
				require.NotEmpty(b, hits)
			}
		})
	}
}
