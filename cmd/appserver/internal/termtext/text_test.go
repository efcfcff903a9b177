package termtext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/test/sample"
)

// TestPlainTextCannotControlTerminal replaces control characters, and keeps all others.
func TestPlainTextCannotControlTerminal(t *testing.T) {
	text := "a\x00\x1b\r\u009b\u202e\u2028\x7f\xff é 👩‍💻\tb\nc"
	require.Equal(t, "a\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd é 👩‍💻 b c", Plain(text))
	require.Equal(t, "a\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd é 👩‍💻\tb\nc", PlainLines(text))
}

// TestEscapeShowsInvisibleCharacters writes escapes, so that a reader sees what a model would get.
func TestEscapeShowsInvisibleCharacters(t *testing.T) {
	require.Equal(t, `red \x1b[31m and \x9b2J`, Escape("red \x1b[31m and \u009b2J"))
	require.Equal(t, `\u202efiles\u2066 \u200b\ufeff\xad`, Escape("\u202efiles\u2066 \u200b\ufeff\u00ad"))
	require.Equal(t, "a       b", Escape("a\tb"))
	require.Equal(t, "世      b", Escape("世\tb"))
	require.Equal(t, "é 👩‍💻 \ufffd", Escape("é 👩‍💻 \xff"))
}

// TestWrapKeepsAllText prefers the ends of words and splits long ones.
func TestWrapKeepsAllText(t *testing.T) {
	require.Equal(t, []string{"one ", "two ", "three"}, Wrap("one two three", 6))
	require.Equal(t, []string{"abcd", "ef", "", "x"}, Wrap("abcdef\r\n\nx", 4))
	require.Equal(t, []string{"世", "界", ""}, Wrap("世界\n", 3))
	require.Equal(t, []string{""}, Wrap("", 3))
	sample.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		width := rapid.IntRange(2, 40).Draw(t, "width")
		var whole strings.Builder
		for _, line := range Wrap(text, width) {
			require.LessOrEqual(t, Columns(line), width)
			require.False(t, strings.ContainsFunc(line, ControlsTerminal), "%q", line)
			whole.WriteString(line)
		}
		var want strings.Builder
		for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
			want.WriteString(Escape(line))
		}
		require.Equal(t, want.String(), whole.String())
	})
}

// TestFirstColumnsLimitsWidth counts wide and combining characters.
func TestFirstColumnsLimitsWidth(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"hello", 5, "hello"}, {"hello", 4, "hel…"}, {"世界", 4, "世界"}, {"世界", 3, "世…"}, {"世界", 2, "…"},
		{"e\u0301e\u0301", 2, "e\u0301e\u0301"}, {"", 0, ""},
	} {
		require.Equal(t, c.want, FirstColumns(c.text, c.width))
	}
}

func TestNumbersAreReadable(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -100: "-100",
		1234567: "1,234,567"} {
		require.Equal(t, want, Grouped(n))
	}
	require.Equal(t, "12.5 %", Percent(1, 8))
	require.Empty(t, Percent(1, 0))
	require.Equal(t, []string{"0 items", "1 item", "1,000 items"},
		[]string{Counted(0, "item"), Counted(1, "item"), Counted(1000, "item")})
}
