package token_test

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"appserver/core/effects/token"

	"github.com/stretchr/testify/require"
)

func TestKnownCounts(t *testing.T) {
	c := token.New()
	for _, row := range []struct {
		text          string
		o200k, cl100k int
	}{
		{"", 0, 0},
		{"a", 1, 1},
		{" ", 1, 1},
		{"Hello, world!", 4, 4},
		{"The quick brown fox jumps over the lazy dog.", 10, 10},
		{"I'll say it's what we'Ve got", 8, 10},
		{"Straßenbahnhaltestelle", 7, 7},
		{"Съешь ещё этих мягких французских булок", 11, 26},
		{"السلام عليكم", 2, 9},
		{"नमस्ते दुनिया", 5, 13},
		{"我们在学习中文。", 5, 8},
		{"こんにちは世界", 2, 4},
		{"안녕하세요 세계", 3, 9},
		{"👩‍👩‍👧‍👦", 11, 18},
		{"e\u0301", 2, 2},
		{"1234567", 3, 3},
		{"camelCaseHTTPServer", 4, 4},
		{`{"key":"value","n":[1,2,3]}`, 13, 13},
		{"func main() {\n\tfmt.Println(\"hi\")\n}\n", 10, 10},
		{"a  b\r\n\r\n\t\tc   ", 7, 7},
		{"<|endoftext|>", 7, 7},
		{"<|im_start|>user", 7, 7},
		{"\xff", 1, 1},
		{"\xed\xa0\x80", 1, 1},
		{"\x7f\x7f", 2, 2},
		{"a\n  \nb", 3, 3},
	} {
		require.Equal(t, row.o200k, c.Count("gpt-5", row.text), "o200k_base: %q", row.text)
		require.Equal(t, row.cl100k, c.Count("gpt-4", row.text), "cl100k_base: %q", row.text)
	}
}

func TestKnownModels(t *testing.T) {
	const o200k, cl100k = 11, 26 // tokens of the text, which tell the encodings apart
	text := "Съешь ещё этих мягких французских булок"
	c := token.New()
	for _, row := range []struct {
		model string
		known bool
		count int
	}{
		{"gpt-5", true, o200k},
		{"gpt-5.1-codex-max", true, o200k},
		{"gpt-5-2025-08-07", true, o200k},
		{"gpt-6", true, o200k},
		{"GPT-4o", true, o200k},
		{"gpt-4o-mini-2024-07-18", true, o200k},
		{"chatgpt-4o-latest", true, o200k},
		{"gpt-4.1-nano", true, o200k},
		{"gpt-4.5-preview", true, o200k},
		{"gpt-oss-120b", true, o200k},
		{"gpt-oss:20b", true, o200k},
		{"o1", true, o200k},
		{"o3-pro", true, o200k},
		{"o4-mini", true, o200k},
		{"codex-mini-latest", true, o200k},
		{"openai/gpt-5", true, o200k},
		{"openrouter/openai/gpt-5-mini:free", true, o200k},
		{"azure/gpt-4o", true, o200k},
		{"ft:gpt-4o-mini:acme::abc", true, o200k},

		{"gpt-4", true, cl100k},
		{"gpt-4-0613", true, cl100k},
		{"gpt-4-32k", true, cl100k},
		{"gpt-4-turbo-2024-04-09", true, cl100k},
		{"gpt-3.5-turbo-16k", true, cl100k},
		{"gpt-35-turbo", true, cl100k},
		{"azure/gpt-4", true, cl100k},
		{"ft:gpt-3.5-turbo:acme", true, cl100k},

		{"", false, o200k},
		{"gpt", false, o200k},
		{"gpt-4.9", false, o200k},
		{"gpt-2", false, o200k},
		{"o10", false, o200k},
		{"o1x", false, o200k},
		{"codexter", false, o200k},
		{"claude-opus-4", false, o200k},
		{"gpt-5/llama-3", false, o200k},
		{"deepseek-r1", false, o200k},
		{"mock", false, o200k},
	} {
		require.Equal(t, row.known, c.Known(row.model), row.model)
		require.Equal(t, row.count, c.Count(row.model, text), row.model)
	}
}

func TestPreparedCounterCountsTheSame(t *testing.T) {
	c := token.New()
	c.Prepare("gpt-5")
	c.Prepare("gpt-4")
	c.Prepare("mock")
	require.Equal(t, 4, c.Count("gpt-5", "Hello, world!"))
	require.Equal(t, 4, c.Count("gpt-4", "Hello, world!"))
}

const (
	bound = 16 << 10 // bytes that are counted at once
	huge  = 512 << 10
)

// hostileTexts returns texts of any length that have few places to cut, or none.
func hostileTexts() map[string]func(n int) string {
	repeat := func(s string) func(int) string {
		return func(n int) string { return strings.Repeat(s, n/len(s)+1)[:n] }
	}
	return map[string]func(int) string{
		"one letter":       repeat("a"),
		"capitals":         repeat("A"),
		"a long word":      repeat("donaudampfschifffahrtsgesellschaftskapitaen"),
		"spaces":           repeat(" "),
		"newlines":         repeat("\n"),
		"CRLF":             repeat("\r\n"),
		"blanks, newlines": repeat(" \n\t "),
		"wide spaces":      repeat("\u3000\n"),
		"digits":           repeat("7"),
		"signs":            repeat("=-"),
		"slashes":          repeat("/"),
		"apostrophes":      repeat("'"),
		"contractions":     repeat("'ll"),
		"CJK":              repeat("我们在学习中文和数学"),
		"marks":            repeat("\u0301"),
		"family emoji":     repeat("👩‍👩‍👧‍👦"),
		"not UTF-8":        repeat("\xff"),
		"torn UTF-8":       repeat("\xf0\x9f\x98"),
		"zeroes":           repeat("\x00"),
		"U+007F":           repeat("\x7f"),
		"capitals within":  repeat("rE"),
	}
}

// TestHostileTexts has texts as long as the bound counted exactly, and longer ones
// in proportion.
func TestHostileTexts(t *testing.T) {
	ref, c := newReference(t), token.New()
	for name, text := range hostileTexts() {
		t.Run(name, func(t *testing.T) {
			ref.check(t, c, text(bound))
			for model := range ref {
				want := float64(c.Count(model, text(bound))) * (huge / bound)
				require.InEpsilon(t, want, c.Count(model, text(huge)), 0.001, model)
			}
		})
	}
}

func TestCountsAtOnce(t *testing.T) {
	c, alone := token.New(), token.New()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for _, model := range []string{"gpt-5", "gpt-4"} {
				for k, text := range fragments() {
					if k%4 == i%4 {
						c.Prepare(model)
					}
					if got, want := c.Count(model, text), alone.Count(model, text); got != want {
						t.Errorf("%s: %q has %d tokens, want %d", model, text, got, want)
					}
				}
			}
		})
	}
	group.Wait()
}

// TestCountsBeyondTheCache has more matches than the counter keeps.
func TestCountsBeyondTheCache(t *testing.T) {
	ref, c := newReference(t), token.New()
	var text strings.Builder
	for i := range 100_000 {
		text.WriteString(" w" + strings.Map(func(r rune) rune { return 'a' + r - '0' }, strconv.Itoa(i)))
	}
	ref.check(t, c, text.String())
}
