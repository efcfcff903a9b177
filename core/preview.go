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
	// previewBytes bounds what of a text is looked at; quickBytes are enough of most.
	previewBytes = 4 << 10
	quickBytes   = 256
	ellipsis     = "…"
)

// preview is the begin of a text in one line: runs of white space are one space, and
// what cannot be seen is left out. Graphemes stay whole.
func preview(text string) string {
	text = strings.TrimSpace(text)
	if line, enough := previewOf(text, quickBytes); enough {
		return line
	}
	line, _ := previewOf(text, previewBytes)
	return line
}

// previewOf looks at a limited number of bytes. They are enough where the preview is as
// long as it may be, or the text ends within them.
func previewOf(text string, limit int) (line string, enough bool) {
	text, cut := beginOf(text, limit)
	line = oneLine(text)
	count, end, last := 0, 0, 0 // end is that of the last grapheme but one
	for it := graphemes.FromString(line); it.Next(); {
		if count++; count > previewLength {
			return line[:end] + ellipsis, true
		}
		end, last = last, it.End()
	}
	if cut { // the last grapheme may have been cut, too
		return line[:end] + ellipsis, false
	}
	return line, true
}

func beginOf(text string, limit int) (begin string, cut bool) {
	if len(text) <= limit {
		return text, false
	}
	end := limit
	for end > limit-utf8.UTFMax && !utf8.RuneStart(text[end]) {
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
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			continue
		case space:
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}
