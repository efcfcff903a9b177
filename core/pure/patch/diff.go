package patch

import (
	"fmt"
	"strings"
)

// around is the number of unchanged lines that a unified diff shows before and after a change.
const around = 3

// Diff returns the unified diff of two texts, without names, or "" if they are equal. git apply
// accepts it below a header with names.
func Diff(before, after string) string {
	a, b := splitLines(before), splitLines(after)
	var out strings.Builder
	for rest := blocks(a, b); len(rest) > 0; {
		n := together(rest)
		writeBlocks(&out, a, b, rest[:n])
		rest = rest[n:]
	}
	return out.String()
}

// splitLines splits a text after each newline.
func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		return lines[:last]
	}
	return lines
}

// together returns the number of blocks, from the first, that are close enough for one hunk.
func together(all []block) int {
	n := 1
	for n < len(all) && all[n].a-all[n-1].aEnd <= 2*around {
		n++
	}
	return n
}

// writeBlocks writes a hunk.
func writeBlocks(out *strings.Builder, a, b []string, hunk []block) {
	first, last := hunk[0], hunk[len(hunk)-1]
	before, after := min(around, first.a), min(around, len(a)-last.aEnd)
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(first.a-before, last.aEnd+after), span(first.b-before, last.bEnd+after))
	at := first.a - before
	for _, h := range hunk {
		writeLines(out, ' ', a[at:h.a])
		writeLines(out, '-', a[h.a:h.aEnd])
		writeLines(out, '+', b[h.b:h.bEnd])
		at = h.aEnd
	}
	writeLines(out, ' ', a[at:at+after])
}

// span formats a range of lines for a hunk header: the first line, counted from 1, and their
// number. An empty range has the number of the line before it.
func span(from, to int) string {
	switch n := to - from; n {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(to)
	default:
		return fmt.Sprintf("%d,%d", from+1, n)
	}
}

func writeLines(out *strings.Builder, mark byte, lines []string) {
	for _, l := range lines {
		out.WriteByte(mark)
		out.WriteString(l)
		if !strings.HasSuffix(l, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
