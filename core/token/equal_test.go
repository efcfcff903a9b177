package token_test

import (
	"strings"
	"testing"

	"appserver/core/token"

	"github.com/stretchr/testify/require"
	"github.com/tiktoken-go/tokenizer/codec"
	"pgregory.net/rapid"

	"appserver/test/sample"
)

// reference counts the whole text by the library alone, by model.
type reference map[string]*codec.Codec

func newReference() reference {
	return reference{"gpt-5": codec.NewO200kBase(), "gpt-4": codec.NewCl100kBase()}
}

// check counts twice, so that kept counts are looked at too. The library passes over
// U+007F.
func (ref reference) check(t require.TestingT, c *token.Counter, text string) {
	for model, library := range ref {
		want, err := library.Count(text)
		require.NoError(t, err)
		want += strings.Count(text, "\x7f")
		require.Equal(t, want, c.Count(model, text), "%s: %q", model, text)
		require.Equal(t, want, c.Count(model, text), "%s again: %q", model, text)
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
	ref, c := newReference(), token.New()
	sample.Check(t, func(t *rapid.T) { ref.check(t, c, mixedText().Draw(t, "text")) })
}

// TestCountsOfPairs has every fragment meet every other.
func TestCountsOfPairs(t *testing.T) {
	ref, c := newReference(), token.New()
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
	ref, c := newReference(), token.New()
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
	ref, c := newReference(), token.New()
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
