// Package excerpt shortens texts: to a beginning, to head and tail, or to one line. Each function
// states its unit, bytes or runes, and the mark that it leaves.
package excerpt

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Text keeps the head and the tail of a text, each half of the limit, in bytes. The text
// must be valid UTF-8.
type Text struct {
	Limit int
	head  strings.Builder
	// tail holds at least the last bytes after the head, at most twice as many as
	// are kept.
	tail  []byte
	total int64
}

func (t *Text) headRoom() int { return t.Limit / 2 }
func (t *Text) tailRoom() int { return t.Limit - t.Limit/2 }

// Write appends a piece of the text.
func (t *Text) Write(text string) {
	t.total += int64(len(text))
	n := min(len(text), t.headRoom()-t.head.Len())
	t.head.WriteString(text[:n])
	t.tail = append(t.tail, last(text[n:], t.tailRoom())...)
	if len(t.tail) > 2*t.tailRoom() {
		t.tail = append(t.tail[:0], last(t.tail, t.tailRoom())...)
	}
}

// String returns the text. A mark with the number of missing bytes replaces its middle if it is too
// long.
func (t *Text) String() string {
	head, tail := t.head.String(), string(last(t.tail, t.tailRoom()))
	if int64(len(head)+len(tail)) == t.total {
		return head + tail
	}
	head = whole(head)
	for tail != "" && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	cut := t.total - int64(len(head)+len(tail))
	return fmt.Sprintf("%s\n[... %d bytes cut ...]\n%s", head, cut, tail)
}

// whole returns the text without an incomplete rune at its end.
func whole(text string) string {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRuneInString(tail) {
				return text
			}
			return text[:len(text)-n]
		}
	}
	return text
}

// last returns the end of a text, at most n bytes.
func last[T string | []byte](text T, n int) T { return text[max(0, len(text)-n):] }
