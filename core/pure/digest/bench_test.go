package digest_test

import (
	"strings"
	"testing"

	"appserver/core/pure/digest"
	"appserver/protocol"
)

// longStretch returns 50 MB of items: requests, answers, calls, and outputs of which some
// are large.
func longStretch() (items []protocol.ResponseItem) {
	output := strings.Repeat("main.go:12: a line of what a program writes, never too long\n", 1000)
	prose := strings.Repeat("The parser must keep its names. We will use a table instead. Is it enough? 不要修改。\n", 50)
	for size := 0; size < 50<<20; size += len(output) + 3*len(prose) {
		id := numbered("call_", size)
		items = append(items, user(prose), assistant(prose), shell(id, numbered("go test -run ", size)+" > out.txt"),
			answer(id, "Exit code: 1\nOutput:\n"+output), assistant(prose))
	}
	return items
}

func bench(b *testing.B, run func(items []protocol.ResponseItem)) {
	items := longStretch()
	b.SetBytes(50 << 20)
	for b.Loop() {
		run(items)
	}
}

func BenchmarkOf(b *testing.B) { bench(b, func(items []protocol.ResponseItem) { digest.Of(items) }) }

func BenchmarkExtract(b *testing.B) {
	bench(b, func(items []protocol.ResponseItem) { digest.Extract("", items, 16<<10) })
}

func BenchmarkTranscript(b *testing.B) {
	bench(b, func(items []protocol.ResponseItem) { digest.Transcript(items, 200<<10) })
}

// Words alone are the most work for each byte.
func BenchmarkOfWords(b *testing.B) {
	one := strings.Repeat("The parser must keep its names, and never forget one of them. ", 850<<10)
	b.SetBytes(int64(len(one)))
	for b.Loop() {
		digest.Of([]protocol.ResponseItem{user(one)})
	}
}

func BenchmarkMissing(b *testing.B) {
	items := longStretch()
	facts, text := digest.Of(items), digest.Transcript(items, 200<<10)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		facts.Missing(text)
	}
}
