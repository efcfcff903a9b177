package excerpt

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestPrefixDoesNotSplitCharacters(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"", 0, ""}, {"ab", 2, "ab"}, {"abc", 2, "ab"}, {"abc", -1, ""}, {"äö", 3, "ä"}, {"ä", 1, ""},
		{"\xbf\xbf\xbf\xbf\xbf\xbf", 5, "\xbf\xbf\xbf\xbf\xbf"},
	} {
		require.Equal(t, c.want, Prefix(c.text, c.limit), "%+v", c)
		require.Equal(t, c.want, string(Prefix([]byte(c.text), c.limit)), "%+v", c)
	}
}

func TestHeadCountsBytesAndMarksTheCut(t *testing.T) {
	require.Equal(t, "abc", Head("abc", 3))
	require.Equal(t, "ab…", Head("abc", 2))
	require.Equal(t, "ä…", Head("äö", 3), "a character that is split")
}

func TestFirstRunesCountsRunesAndMarksTheCut(t *testing.T) {
	require.Equal(t, "äöü", FirstRunes("äöü", 3))
	require.Equal(t, "äö…", FirstRunes("äöü", 2))
	require.Empty(t, FirstRunes("", 0))
}

func TestEndsKeepsHeadAndTail(t *testing.T) {
	require.Equal(t, "0123456789", Ends("0123456789", 10))
	require.Equal(t, "01234\n[... 1 bytes cut ...]\n6789a", Ends("0123456789a", 10))
	require.Equal(t, "a\ufffdb", Ends("a\xffb", 10))
	require.Equal(t, "\n[... 2 bytes cut ...]\n", Ends("ab", 0))
}

func TestLineHasNoControlCharacters(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "",
		" \n\t\u2028 ":                        "",
		"  one\r\n\r\n\ttwo\u2029three  ":     "one two three",
		"a\x00\x1b[31mb\x7f\u0085c\u202ed ":   "ab cd",
		"\x1b[1;38;2;255;0;0mred\x1b[0m [32m": "red [32m",
		"a\u009b31mb\u009b":                   "ab",
		"\x1b[?25l\x1b[2K100 %":               "100 %",
		"\x1bMup, \x1b[é, cut \x1b[3":         "Mup, é, cut",
		"a\xff\xfeb":                          "a\uFFFDb",
	} {
		require.Equal(t, want, Line(text))
	}
}

var sequence = regexp.MustCompile(`(\x1b\[|\x{9b})[ -?]*[@-~]?`)

func FuzzLine(f *testing.F) {
	f.Add("\x1b[1mtwo\x1b[ q\x1b[")
	f.Add("  one\r\n\u202etwo\x00")
	f.Add("two words  and  é three \x7f~! ")
	f.Fuzz(func(t *testing.T, text string) {
		line := Line(text)
		require.True(t, utf8.ValidString(line))
		require.NotContains(t, line, "  ")
		require.Equal(t, strings.TrimSpace(line), line)
		require.Equal(t, line, Line(line))
		text = sequence.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "")
		visible := strings.Map(func(r rune) rune {
			if !unicode.IsSpace(r) && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
				return -1
			}
			return r
		}, text)
		require.Equal(t, strings.Join(strings.Fields(visible), " "), line)
	})
}

// FuzzPrefix: the prefix is at most limit bytes long, and shorter by less than one character.
func FuzzPrefix(f *testing.F) {
	f.Add("語語", 2)
	f.Add("\x80\x80\x80\x80\x80\x80", 5)
	f.Add("\xf0\x80\x00\x00\x00\x80\x80\x80\x80", 8)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 0 || limit >= len(text) {
			return
		}
		prefix := Prefix(text, limit)
		require.True(t, strings.HasPrefix(text, prefix))
		require.Greater(t, len(prefix), limit-utf8.UTFMax)
		require.LessOrEqual(t, len(prefix), limit)
	})
}
