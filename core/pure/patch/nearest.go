package patch

import (
	"fmt"
	"strings"

	"appserver/core/pure/charset"
	"appserver/platform/excerpt"
)

// maxShown is the number of lines of a file or a hunk that an error shows, and maxWidth the number
// of bytes of each line.
const (
	maxShown = 12
	maxWidth = 200
)

// maxCompared is the number of lines of a hunk that nearest looks for. If it finds none, similar
// compares the words of maxSimilar lines with maxSearched lines of the file.
const (
	maxCompared = 100
	maxSimilar  = 3
	maxSearched = 20_000
)

// noContext returns the error for a context line that is not in the file, or that is there several times in another
// form of Unicode.
func (s *section) noContext(path string, i int, t text, from, at int) error {
	wanted := []string{*s.hunks[i].context}
	shown := excerpt.Head(wanted[0], maxWidth)
	if at == several {
		return s.unclear(path, i, fmt.Sprintf("the line after %s, %q, is in the file several times in another encoding or "+
			"form of Unicode", hunkMark, shown))
	}
	return s.mismatch(path, i, fmt.Sprintf("the line after %s, %q, is not in the file%s", hunkMark, shown, behind(from)),
		t, wanted)
}

// noLines returns the error for a hunk whose lines are not in the file, or are there several times.
func (s *section) noLines(path string, i int, t text, from, at int) error {
	wanted := old(s.hunks[i].ops)
	where := behind(from)
	if s.hunks[i].atEnd {
		where = " at its end"
	}
	switch {
	case at == several && len(wanted) == 0:
		return s.unclear(path, i, "the hunk has no line of the file, so its place is not certain")
	case at == several && s.hunks[i].numbers != nil:
		return s.unclear(path, i, fmt.Sprintf("the file has these lines several times%s, and not at line %d:\n%s", where,
			s.hunks[i].numbers.oldStart, show(wanted, nil)))
	case at == several:
		return s.unclear(path, i, fmt.Sprintf("the file has these lines several times%s, in another encoding or form of "+
			"Unicode:\n%s", where, show(wanted, nil)))
	}
	return s.mismatch(path, i, "the file does not have these lines"+where+":\n"+show(wanted, nil), t, wanted)
}

// unclear returns the error for a hunk with several places.
func (s *section) unclear(path string, i int, message string) error {
	return &Error{Kind: Mismatch, Path: path, Hunk: i + 1, Line: s.hunks[i].line,
		Message: strings.TrimSuffix(message, "\n") + "\nGive more of the unchanged lines around the change."}
}

func behind(from int) string {
	if from == 0 {
		return ""
	}
	return fmt.Sprintf(" after line %d, where the previous hunk or the %s line ends", from, hunkMark)
}

// mismatch returns the error for a hunk, with the lines of the file that resemble it most.
func (s *section) mismatch(path string, i int, message string, t text, wanted []string) error {
	if at := nearest(t.lines, wanted); at != none {
		end := min(at+min(len(wanted), maxShown), len(t.lines))
		var lines []string
		for _, l := range t.lines[at:end] {
			lines = append(lines, charset.Valid(l.text))
		}
		message = strings.TrimSuffix(
			message,
			"\n",
		) + "\nThe nearest lines of the file are:\n" + show(
			lines,
			func(k int) int { return at + k + 1 },
		)
	} else {
		message = strings.TrimSuffix(message, "\n") + "\nThe file has no similar line. Read the file again before you " +
			"change it."
	}
	return &Error{
		Kind:    Mismatch,
		Path:    path,
		Hunk:    i + 1,
		Line:    s.hunks[i].line,
		Message: strings.TrimSuffix(message, "\n"),
	}
}

// show lists lines, with line numbers if number is set.
func show(lines []string, number func(int) int) string {
	var b strings.Builder
	for k, text := range lines {
		if k == maxShown {
			fmt.Fprintf(&b, "  … and %d more\n", len(lines)-k)
			break
		}
		if number != nil {
			fmt.Fprintf(&b, "  %d", number(k))
		}
		b.WriteString("  " + excerpt.Head(text, maxWidth) + "\n")
	}
	return b.String()
}

// nearest returns the index at which the most wanted lines match, ignoring typography and
// surrounding space. If none matches anywhere, it returns the index of the line that shares the
// most words with a wanted line.
func nearest(lines []line, wanted []string) int {
	wanted = wanted[:min(len(wanted), maxCompared)]
	at, best := none, 0
	scores := map[int]int{}
	places := map[string][]int{}
	for i, w := range wanted {
		if w = plain(w); w != "" {
			places[w] = append(places[w], i)
		}
	}
	for i, l := range lines {
		for _, k := range places[plain(l.text)] {
			start := max(i-k, 0)
			scores[start]++
			if score := scores[start]; score > best || score == best && start < at {
				at, best = start, score
			}
		}
	}
	if at == none {
		return similar(lines, wanted)
	}
	return at
}

// similar returns the index of the line that shares the most words with a wanted line, or none if
// no line shares half of its words.
func similar(lines []line, wanted []string) int {
	lines = lines[:min(len(lines), maxSearched)]
	at, best := none, 0.5
	for k, w := range wanted[:min(len(wanted), maxSimilar)] {
		words := wordsOf(w)
		for i, l := range lines {
			if score := shared(words, wordsOf(l.text)); score > best {
				at, best = max(i-k, 0), score
			}
		}
		if at != none {
			return at
		}
	}
	return none
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return r < 0x80 && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '_'
	})
}

// shared returns the share of words that are in both lists, from 0 to 1.
func shared(a, b []string) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	left := map[string]int{}
	for _, w := range a {
		left[w]++
	}
	both := 0
	for _, w := range b {
		if left[w] > 0 {
			left[w]--
			both++
		}
	}
	return float64(2*both) / float64(len(a)+len(b))
}
