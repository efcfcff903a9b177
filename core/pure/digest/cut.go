package digest

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const ellipsis = "…"

// headLine returns the beginning of a text as one line of at most limit bytes. It replaces runs of
// white space and control characters by one space. Unlike excerpt.Line, it reads only as much of
// the text as it needs.
func headLine(text string, limit int) string {
	var line strings.Builder
	blank := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			blank = line.Len() > 0
			continue
		case blank:
			line.WriteByte(' ')
			blank = false
		}
		line.WriteRune(r)
		if line.Len() > limit {
			break
		}
	}
	return firstBytes(line.String(), limit)
}

// firstBytes returns a text, or its beginning and an ellipsis, at most limit bytes together. Unlike
// excerpt.Head, it counts the ellipsis and does not split characters of several runes.
func firstBytes(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	if limit < len(ellipsis) {
		return text[:cutBefore(text, limit)]
	}
	return strings.TrimRight(text[:cutBefore(text, limit-len(ellipsis))], " ") + ellipsis
}

// lastBytes returns a text, or an ellipsis and its end, at most limit bytes together.
func lastBytes(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return ellipsis + strings.TrimLeft(text[cutAfter(text, len(text)-limit+len(ellipsis)):], " ")
}

// graphemeLimit is how far before a place a character may begin, in bytes.
const graphemeLimit = 64

// cutBefore returns the last index up to n where a text can be cut: between runes, and not within a
// character of several runes.
func cutBefore(text string, n int) int {
	n = max(0, min(n, len(text)))
	for i := n; i > 0 && i > n-graphemeLimit; i-- {
		if canCut(text, i) {
			return i
		}
	}
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// cutAfter returns the first index from n on where a text can be cut.
func cutAfter(text string, n int) int {
	n = max(0, min(n, len(text)))
	for i := n; i < len(text) && i < n+graphemeLimit; i++ {
		if canCut(text, i) {
			return i
		}
	}
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	return n
}

// joiner makes one character of those beside it.
const joiner = '\u200d'

// canCut reports whether a text may be cut at i.
func canCut(text string, i int) bool {
	if i == 0 || i == len(text) {
		return true
	}
	next, _ := utf8.DecodeRuneInString(text[i:])
	last, _ := utf8.DecodeLastRuneInString(text[:i])
	modifier := next >= 0x1f3fb && next <= 0x1f3ff
	return utf8.RuneStart(text[i]) && next != joiner && last != joiner && !modifier && !unicode.Is(unicode.M, next)
}

// omitMiddle leaves out the middle of a text that is longer than limit bytes, and names the number of
// bytes. If limit has no room for that mark, it keeps the beginning. Unlike excerpt.Ends, it counts the
// mark, and it does not split characters of several runes.
func omitMiddle(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	room := limit - len(leftOut(len(text)))
	if room < 0 {
		return firstBytes(text, limit)
	}
	head, tail := cutBefore(text, (room+1)/2), cutAfter(text, len(text)-room/2)
	return text[:head] + leftOut(tail-head) + text[tail:]
}

func leftOut(bytes int) string {
	return "\n[… " + strconv.Itoa(bytes) + " bytes left out …]\n"
}

// valid returns a text in which U+FFFD replaces invalid UTF-8.
func valid(text string) string { return strings.ToValidUTF8(text, "\ufffd") }
