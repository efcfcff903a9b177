package core

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

const (
	// previewLength bounds a preview, in graphemes.
	previewLength = 80
	// previewBytes bounds what of a text is looked at.
	previewBytes = 4 << 10
	ellipsis     = "…"
)

// preview is the begin of a text in one line: runs of white space are one space, and
// what cannot be seen is left out. Graphemes stay whole.
func preview(text string) string {
	text, cut := beginOf(strings.TrimSpace(text))
	line := oneLine(text)
	count, end, last := 0, 0, 0 // end is that of the last grapheme but one
	for it := graphemes.FromString(line); it.Next(); {
		if count++; count > previewLength {
			cut = true
			break
		}
		end, last = last, it.End()
	}
	if cut { // the last grapheme may have been cut, too
		return line[:end] + ellipsis
	}
	return line
}

// beginOf is as much of a text as is looked at.
func beginOf(text string) (begin string, cut bool) {
	if len(text) <= previewBytes {
		return text, false
	}
	end := previewBytes
	for end > previewBytes-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end], true
}

func oneLine(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	space := false
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case unicode.IsControl(r):
			continue
		case space:
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}
