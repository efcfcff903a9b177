package patch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"appserver/core/pure/charset"
	"appserver/platform/excerpt"
	"golang.org/x/text/unicode/norm"
)

// place is a position of a hunk: its unchanged and removed ops match the lines from index at.
type place struct {
	at  int
	ops []op
}

// swap replaces count lines, from index at, by new lines.
type swap struct {
	at, count int
	lines     []string
	// bom is set if the first removed line begins with a byte order mark in the patch.
	bom bool
}

// end returns the index after the replaced lines.
func (w swap) end() int { return w.at + w.count }

// update returns the content after the hunks of a section.
func (s *section) update(path, content string) (string, error) {
	decoded, e, reason := charset.Decode(content)
	if reason != "" {
		return "", s.missing(path, reason)
	}
	t := readText(decoded, e)
	swaps, err := s.swaps(path, t)
	if err != nil {
		return "", err
	}
	changed := t.with(swaps)
	s.setEnd(&changed, t, swaps)
	return e.Encode(changed.String()), nil
}

// with returns the text after the swaps. A line that replaces another gets its ending. Other lines get the ending of
// the line before them, or of the first line.
func (t text) with(swaps []swap) text {
	changed := text{Encoding: t.Encoding, bom: t.bom}
	from := 0
	for _, w := range swaps {
		changed.lines = append(changed.lines, t.lines[from:w.at]...)
		for i, l := range w.lines {
			if w.at == 0 && i == 0 {
				l = strings.TrimPrefix(l, bom)
			}
			changed.lines = append(changed.lines, line{l, t.endingAt(min(w.at+i, w.end()-1))})
		}
		from = w.end()
	}
	changed.lines = append(changed.lines, t.lines[from:]...)
	changed.bom = t.keepsBOM(swaps)
	return changed
}

// keepsBOM reports whether the text begins with a byte order mark after the swaps. That changes only if the patch has
// the mark on one side: in the removed first line, or in the new one.
func (t text) keepsBOM(swaps []swap) bool {
	if len(swaps) == 0 || swaps[0].at > 0 || len(swaps[0].lines) == 0 || t.IsUTF16() {
		return t.bom
	}
	if after := strings.HasPrefix(swaps[0].lines[0], bom); after != swaps[0].bom {
		return after
	}
	return t.bom
}

// setEnd sets the ending of the last line. The file ends with a newline if it did so before, unless the patch has a
// mark for its end. A patch that replaces the last line by the same line can only mean the missing newline.
func (s *section) setEnd(changed *text, t text, swaps []swap) {
	last := len(changed.lines) - 1
	if last < 0 {
		return
	}
	for i := range changed.lines[:last] {
		if changed.lines[i].ending == "" {
			changed.lines[i].ending = t.endingAt(len(t.lines))
		}
	}
	ended, ending := t.isEnded(), cmp.Or(changed.lines[last].ending, t.endingAt(len(t.lines)))
	changed.lines[last].ending = ""
	if !ended && changed.String() == t.String() {
		ended = slices.ContainsFunc(swaps, func(w swap) bool { return w.end() == len(t.lines) && w.count > 0 })
	}
	if marked, ends := s.markedEnd(); marked {
		ended = ends
	}
	if ended {
		changed.lines[last].ending = ending
	}
}

// markedEnd reports whether a line of the section has the mark of a missing newline, and whether the new file ends
// with a newline then.
func (s *section) markedEnd() (marked, ends bool) {
	for _, h := range s.hunks {
		for _, op := range h.ops {
			switch {
			case op.unended && op.mark == added:
				return true, false
			case op.unended && op.mark == removed:
				marked, ends = true, true
			}
		}
	}
	return marked, ends
}

// swaps finds all hunks and returns their changes in the order of the file. Changes at one position
// keep the order of the patch. A hunk that only adds lines applies at the end of the file, and does
// not move the position where the next hunk is searched.
func (s *section) swaps(path string, t text) ([]swap, error) {
	var all []swap
	from := 0
	for i, h := range s.hunks {
		numbered := h.numbers != nil
		if h.context != nil {
			switch at := h.seekContext(t, from); {
			case at >= 0:
				from, numbered = at+1, false
			case !numbered:
				return nil, s.noContext(path, i, t, from, at)
			}
		}
		p := h.find(t, from, numbered)
		if p.at < 0 {
			return nil, s.noLines(path, i, t, from, p.at)
		}
		if n := len(old(p.ops)); n > 0 {
			from = p.at + n
		}
		swaps := p.swaps()
		if err := s.check(path, i, t, swaps); err != nil {
			return nil, err
		}
		t.adopt(p, swaps)
		all = append(all, swaps...)
	}
	slices.SortStableFunc(all, func(a, b swap) int { return cmp.Compare(a.at, b.at) })
	return all, nil
}

// seekContext returns the index of the line that the hunk names. Some models write @@ after the line, too.
func (h *hunk) seekContext(t text, from int) int {
	at := t.seek([]string{*h.context}, from, false)
	bare := strings.TrimRightFunc(strings.TrimSuffix(strings.TrimPrefix(*h.context, bom), hunkMark), isSpace)
	if at == none && h.numbers == nil && bare != "" {
		return t.seek([]string{bare}, from, false)
	}
	return at
}

