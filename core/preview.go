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
	// previewBytes bounds the bytes of a text that are read. quickBytes suffice for most texts.
	previewBytes = 4 << 10
	quickBytes   = 256
	ellipsis     = "…"
)

// preview returns the begin of a text as one line. It replaces runs of white space by one space, removes
// control characters, and does not split graphemes.
func preview(text string) string {
	text = strings.TrimSpace(text)
	if line, enough := previewOf(text, quickBytes); enough {
		return line
	}
	line, _ := previewOf(text, previewBytes)
	return line
}

// previewOf reads a limited number of bytes. It reports whether they suffice: the preview has its full
// length, or the text ends within them.
func previewOf(text string, limit int) (line string, enough bool) {
	text, cut := beginOf(text, limit)
	line = oneLine(text)
	count, end, last := 0, 0, 0 // end is the end of the last grapheme but one
	for it := graphemes.FromString(line); it.Next(); {
		if count++; count > previewLength {
			return line[:end] + ellipsis, true
		}
		end, last = last, it.End()
	}
	if cut { // the last grapheme may be incomplete
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

// beginOfText returns the beginning of a text, at most limit bytes of it.
func beginOfText(text string, limit int) string {
	begin, _ := beginOf(text, max(limit, 0))
	return begin
}
