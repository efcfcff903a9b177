package patch

import (
	"fmt"
	"strings"
)

// around is how many lines a unified diff shows before and after a change.
const around = 3

// Diff is the unified diff from one text to another, without names; "" where they are
// the same. git apply takes it under a header with names.
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

// splitLines cuts a text after each newline.
func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		return lines[:last]
	}
	return lines
}

// together is how many of the first blocks are so near to each other that one hunk
// shows them.
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

// span is where lines are in a hunk's header: the first, from 1, and how many; of no
// lines the one before them.
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
