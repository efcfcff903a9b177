package patch

import "strings"

// text is a file as lines.
type text struct {
	lines []line
	// ending is the line ending of the file's first line, and of added lines.
	ending string
}

type line struct {
	text string
	// ending is "\n", "\r\n", or "" for a last line without a newline.
	ending string
}

func readText(content string) text {
	t := text{ending: "\n"}
	for content != "" {
		line := cutLine(&content)
		if len(t.lines) == 0 && line.ending != "" {
			t.ending = line.ending
		}
		t.lines = append(t.lines, line)
	}
	return t
}

// cutLine removes the first line from content and returns it.
func cutLine(content *string) line {
	before, after, ended := strings.Cut(*content, "\n")
	*content = after
	if !ended {
		return line{before, ""}
	}
	if bare, ok := strings.CutSuffix(before, "\r"); ok {
		return line{bare, "\r\n"}
	}
	return line{before, "\n"}
}

// String returns the content. In a changed text, every line has an ending.
func (t text) String() string {
	var b strings.Builder
	for _, l := range t.lines {
		b.WriteString(l.text)
		b.WriteString(l.ending)
	}
	return b.String()
}

// close adds the missing ending of the last line.
func (t text) close() {
	for i := range t.lines {
		if t.lines[i].ending == "" {
			t.lines[i].ending = t.ending
		}
	}
}
