package charset_test

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/charset"
)

func TestTextOfFiles(t *testing.T) {
	for _, c := range []struct{ content, text, problem string }{
		{"", "", ""},
		{"\uFEFFé\n", "é\n", ""},
		{"\xff\xfe\xe9\x00", "é", ""},
		{"\xfe\xff\xd8\x3d\xde\x00", "😀", ""},
		{"\xfe\xff\xd8\x3d", "\uFFFD", "it is not valid UTF-16, so characters are replaced"},
		{"caf\xe9", "caf\uFFFD", "it is not UTF-8, so characters are replaced"},
		{"a\x00b\x00", "", "it is not text in UTF-8 or in UTF-16 with a byte order mark"},
		{"\xff\xfe\x00\x00a\x00\x00\x00", "", "it is not text in UTF-8 or in UTF-16 with a byte order mark"},
	} {
		text, problem := charset.Text(c.content)
		require.Equal(t, c.text, text)
		require.Equal(t, c.problem, problem)
	}
}

func TestWesternReadsLatin1AndWindows1252(t *testing.T) {
	require.Equal(t, "café € „“ÿ", charset.Western("caf\xe9 \x80 \x84\x93\xff"))
	require.Equal(t, "é", charset.Western("é"), "UTF-8 stays")
}

// FuzzDecode requires that a decoded text is the file again when it is encoded.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"a\n", "\uFEFFa", "\xff\xfea\x00", "\xfe\xff\x00a", "\xff\xfe\x00\xd8", "\xe9", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		text, e, reason := charset.Decode(content)
		if reason == "" {
			require.Equal(t, content, e.Encode(text))
			require.True(t, e.IsUnknown() || utf8.ValidString(text))
		}
		read, _ := charset.Text(content)
		require.True(t, utf8.ValidString(read))
	})
}
