package excerpt

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		limit  int
		pieces []string
		want   string
	}{
		{10, nil, ""},
		{10, []string{"0123456789"}, "0123456789"},
		{10, []string{"0123", "", "45678", "9"}, "0123456789"},
		{10, []string{"0123456789a"}, "01234\n[... 1 bytes cut ...]\n6789a"},
		{10, []string{"0123456", strings.Repeat("x", 100), "789"}, "01234\n[... 100 bytes cut ...]\nxx789"},
		{10, []string{"ééé", "ééé"}, "éé\n[... 4 bytes cut ...]\néé"},
		{10, []string{strings.Repeat("\ufffd", 9)}, "\ufffd\n[... 21 bytes cut ...]\n\ufffd"},
		{1, []string{"ab"}, "\n[... 1 bytes cut ...]\nb"},
	} {
		kept := Text{Limit: c.limit}
		for _, piece := range c.pieces {
			kept.Write(piece)
		}
		require.Equal(t, c.want, kept.String(), "%+v", c)
	}
}

func FuzzText(f *testing.F) {
	f.Add(uint8(10), "héllo wörld, this is cut", uint8(3))
	f.Add(uint8(1), "\ufffd\ufffd", uint8(1))
	f.Fuzz(func(t *testing.T, limit uint8, text string, step uint8) {
		text = strings.ToValidUTF8(text, "\ufffd")
		kept := Text{Limit: int(limit) + 1}
		for rest := text; rest != ""; {
			n := min(int(step)+1, len(rest))
			for n < len(rest) && !utf8.RuneStart(rest[n]) {
				n++
			}
			kept.Write(rest[:n])
			rest = rest[n:]
		}
		shown := kept.String()
		require.True(t, utf8.ValidString(shown))
		require.LessOrEqual(t, len(kept.tail), 2*kept.tailRoom())
		if len(text) <= kept.Limit {
			require.Equal(t, text, shown)
			return
		}
		var cut int
		for at := range len(shown) {
			if _, err := fmt.Sscanf(shown[at:], "\n[... %d bytes cut ...]\n", &cut); err != nil {
				continue
			}
			mark := fmt.Sprintf("\n[... %d bytes cut ...]\n", cut)
			head, tail := shown[:at], strings.TrimPrefix(shown[at:], mark)
			if strings.HasPrefix(text, head) && strings.HasSuffix(text, tail) && len(head)+cut+len(tail) == len(text) {
				return
			}
		}
		require.Fail(t, "no mark", "%q of %q", shown, text)
	})
}
