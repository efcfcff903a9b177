package patch

import (
	"cmp"
	"slices"
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
}

// update returns the content after the hunks of a section.
func (s *section) update(content string) (string, error) {
	t := readText(content)
	swaps, err := s.swaps(t)
	if err != nil {
		return "", err
	}
	changed := text{ending: t.ending}
	from := 0
	for _, w := range swaps {
		changed.lines = append(changed.lines, t.lines[from:w.at]...)
		for _, l := range w.lines {
			changed.lines = append(changed.lines, line{l, t.ending})
		}
		from = w.at + w.count
	}
	changed.lines = append(changed.lines, t.lines[from:]...)
	changed.close()
	return changed.String(), nil
}

// swaps finds all hunks and returns their changes in the order of the file. Changes at one position
// keep the order of the patch. A hunk that only adds lines applies at the end of the file, and does
// not move the position where the next hunk is searched.
func (s *section) swaps(t text) ([]swap, error) {
	var all []swap
	from := 0
	for i, h := range s.hunks {
		if h.context != nil {
			at := seek(t.lines, []string{*h.context}, from, false)
			if at == none {
				return nil, s.noContext(i, t, from)
			}
			from = at + 1
		}
		p := place{len(t.lines), h.ops}
		if len(old(h.ops)) > 0 {
			if p = h.find(t, from); p.at == none {
				return nil, s.noLines(i, t, from)
			}
			from = p.at + len(old(p.ops))
		}
		all = append(all, p.swaps()...)
	}
	slices.SortStableFunc(all, func(a, b swap) int { return cmp.Compare(a.at, b.at) })
	return all, nil
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
		if op.mark == added {
			w.lines = append(w.lines, op.text)
		} else {
			w.count++
			at++
		}
	}
	return all
}

// find returns the position of the hunk's lines, searched from a line on. An empty line at their
// end may represent the final newline, which is not a line of its own.
func (h *hunk) find(t text, from int) place {
	lines := old(h.ops)
	at := seek(t.lines, lines, from, h.atEnd)
	if at != none || lines[len(lines)-1] != "" {
		return place{at, h.ops}
	}
	ops := withoutLast(h.ops)
	return place{seek(t.lines, old(ops), from, h.atEnd), ops}
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

// withoutLast removes the last old line, which is empty, from the hunk. It also removes the last
// new line if that is empty.
func withoutLast(ops []op) []op {
	last := len(ops) - 1
	for ops[last].mark == added {
		last--
	}
	rest := append([]op{}, ops[:last]...)
	if ops[last].mark == unchanged {
		rest = append(rest, op{added, ""})
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
