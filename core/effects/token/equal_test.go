package token_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"appserver/core/effects/token"

	"github.com/dlclark/regexp2/v2"
	"github.com/stretchr/testify/require"
	"github.com/tiktoken-go/tokenizer/codec"
	"pgregory.net/rapid"

	"appserver/test/sample"
)

// reference counts the whole text by the library alone, by model.
// reference counts texts by other means, by model.
type reference map[string]*referenceEncoding

func newReference(t require.TestingT) reference {
	return reference{
		"gpt-5": newReferenceEncoding(t, codec.NewO200kBase(), o200kSplit),
		"gpt-4": newReferenceEncoding(t, codec.NewCl100kBase(), cl100kSplit),
	}
}

// check counts twice, so that kept counts are looked at too.
func (ref reference) check(t require.TestingT, c *token.Counter, text string) {
	for model, encoding := range ref {
		want, known := encoding.count(t, text)
		if !known {
			continue
		}
		require.Equal(t, want, c.Count(model, text), "%s: %q", model, text)
		require.Equal(t, want, c.Count(model, text), "%s again: %q", model, text)
	}
}

// The split patterns of the models. The group prevents that the library's matchers, made for speed, are taken.
const (
	contractions = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`
	o200kSplit   = `(?:[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+` + contractions + `?` +
		`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*` + contractions + `?` +
		`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)`
	cl100kSplit = `(?:` + contractions +
		`|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)`
)

// referenceEncoding counts by the library if it splits the text like the models, and otherwise by the models' pattern
// and by merging in the simplest way.
type referenceEncoding struct {
	library *codec.Codec
	split   *regexp2.Regexp
	ranks   map[string]int
}

func newReferenceEncoding(t require.TestingT, library *codec.Codec, split string) *referenceEncoding {
	ranks := map[string]int{}
	for {
		token, err := library.Decode([]uint{uint(len(ranks))})
		if err != nil {
			break
		}
		ranks[token] = len(ranks)
	}
	require.NotEmpty(t, ranks)
	return &referenceEncoding{library, regexp2.MustCompile(split, regexp2.None), ranks}
}

// deviates matches texts that the library's matchers do not split like the models: they pass over U+007F, and end a
// match of white space after the first run of CR and LF.
var deviates = regexp.MustCompile(`\x7f|[\r\n][\pZ\t\v\f\x{85}]+[\r\n]`)

// longestMerge bounds the texts that are merged in the simplest way, in quadratic time.
const longestMerge = 2 << 10

func (e *referenceEncoding) count(t require.TestingT, text string) (tokens int, known bool) {
	if !deviates.MatchString(text) {
		tokens, err := e.library.Count(text)
		require.NoError(t, err)
		return tokens, true
	}
	if len(text) > longestMerge {
		return 0, false
	}
	match, err := e.split.FindStringMatch(text)
	for ; match != nil && err == nil; match, err = e.split.FindNextMatch(match) {
		tokens += e.merge(match.String())
	}
	require.NoError(t, err)
	return tokens, true
}

// merge counts the tokens of a match: of all neighbours that make a token, those with the lowest rank are merged.
func (e *referenceEncoding) merge(match string) int {
	var parts []string
	for i := range len(match) {
		parts = append(parts, match[i:i+1])
	}
	for {
		lowest, at := len(e.ranks), -1
		for i := range len(parts) - 1 {
			if rank, found := e.ranks[parts[i]+parts[i+1]]; found && rank < lowest {
				lowest, at = rank, i
			}
		}
		if at < 0 {
			return len(parts)
		}
		parts[at] += parts[at+1]
		parts = slices.Delete(parts, at+1, at+2)
	}
}

// fragments returns the parts of the generated texts.
func fragments() []string {
	return []string{
		"The quick brown fox", " jumps", " over the lazy dog.", "Sie können's", " Straßenbahnhaltestelle", " Größe ",
		"Съешь ещё этих", " мягких французских булок,", " да выпей чаю", "السلام عليكم", " ٱلْعَرَبِيَّة", "،", "؟ ", "١٢٣٤٥",
		"नमस्ते दुनिया", " हिन्दी।", "१२३", "我们在学习中文", "，", "。", "「こんにちは」", "カタカナー", "漢字かな交じり文", "안녕하세요", " 세계",
		`{"key":"value","n":1234567,"ok":true,"list":[1,2.5,-3e10,null]}`, "{\n  \"a\": {\n    \"b\": \"c\\n\"\n  }\n}\n",
		"func (s *Store) Read(id string) ([]byte, error) {\n\tif err != nil {\n\t\treturn nil, err\n\t}\n}\n",
		"    def __init__(self, x=None):\r\n        self.x = x or {}\r\n",
		"// comment /* c */ http://example.com/a/b?c=d#e\n", "/", "//", "/**",
		"camelCase", "HTTPServerURL", "snake_case_name", "SCREAMING_CASE", "x86_64", "fooBAR", "iPhone", "McDonald",
		" ", "  ", "   ", "\t", "\t\t", " \t ", "\n", "\n\n", "\r\n", "\r", " \n", "\n ", "\n\n\t\t", " \r\n \r\n  ", "\v",
		"\f", "\x1c", "\x00", "\x7f", "\x7f\x7f(",
		"\u00a0", "\u3000", "\u2028", "\u0085", "\u200b", "\ufeff", "\u202f",
		"'s", "'S", "'t", "'RE", "'rE", "'Re", "'ve", "'vE", "'m", "'LL", "'ll", "'lL", "'d", "'D", "'", "''", "'\u017f",
		"’s", "'x", "'é", "I'll", "it'sAll", "we'Ve",
		"1", "12", "123", "1234", "0000000", "3.14", "½", "²", "Ⅷ", "٣",
		"a", "Z", "l", "L", "r", "v", "e", "E", "é", "É", "ß", "ǅ", "ʰ", "ª", "ſ", "K", "e\u0301", "\u0301", "\u0301\u0302",
		"A\u0301B",
		"😀", "👩‍👩‍👧‍👦", "🇩🇪", "❤️", "€", "…", "—", "(", "((", ")", "();", "\",\"", "\":\"", "```\n", "***", "----", "====",
		"<|endoftext|>", "<|im_start|>",
		"\xff", "\xc3", "\xe4\xb8", "\xed\xa0\x80", "\xf0\x9f\x98", "\x80\x80", "\ufffd",
	}
}