// check rejects an added line whose bytes are not certain.
func (s *section) check(path string, i int, t text, swaps []swap) error {
	for _, w := range swaps {
		for _, l := range w.lines {
			if !t.allows(l) {
				return &Error{Kind: Mismatch, Path: path, Hunk: i + 1, Line: s.hunks[i].line, Message: fmt.Sprintf(
					"the file is not UTF-8, so the bytes of characters outside of ASCII are not known: %q. "+
						"Add lines in ASCII only, or use a command that knows the encoding", excerpt.Head(l, maxWidth))}
			}
		}
	}
	return nil
}

// adopt gives added lines the Unicode form of the lines that the hunk matched, if it did so in another form.
func (t text) adopt(p place, swaps []swap) {
	form, other := norm.NFC, false
	for i, w := range old(p.ops) {
		l := t.lines[p.at+i].text
		other = other || plain(l) != plain(w)
		if !norm.NFC.IsNormalString(l) {
			form = norm.NFD
		}
	}
	if !other || t.IsUnknown() {
		return
	}
	for _, w := range swaps {
		for i := range w.lines {
			w.lines[i] = form.String(w.lines[i])
		}
	}
}

// swaps returns the changed runs of lines.
func (p place) swaps() (all []swap) {
	at, run := p.at, false
	for _, op := range p.ops {
		if op.mark == unchanged {
			at, run = at+1, false
			continue
		}
		if !run {
			all, run = append(all, swap{at: at}), true
		}
		w := &all[len(all)-1]
		switch {
		case op.mark == added:
			w.lines = append(w.lines, op.text)
			continue
		case w.count == 0:
			w.bom = op.bom || strings.HasPrefix(op.text, bom)
		}
		w.count++
		at++
	}
	return all
}

// find returns the position of the hunk's lines, searched from a line on. An empty line at their
// end may represent the final newline, which is not a line of its own. A hunk without such lines is at the end of the
// file, unless its numbers are those of the beginning.
func (h *hunk) find(t text, from int, numbered bool) place {
	lines := old(h.ops)
	switch {
	case len(lines) == 0 && !numbered, len(lines) == 0 && h.numbers.oldStart >= len(t.lines):
		return place{len(t.lines), h.ops}
	case len(lines) == 0 && h.numbers.oldStart == 0:
		return place{0, h.ops}
	case len(lines) == 0:
		return place{several, h.ops}
	}
	for _, ops := range h.variants(t) {
		if at := h.seek(t, old(ops), from, numbered); at != none {
			return place{at, ops}
		}
	}
	return place{none, h.ops}
}

// variants returns the ops, without a byte order mark in the first line, and without an empty line at their end.
func (h *hunk) variants(t text) [][]op {
	lines, all := old(h.ops), [][]op{h.ops}
	if strings.HasPrefix(lines[0], bom) {
		all = append(all, withoutBOM(h.ops))
	}
	if lines[len(lines)-1] == "" {
		all = append(all, withoutLast(h.ops))
	}
	return all
}

// seek returns the index of lines. If the hunk has numbers, lines that are at several places must be at its number.
func (h *hunk) seek(t text, lines []string, from int, numbered bool) int {
	if !numbered || len(lines) == 0 {
		return t.seek(lines, from, h.atEnd)
	}
	all, _ := t.matches(lines, from, h.atEnd, len(t.lines)+1)
	switch at := h.numbers.oldStart - 1; {
	case len(all) == 0:
		return none
	case len(all) == 1:
		return all[0]
	case slices.Contains(all, at):
		return at
	}
	return several
}

// old returns the lines of the file that the hunk matches.
func old(ops []op) []string {
	lines := make([]string, 0, len(ops))
	for _, op := range ops {
		if op.mark != added {
			lines = append(lines, op.text)
		}
	}
	return lines
}

// withoutBOM removes the byte order mark from the first old line.
func withoutBOM(ops []op) []op {
	ops = slices.Clone(ops)
	first := slices.IndexFunc(ops, func(o op) bool { return o.mark != added })
	ops[first].text, ops[first].bom = strings.TrimPrefix(ops[first].text, bom), true
	return ops
}

// withoutLast removes the last old line, which is empty, from the hunk. It also removes the last
// new line if that is empty.
func withoutLast(ops []op) []op {
	last := len(ops) - 1
	for ops[last].mark == added {
		last--
	}
	rest := append([]op{}, ops[:last]...)
	if ops[last].mark == unchanged {
		rest = append(rest, op{mark: added})
	}
	rest = append(rest, ops[last+1:]...)
	for i := len(rest) - 1; i >= 0; i-- {
		switch {
		case rest[i].mark == removed:
			continue
		case rest[i].text != "":
		case rest[i].mark == added:
			return append(rest[:i], rest[i+1:]...)
		default:
			rest[i].mark = removed
		}
		break
	}
	return rest
}
