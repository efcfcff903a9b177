package core

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"appserver/core/pure/history"
	"appserver/platform/excerpt"
	"appserver/protocol"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/stretchr/testify/require"
)

const (
	family  = "👩‍👩‍👧‍👦"
	flag    = "🇩🇪"
	accents = "e\u0301\u0323"
	jamo    = "\u1112\u1161\u11ab"
)

// TestPreview expects one line of at most 80 graphemes.
func TestPreview(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"blank", " \n\t\u2028 ", ""},
		{"lines", "  one\r\n\r\n\ttwo\u2029three  ", "one two three"},
		{"controls", "a\x00\x1b[31mb\x7f\u0085c", "ab c"},
		{"NULs alone", strings.Repeat("\x00", 100), ""},
		{"not UTF-8", "a\xff\xfeb", "a\uFFFDb"},
		{"80", strings.Repeat("x", 80), strings.Repeat("x", 80)},
		{"81", strings.Repeat("x", 81), strings.Repeat("x", 79) + "…"},
		{"lines at the cut", strings.Repeat("x", 79) + " \n\n y", strings.Repeat("x", 79) + "…"},
		{"an accent behind letters", strings.Repeat("x", 79) + accents, strings.Repeat("x", 79) + accents},
		{"80 families", strings.Repeat(family, 80), strings.Repeat(family, 80)},
		{"81 families", strings.Repeat(family, 81), strings.Repeat(family, 79) + "…"},
		{"81 flags", strings.Repeat(flag, 81), strings.Repeat(flag, 79) + "…"},
		{"81 letters with accents", strings.Repeat(accents, 81), strings.Repeat(accents, 79) + "…"},
		{"81 syllables of jamo", strings.Repeat(jamo, 81), strings.Repeat(jamo, 79) + "…"},
		{"an accent after a control", "e\x00\u0301", "e\u0301"},
		{"one grapheme that does not end", "ab" + strings.Repeat("\u0301", 4<<10), "a…"},
		{"a family that is cut", strings.Repeat("\x00", previewBytes-len(family)+1) + family + "x", "…"},
		{"a rune that is cut", strings.Repeat("\x00", previewBytes-3) + "ab漢x", "a…"},
		{"an invalid rune that is cut", strings.Repeat("\xbf", previewBytes+9), "…"},
		{"huge", strings.Repeat("word ", 1<<20), strings.Repeat("word ", 15) + "word…"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, preview(tt.text, previewLength))
		})
	}
}

// FuzzPreview previews any text, alone and repeated, so that graphemes of several runes are cut.
func FuzzPreview(f *testing.F) {
	for _, text := range []string{"", "hello\nworld", family, flag + "🇩", accents, jamo, "\x00\xff", "\u0600",
		strings.Repeat("\u200d", 100)} {
		f.Add(text, 1)
		f.Add(text, 100)
	}
	f.Fuzz(func(t *testing.T, text string, times int) {
		if len(text) > 1<<12 {
			return
		}
		checkPreview(t, strings.Repeat(text, min(max(times, 1), 1<<10)))
	})
}

func checkPreview(t *testing.T, text string) {
	got := preview(text, previewLength)
	require.True(t, utf8.ValidString(got), "%q", got)
	require.False(t, strings.ContainsFunc(got, func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r) && r != ' '
	}), "%q is not one line", got)
	require.NotContains(t, got, "  ")
	require.Equal(t, strings.TrimSpace(got), got)
	require.LessOrEqual(t, len(graphemesOf(got)), previewLength)
	line := excerpt.Line(strings.TrimSpace(text))
	if got == line {
		return
	}
	begin, cut := strings.CutSuffix(got, ellipsis)
	require.True(t, cut, "%q is cut without a mark", got)
	require.True(t, strings.HasPrefix(line, begin), "%q does not begin %q", begin, line)
	whole := 0
	for _, g := range graphemesOf(line) {
		if whole >= len(begin) {
			break
		}
		whole += len(g)
	}
	require.Equal(t, len(begin), whole, "%q ends in the midst of a grapheme", begin)
}

func graphemesOf(text string) (list []string) {
	for it := graphemes.FromString(text); it.Next(); {
		list = append(list, it.Value())
	}
	return list
}

// TestTheResultOfAnAgentIsNamed has the name of the agent as its subject.
func TestTheResultOfAnAgentIsNamed(t *testing.T) {
	text := protocol.AgentNoticeTag + "\n" + `{"agent_path":"a-1","status":{"completed":"Three files.\nAll of them are small."}}` +
		"\n" + protocol.AgentNoticeEnd
	item := protocol.ResponseItem{ResponseItemVariant: history.UserMessage(text)}
	require.Equal(t, "Result of Ada: Three files. All of them are small.", itemLines(item, "Ada").Short)
	require.Equal(t, "Result of a-1: Three files. All of them are small.", itemLines(item, "").Short)
}