func mixedText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		part := rapid.OneOf(
			rapid.SampledFrom(fragments()),
			rapid.SampledFrom(fragments()),
			rapid.StringOfN(rapid.RuneFrom([]rune("aBlLrRvVeEsS'/( \t\n\r1\u0301é\u3000中\x7f")), 1, 8, -1),
			rapid.StringN(1, 4, -1),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 1, 4), func(b []byte) string { return string(b) }),
		)
		return strings.Join(rapid.SliceOfN(part, 0, 30).Draw(t, "parts"), "")
	})
}

func TestCountsAreThoseOfTheWholeText(t *testing.T) {
	ref, c := newReference(t), token.New()
	sample.Check(t, func(t *rapid.T) { ref.check(t, c, mixedText().Draw(t, "text")) })
}

// TestCountsOfPairs has every fragment meet every other.
func TestCountsOfPairs(t *testing.T) {
	ref, c := newReference(t), token.New()
	for _, a := range fragments() {
		var text strings.Builder
		for _, b := range fragments() {
			text.WriteString(a + b)
			ref.check(t, c, a+b)
		}
		ref.check(t, c, text.String())
	}
}

// TestCountsOfAllShortTexts goes through the texts of a few characters of each class.
func TestCountsOfAllShortTexts(t *testing.T) {
	ref, c := newReference(t), token.New()
	alphabet := strings.Split("a|L|l|\u00c9|\u0301|1| |\t|\n|\u3000|/|'|(|\x7f", "|")
	texts := []string{""}
	for range 4 {
		var longer []string
		for _, text := range texts {
			for _, last := range alphabet {
				longer = append(longer, text+last)
			}
		}
		texts = longer
		for _, text := range texts {
			ref.check(t, c, text)
		}
	}
}

func FuzzCount(f *testing.F) {
	ref, c := newReference(f), token.New()
	for _, text := range fragments() {
		f.Add(text)
	}
	f.Add(strings.Join(fragments(), ""))
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) <= 32<<10 {
			ref.check(t, c, text)
		}
	})
}
