package apptest

import (
	"slices"
	"strings"
)

// Lines of transcripts above foldAbove bytes are folded into lines of at most foldTo, so that an editor shows them, and
// a difference is a few lines. A string is never cut.
const (
	foldAbove  = 2000
	foldTo     = 1000
	foldIndent = "   "
)

// Fold folds the long lines of a transcript, behind commas between members and elements. A line that continues another
// one begins with three spaces.
func Fold(transcript string) string {
	var text strings.Builder
	for line := range strings.Lines(transcript) {
		if len(line) <= foldAbove {
			text.WriteString(line)
			continue
		}
		text.WriteString(strings.Join(foldLine(line, commas(line), 1), "\n"+foldIndent))
	}
	return text.String()
}

// Unfold reverses Fold.
func Unfold(transcript string) string { return strings.ReplaceAll(transcript, "\n"+foldIndent, "") }

// foldLine splits a text behind the commas of one depth, and long parts behind deeper ones. Commas are their ends in
// the text, by depth.
func foldLine(text string, commas map[int][]int, depth int) []string {
	if len(text) <= foldTo || depth > len(commas) {
		return []string{text}
	}
	var parts []string
	start := 0
	for _, end := range append(slices.Clone(commas[depth]), len(text)) {
		inside := map[int][]int{}
		for d, ends := range commas {
			inside[d] = []int{}
			for _, e := range ends {
				if e > start && e < end {
					inside[d] = append(inside[d], e-start)
				}
			}
		}
		parts = append(parts, foldLine(text[start:end], inside, depth+1)...)
		start = end
	}
	return parts
}

// commas returns the ends of all commas outside of strings, by the depth of brackets.
func commas(text string) map[int][]int {
	ends, depth, quoted := map[int][]int{}, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			ends[depth] = slices.Clip(ends[depth])
		case c == '}' || c == ']':
			depth--
		case c == ',':
			ends[depth] = append(ends[depth], i+1)
		}
	}
	return ends
}
