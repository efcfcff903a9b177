package patch

import (
	"cmp"
	"slices"
)

// place is where a hunk goes: the lines from at on that its ops stay or go by.
type place struct {
	at  int
	ops []op
}

// swap puts new lines in the place of count lines from at on.
type swap struct {
	at, count int
	lines     []string
}

// update is a file's content after the hunks of a section.
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

// swaps finds all hunks, and is what they change, in the order of the file; where
// several come to one place, in that of the patch. Hunks that only add lines go to the
// end, and none is looked for behind them.
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

// swaps are the runs of lines that go and come.
func (p place) swaps() (all []swap) {
	at, run := p.at, false
	for _, op := range p.ops {
		if op.mark == stays {
			at, run = at+1, false
			continue
		}
		if !run {
			all, run = append(all, swap{at: at}), true
		}
		w := &all[len(all)-1]
		if op.mark == comes {
			w.lines = append(w.lines, op.text)
		} else {
			w.count++
			at++
		}
	}
	return all
}

// find is where the hunk's lines are, from a line on. An empty line at their end may
// stand for the newline before it, which is no line of its own.
func (h *hunk) find(t text, from int) place {
	lines := old(h.ops)
	at := seek(t.lines, lines, from, h.atEnd)
	if at != none || lines[len(lines)-1] != "" {
		return place{at, h.ops}
	}
	ops := withoutLast(h.ops)
	return place{seek(t.lines, old(ops), from, h.atEnd), ops}
}

// old is the lines that the file has where the hunk is.
func old(ops []op) []string {
	lines := make([]string, 0, len(ops))
	for _, op := range ops {
		if op.mark != comes {
			lines = append(lines, op.text)
		}
	}
	return lines
}

// withoutLast takes the last old line, which is empty, out of the hunk, and with it
// the last new one where that is empty too.
func withoutLast(ops []op) []op {
	last := len(ops) - 1
	for ops[last].mark == comes {
		last--
	}
	rest := append([]op{}, ops[:last]...)
	if ops[last].mark == stays {
		rest = append(rest, op{comes, ""})
	}
	rest = append(rest, ops[last+1:]...)
	for i := len(rest) - 1; i >= 0; i-- {
		switch {
		case rest[i].mark == goes:
			continue
		case rest[i].text != "":
		case rest[i].mark == comes:
			return append(rest[:i], rest[i+1:]...)
		default:
			rest[i].mark = goes
		}
		break
	}
	return rest
}
