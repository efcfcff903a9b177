package core

import (
	"strings"

	"appserver/platform/excerpt"

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
	if line, ok := asciiPreview(text); ok {
		return line
	}
	if line, enough := previewOf(text, quickBytes); enough {
		return line
	}
	line, _ := previewOf(text, previewBytes)
	return line
}

// asciiPreview returns the preview of a text whose begin is ASCII without control characters other than white space.
// Its graphemes are bytes then.
func asciiPreview(text string) (line string, ok bool) {
	var begin [previewLength + 2]byte
	n, space := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case i == quickBytes, c > '~', c < ' ' && !isSpace(c):
			return "", false
		case isSpace(c):
			space = true
			continue
		}
		if space {
			begin[n], space = ' ', false
			n++
		}
		begin[n] = text[i]
		if n++; n > previewLength {
			return string(begin[:previewLength-1]) + ellipsis, true
		}
	}
	return string(begin[:n]), true
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// previewOf reads a limited number of bytes. It reports whether they suffice: the preview has its full
// length, or the text ends within them.
func previewOf(text string, limit int) (line string, enough bool) {
	cut := len(text) > limit
	line = excerpt.Line(excerpt.Prefix(text, limit))
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
