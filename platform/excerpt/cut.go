package excerpt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ellipsis marks a text whose end is missing.
const ellipsis = "…"

// Prefix returns the beginning of a text, at most limit bytes. It does not split a character, and it
// leaves no mark. A negative limit is 0.
func Prefix[T string | []byte](text T, limit int) T {
	limit = max(limit, 0)
	if len(text) <= limit {
		return text
	}
	for end := limit; end >= max(0, limit-utf8.UTFMax+1); end-- {
		if utf8.RuneStart(text[end]) {
			return text[:end]
		}
	}
	return text[:limit]
}

// Head returns a text, or its first limit bytes and an ellipsis if it is longer.
func Head(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + ellipsis
}

// FirstRunes returns a text, or its first limit runes and an ellipsis if it has more.
func FirstRunes(text string, limit int) string {
	count := 0
	for i := range text {
		if count == limit {
			return text[:i] + ellipsis
		}
		count++
	}
	return text
}

// LastRunes returns a text, or an ellipsis and its last limit runes if it has more.
func LastRunes(text string, limit int) string {
	begin := len(text)
	for range limit {
		if begin == 0 {
			return text
		}
		_, size := utf8.DecodeLastRuneInString(text[:begin])
		begin -= size
	}
	if begin == 0 {
		return text
	}
	return ellipsis + text[begin:]
}

// Ends returns a text, or its head and its tail if it has more than limit bytes. It replaces invalid
// UTF-8.
func Ends(text string, limit int) string {
	kept := Text{Limit: limit}
	kept.Write(strings.ToValidUTF8(text, "\ufffd"))
	return kept.String()
}

// Line returns a text as one line. It replaces runs of white space by one space, and removes control
// sequences of terminals, other control characters and the marks that change the direction of text.
func Line(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	space := false
	for text = strings.ToValidUTF8(text, "\uFFFD"); text != ""; {
		n := plainLength(text)
		if n == 0 {
			r, size := utf8.DecodeRuneInString(text)
			switch {
			case unicode.IsSpace(r):
				space = b.Len() > 0
				text = text[size:]
				continue
			case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
				text = text[max(size, sequenceLength(text)):]
				continue
			}
			n = size
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteString(text[:n])
		text = text[n:]
	}
	return b.String()
}

// sequenceLength returns the length of the control sequence that a text begins with, such as that of a colour, or 0. It
// is CSI in one or two characters, parameters and a final byte (ECMA-48, 5.4).
func sequenceLength(text string) int {
	const parameters = "0123456789:;<=>? !\"#$%&'()*+,-./"
	rest, long := strings.CutPrefix(text, "\x1b[")
	rest, short := strings.CutPrefix(rest, "\u009b")
	if !long && !short {
		return 0
	}
	rest = strings.TrimLeft(rest, parameters)
	if rest != "" && '@' <= rest[0] && rest[0] <= '~' {
		rest = rest[1:]
	}
	return len(text) - len(rest)
}

// plainLength returns the length of the words in ASCII with single spaces between them that a text begins with.
func plainLength(text string) (n int) {
	visible := func(i int) bool { return i < len(text) && '!' <= text[i] && text[i] <= '~' }
	for visible(n) || n > 0 && n < len(text) && text[n] == ' ' && visible(n+1) {
		n++
	}
	return n
}
