package core

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"appserver/core/pure/digest"
	"appserver/core/pure/history"
	"appserver/platform/excerpt"
	"appserver/protocol"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

const (
	// previewLength and longLength bound the previews of an item, in graphemes.
	previewLength = 80
	longLength    = 160
	// previewBytes bounds the bytes of a text that are read. quickBytes suffice for most texts.
	previewBytes = 4 << 10
	quickBytes   = 256
	ellipsis     = "…"
)

// about stands between the subject of an item and its text.
const about = " → "

// itemLines returns the previews of an item: its subject, which is the call of an output, and its first telling text.
// The subject of an agent's result is the name of the agent, if it is known.
func itemLines(item protocol.ResponseItem, subject string) (lines history.Lines) {
	calls, printed := digest.Subject(item)
	of, text := digest.Telling(item)
	subject = cmp.Or(calls, of, subject)
	if line, ok := digest.AgentResult(item, subject); ok {
		subject, text = "", line
	}
	long := joined(subject, text, longLength)
	if lines.Short = joined(subject, text, previewLength); lines.Short != long {
		lines.Long = long
	}
	if lines.Printed = preview(printed, longLength); lines.Printed == long {
		lines.Printed = long // one text in memory
	}
	return lines
}

// joined returns a subject and a text as one line of at most limit graphemes. Of a long subject, three fifths of the
// line are left, or more if the text is short.
func joined(subject, text string, limit int) string {
	subject, text = preview(subject, limit), preview(text, limit)
	if subject == "" || text == "" {
		return subject + text
	}
	const around = 3 // the length of about
	room := limit - around
	first, second := lengthOf(subject), lengthOf(text)
	if first+second > room {
		first = min(first, max(room*3/5, room-second))
		subject = preview(subject, first)
		text = preview(text, room-first)
	}
	return subject + about + text
}

// lengthOf returns the number of graphemes of a line.
func lengthOf(line string) (n int) {
	if isASCII(line) {
		return len(line)
	}
	for it := graphemes.FromString(line); it.Next(); {
		n++
	}
	return n
}

func isASCII(line string) bool {
	return !strings.ContainsFunc(line, func(r rune) bool { return r >= utf8.RuneSelf })
}

// preview returns the begin of a text as one line of at most limit graphemes, which is at most longLength. It replaces
// runs of white space by one space, removes control characters, and does not split graphemes.
func preview(text string, limit int) string {
	text = strings.TrimSpace(text)
	if line, ok := asciiPreview(text, limit); ok {
		return line
	}
	if line, enough := previewOf(text, quickBytes, limit); enough {
		return line
	}
	line, _ := previewOf(text, previewBytes, limit)
	return line
}

// asciiPreview returns the preview of a text whose begin is ASCII without control characters other than white space.
// Its graphemes are bytes then.
func asciiPreview(text string, limit int) (line string, ok bool) {
	var begin [longLength + 2]byte
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
		if n++; n > limit {
			return string(begin[:limit-1]) + ellipsis, true
		}
	}
	return string(begin[:n]), true
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// previewOf reads a limited number of bytes. It reports whether they suffice: the preview has its full
// length, or the text ends within them.
func previewOf(text string, bytes, limit int) (line string, enough bool) {
	cut := len(text) > bytes
	line = excerpt.Line(excerpt.Prefix(text, bytes))
	count, end, last := 0, 0, 0 // end is the end of the last grapheme but one
	for it := graphemes.FromString(line); it.Next(); {
		if count++; count > limit {
			return line[:end] + ellipsis, true
		}
		end, last = last, it.End()
	}
	if cut { // the last grapheme may be incomplete
		return line[:end] + ellipsis, false
	}
	return line, true
}
