package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"appserver/platform/database"
	"appserver/rollout"
)

// prose returns text of many different words.
func prose(random *rand.Rand, words int) string {
	var text strings.Builder
	for range words {
		n := random.IntN(20_000)
		fmt.Fprintf(&text, "%s%s ", []string{"pa", "ser", "lo", "min", "tra", "con", "ef", "ur", "ba", "nek"}[n%10],
			[]string{"ted", "ing", "or", "ment", "al"}[n/10%5]+fmt.Sprint(n%7))
	}
	return text.String()
}

// BenchmarkBuild reads 500 threads of 40 messages of about a kilobyte.
func BenchmarkBuild(b *testing.B) {
	r := rigAt(b, b.TempDir())
	random := rand.New(rand.NewPCG(1, 2))
	size := 0
	for n := range 500 {
		var texts []string
		for range 40 {
			texts = append(texts, prose(random, 150))
		}
		content := thread(`"id":"x"`, texts...)
		size += len(content)
		r.put(r.path(n), content)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		r.built()
		b.StopTimer()
		_ = r.ix.Close(context.Background())
		_ = database.MoveAside(r.file())
		r.reopen()
		b.StartTimer()
	}
	b.ReportMetric(500*float64(b.N)/b.Elapsed().Seconds(), "files/s")
	r.built()
	for _, term := range []string{"parmented", "the", "sering"} {
		_, _ = r.ix.Search(r.context(), rollout.Query{Search: term, Limit: 25})
	}
	_ = r.ix.Close(context.Background())
}
