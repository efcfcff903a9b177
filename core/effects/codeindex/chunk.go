package codeindex

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Chunk is a stretch of whole lines of a file.
type Chunk struct {
	// Title has the path, the lines, and the names that they declare. It is unique within the file.
	Title string
	Text  string
	// FromLine and ToLine are its first and last line, counted from 1.
	FromLine, ToLine int
}

const (
	// chunkGoal is the size in bytes up to which units share a chunk.
	chunkGoal = 1500
	// chunkMax is the maximum size of a chunk in bytes, unless one line is longer.
	chunkMax = 3000
)

// line is a line of a file, with its end.
type line struct {
	text string
	at   int // in the file, in bytes
	// starts is set where a unit begins, such as a declaration with its comment.
	starts bool
	// name is the name that the line declares, or "".
	name string
}

func (l line) blank() bool { return strings.TrimSpace(l.text) == "" }

// indent returns the number of characters of white space before a line.
func (l line) indent() int { return len(l.text) - len(strings.TrimLeft(l.text, " \t")) }

// span is a range of lines: from is inclusive, to exclusive.
type span struct {
	from, to int
	size     int // bytes
	// within is the name of the unit that began before the span, or "" if a unit begins with it.
	within string
}

// Cut divides a file where a unit of its language begins: at declarations in Go, at headings in
// Markdown, and elsewhere at unindented lines that follow a blank line or the end of a block. Units
// are joined up to chunkGoal. Larger ones than chunkMax are cut, at blank lines if possible.
func Cut(name string, content []byte) []Chunk {
	text := string(content)
	lines := linesOf(text)
	switch ext := strings.ToLower(path.Ext(name)); {
	case ext == ".go":
		markGo(content, lines)
	case ext == ".md" || ext == ".markdown" || ext == ".mdx":
		markHeadings(lines)
	default:
		markPlain(lines, !slices.Contains(proseExtensions(), ext))
	}
	var chunks []Chunk
	for _, s := range pack(lines) {
		chunks = append(chunks, s.chunk(name, text, lines))
	}
	return chunks
}

func linesOf(text string) []line {
	lines := make([]line, 0, strings.Count(text, "\n")+1)
	at := 0
	for l := range strings.Lines(text) {
		lines = append(lines, line{text: l, at: at})
		at += len(l)
	}
	return lines
}

// pack joins units up to chunkGoal.
func pack(lines []line) (spans []span) {
	for _, unit := range units(lines) {
		for _, part := range parts(lines, unit) {
			if last := len(spans) - 1; last >= 0 && spans[last].size+part.size <= chunkGoal {
				spans[last].to = part.to
				spans[last].size += part.size
				continue
			}
			spans = append(spans, part)
		}
	}
	return spans
}

// units returns the spans between lines that start a unit.
func units(lines []line) (list []span) {
	for i, l := range lines {
		if i == 0 || l.starts {
			list = append(list, span{from: i})
		}
		unit := &list[len(list)-1]
		unit.to = i + 1
		unit.size += len(l.text)
	}
	return list
}

// parts divides a unit that is larger than chunkMax.
func parts(lines []line, unit span) (list []span) {
	name := firstName(lines[unit.from:unit.to])
	for rest := unit; rest.from < unit.to; {
		part := span{from: rest.from, to: rest.to, size: rest.size}
		if rest.size > chunkMax {
			part = firstPart(lines, rest)
		}
		if part.from > unit.from {
			part.within = name
		}
		list = append(list, part)
		rest.from, rest.size = part.to, rest.size-part.size
	}
	return list
}

// firstPart returns the first part of a span that is too large. It ends at a blank line near the
// goal with little indent, or else at the goal.
func firstPart(lines []line, rest span) span {
	var plain, best span
	bestCost := -1
	size := 0
	for i := rest.from; i < rest.to && (i == rest.from || size+len(lines[i].text) <= chunkMax); i++ {
		if here := (span{from: rest.from, to: i, size: size}); size >= chunkGoal/2 && lines[i-1].blank() &&
			!lines[i].blank() {
			if cost := lines[i].indent()*chunkMax + max(size-chunkGoal, chunkGoal-size); bestCost < 0 || cost < bestCost {
				best, bestCost = here, cost
			}
		}
		size += len(lines[i].text)
		if plain.size < chunkGoal {
			plain = span{from: rest.from, to: i + 1, size: size}
		}
	}
	if bestCost >= 0 {
		return best
	}
	return plain
}

func firstName(lines []line) string {
	for _, l := range lines {
		if l.name != "" {
			return l.name
		}
	}
	return ""
}

// maxNames is the maximum size of the names in a title, in bytes.
const maxNames = 120

func (s span) chunk(name, text string, lines []line) Chunk {
	begin := lines[s.from].at
	c := Chunk{Text: text[begin : begin+s.size], FromLine: s.from + 1, ToLine: s.to}
	names := []string{s.within}
	for _, l := range lines[s.from:s.to] {
		names = append(names, l.name)
	}
	c.Title = fmt.Sprintf("%s:%d-%d%s", name, c.FromLine, c.ToLine, joined(names))
	return c
}

// joined returns the names for a title, each once, up to maxNames.
func joined(names []string) string {
	var seen []string
	size := 0
	for _, name := range names {
		if name == "" || slices.Contains(seen, name) || size+len(name) > maxNames {
			continue
		}
		seen, size = append(seen, name), size+len(name)
	}
	if len(seen) == 0 {
		return ""
	}
	return " " + strings.Join(seen, ", ")
}
