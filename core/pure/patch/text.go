package patch

import (
	"strings"

	"appserver/core/pure/charset"
)

// text is a file as lines.
type text struct {
	lines []line
	charset.Encoding
	// bom is set if the file begins with a byte order mark, which is not part of the first line.
	bom bool
}

type line struct {
	text string
	// ending is "\n", "\r\n", "\r", or "" for a last line without a newline.
	ending string
}

// readText divides a file into lines. In a file without "\n", "\r" ends a line.
func readText(content string, e charset.Encoding) text {
	t := text{Encoding: e}
	content, t.bom = strings.CutPrefix(content, bom)
	ending := "\n"
	if !strings.Contains(content, ending) {
		ending = "\r"
	}
	for content != "" {
		t.lines = append(t.lines, cutLine(&content, ending))
	}
	return t
}

// cutLine removes the first line from content and returns it.
func cutLine(content *string, ending string) line {
	before, after, ended := strings.Cut(*content, ending)
	*content = after
	if !ended {
		return line{before, ""}
	}
	if bare, ok := strings.CutSuffix(before, "\r"); ok && ending == "\n" {
		return line{bare, "\r\n"}
	}
	return line{before, ending}
}

// String returns the content.
func (t text) String() string {
	var b strings.Builder
	if t.bom {
		b.WriteString(bom)
	}
	for _, l := range t.lines {
		b.WriteString(l.text)
		b.WriteString(l.ending)
	}
	return b.String()
}

// isEnded reports whether the last line has a line ending. An empty file is ended.
func (t text) isEnded() bool {
	return len(t.lines) == 0 || t.lines[len(t.lines)-1].ending != ""
}

// endingAt returns the ending of a line, of the nearest one before it that has an ending, or of the first line. It is
// "\n" if no line has an ending.
func (t text) endingAt(at int) string {
	for at = min(at, len(t.lines)-1); at >= 0; at-- {
		if t.lines[at].ending != "" {
			return t.lines[at].ending
		}
	}
	if len(t.lines) > 0 && t.lines[0].ending != "" {
		return t.lines[0].ending
	}
	return "\n"
}
