package view

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/test/sample"
)

// letters are characters that searches compare in special ways, that JSON escapes, or that are frequent.
var letters = []rune("aAkKsSiIßẞſİı\u212aéÉ😀 \n\t\x1b\x7f\"\\/<u0x1e\u2028")

// TestLiteralFindsEachOccurrence draws a text with an occurrence of a query in any case, in JSON with any escapes.
func TestLiteralFindsEachOccurrence(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom(letters), 0, 40, -1).Draw(t, "text")
		query := rapid.StringOfN(rapid.SampledFrom(letters), 1, 4, -1).Draw(t, "query")
		occurrence := strings.Map(func(r rune) rune {
			forms := []rune{r, unicode.ToUpper(r), unicode.ToLower(r), unicode.SimpleFold(r)}
			return rapid.SampledFrom(forms).Draw(t, "form")
		}, query)
		at := rapid.SampledFrom(slices.Collect(boundaries(text))).Draw(t, "at")
		for _, text := range []string{text, text[:at] + occurrence + text[at:]} {
			raw := escaped(t, text)
			var decoded string
			require.NoError(t, json.Unmarshal(raw, &decoded))
			require.Equal(t, text, decoded)
			folded := newLiteral(fold(query))
			if len(findAll(text, fold(query))) > 0 {
				require.True(t, folded.mayBeIn([]byte(text)))
				require.True(t, folded.mayBeInJSON(raw), "%s in %s", query, raw)
			}
			quoted := newLiteral(query)
			if regexp.MustCompile("(?i)" + regexp.QuoteMeta(query)).MatchString(text) {
				require.True(t, quoted.mayBeIn([]byte(text)))
				require.True(t, quoted.mayBeInJSON(raw), "%s in %s", query, raw)
			}
		}
	})
}

// boundaries returns the indices of the characters of a text, and of its end.
func boundaries(text string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range text {
			if !yield(i) {
				return
			}
		}
		yield(len(text))
	}
}

// escaped returns a text in JSON with any escapes.
func escaped(t *rapid.T, text string) []byte {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '/': `\/`, '\n': `\n`, '\t': `\t`}
	var out strings.Builder
	for _, r := range text {
		must := r < ' ' || r == '"' || r == '\\'
		switch form := rapid.SampledFrom([]string{"plain", "short", "unicode"}).Draw(t, "escape"); {
		case form == "short" && short[r] != "":
			out.WriteString(short[r])
		case form == "plain" && !must:
			out.WriteRune(r)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&out, rapid.SampledFrom([]string{`\u%04x`, `\u%04X`}).Draw(t, "digits"), unit)
			}
		}
	}
	return []byte(`"` + out.String() + `"`)
}

// TestLiteralsKnowAllEqualLetters looks at all characters beyond ASCII.
func TestLiteralsKnowAllEqualLetters(t *testing.T) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		equal := fold(string(r))
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			equal += string(f)
		}
		for _, c := range []byte(strings.ToLower(equal)) {
			if c < 0x80 {
				require.Contains(t, equalLetters[c], string(r))
			}
		}
	}
}

func TestLiteralExcludesMostTexts(t *testing.T) {
	for query, text := range map[string]string{
		"nowhere": `All work\nand \"no play\" \u001b[31mmakes a dull log. Größe`, "größe": "Mass", "x-ray": "x ray",
		"aab": "aaac AAAC aa", "42": "4 2 24",
	} {
		l := newLiteral(query)
		require.False(t, l.mayBeInJSON([]byte(text)), query)
	}
	l := newLiteral("€")
	require.True(t, l.mayBeIn(nil), "it has no part to look for")
}
