package cmdline

import (
	"slices"
	"strings"
)

// suggestion returns the end of a message that names the nearest word, or "".
func suggestion(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}

// meant returns the end of a message about an unknown command: the nearest name, or the command elsewhere in the table
// that has the name.
func (p *Program) meant(at path, name string) string {
	prefix := strings.TrimSpace(at.short() + " ")
	if near := nearest(name, at.last().names()); near != "" {
		return ": did you mean " + strings.TrimSpace(prefix+" "+near) + "?"
	}
	var same []string
	p.each(func(c path) {
		if len(c) > 1 && c.last().Name == name {
			same = append(same, c.short())
		}
	})
	if len(same) == 0 {
		return ""
	}
	return ": did you mean " + strings.Join(same, " or ") + "?"
}

// maxTyped bounds the words that are compared, because the time grows with their square.
const maxTyped = 64

// nearest returns the known word that is nearest to a typed one, or "" if none is near: a third of its letters may
// differ. The beginning of a single word counts as near.
func nearest(word string, known []string) string {
	if word == "" || len(word) > maxTyped {
		return ""
	}
	lower := strings.ToLower(word)
	best, least := "", max(1, len(lower)/3)+1
	for _, k := range known {
		if d := distance(lower, k); d < least {
			best, least = k, d
		}
	}
	if best != "" || len(lower) < 2 {
		return best
	}
	begin := slices.DeleteFunc(slices.Clone(known), func(k string) bool { return !strings.HasPrefix(k, lower) })
	if len(begin) == 1 {
		return begin[0]
	}
	return ""
}

// distance returns the number of letters to insert, remove, replace or swap with their neighbour that makes b of a.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := range len(a) {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i + 1
		for j := range len(b) {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		rows = [3][]int{last, row, before}
	}
	return rows[1][len(b)]
}
