package patch

import (
	"slices"
	"strconv"
	"strings"
)

const (
	oldFileMark  = "--- "
	newFileMark  = "+++ "
	noFile       = "/dev/null"
	noNewline    = "\\ No newline at end of file"
	gitSeparator = "diff --git "
)

// numbers are the line numbers of a hunk of a unified diff: "@@ -oldStart,oldCount +newStart,newCount @@".
type numbers struct{ oldStart, oldCount, newStart, newCount int }

// readNumbers reads the text after @@, or returns nil if it has another form.
func readNumbers(text string) *numbers {
	fields := strings.Fields(text)
	if len(fields) < 2 || len(fields) > 2 && !strings.HasPrefix(fields[2], hunkMark) {
		return nil
	}
	var n numbers
	var ok bool
	if n.oldStart, n.oldCount, ok = readSpan(fields[0], "-"); !ok {
		return nil
	}
	if n.newStart, n.newCount, ok = readSpan(fields[1], "+"); !ok {
		return nil
	}
	return &n
}

// readSpan reads "-1,2" or "-1".
func readSpan(text, sign string) (start, count int, ok bool) {
	text, ok = strings.CutPrefix(text, sign)
	first, rest, counted := strings.Cut(text, ",")
	start, err := strconv.Atoi(first)
	if count = 1; err == nil && counted {
		count, err = strconv.Atoi(rest)
	}
	return start, count, ok && err == nil && start >= 0 && count >= 0
}

// lengths returns the numbers of old and new lines of a hunk.
func (h *hunk) lengths() (before, after int) {
	for _, op := range h.ops {
		if op.mark != added {
			before++
		}
		if op.mark != removed {
			after++
		}
	}
	return before, after
}

// isComplete reports whether a hunk has as many lines as its numbers announce.
func (h *hunk) isComplete() bool {
	before, after := h.lengths()
	return h.numbers != nil && before >= h.numbers.oldCount && after >= h.numbers.newCount
}

// unifiedHeader is the header of a file in a unified diff.
type unifiedHeader struct {
	before, after string // without the prefixes of git
	// lines is the number of lines of the header.
	lines int
}

// unifiedNames returns the header with which the lines begin, or nil. A hunk with numbers must follow.
func unifiedNames(lines []string) *unifiedHeader {
	at := 0
	if strings.HasPrefix(lines[0], gitSeparator) {
		for at++; at < len(lines) && isGitDetail(lines[at]); at++ {
			continue
		}
	}
	if at+2 >= len(lines) {
		return nil
	}
	before, isOld := strings.CutPrefix(lines[at], oldFileMark)
	after, isNew := strings.CutPrefix(lines[at+1], newFileMark)
	if !isOld || !isNew || !strings.HasPrefix(lines[at+2], hunkMark) {
		return nil
	}
	h := &unifiedHeader{lines: at + 2}
	h.before, h.after = withoutPrefixes(withoutTime(before), withoutTime(after))
	return h
}

// isGitDetail reports whether a line of git's header has no effect on the content of the file.
func isGitDetail(line string) bool {
	return slices.ContainsFunc([]string{"index ", "new file mode ", "deleted file mode "},
		func(mark string) bool { return strings.HasPrefix(line, mark) })
}

// withoutTime removes the time that diff writes after a name.
func withoutTime(name string) string {
	name, _, _ = strings.Cut(name, "\t")
	return strings.TrimSpace(name)
}

// withoutPrefixes removes a/ and b/ if git can have written them.
func withoutPrefixes(before, after string) (string, string) {
	a, isA := strings.CutPrefix(before, "a/")
	b, isB := strings.CutPrefix(after, "b/")
	switch {
	case isA && isB:
		return a, b
	case isA && after == noFile:
		return a, after
	case isB && before == noFile:
		return before, b
	}
	return before, after
}

// unified reads the header of a file in a unified diff, if the lines begin with one. It returns the number of its
// lines. Below the header of a section, it must have the same name. Elsewhere it begins a section. Within a hunk,
// such lines are a removed and an added one, unless the hunk has all lines that its numbers announce.
func (p *parser) unified(lines []string) (n int, err error) {
	h := unifiedNames(lines)
	s := p.current()
	switch {
	case h == nil:
		return 0, nil
	case s != nil && s.isBare() && h.names(s):
		return h.lines, nil
	case s != nil && s.isBare() && s.kind == Add:
		return 0, p.fault("the diff has another name than the new file %s", s.name)
	case s != nil && s.kind == Update && (len(s.hunks) == 0 || !s.hunks[len(s.hunks)-1].isComplete()):
		return 0, nil
	}
	return h.lines, p.beginUnified(h)
}

// isBare reports whether no line follows the header of the section yet.
func (s *section) isBare() bool { return len(s.hunks) == 0 && s.content.Len() == 0 }

// names reports whether the header has the names of a section. It may repeat the new name of a file that is moved.
func (h *unifiedHeader) names(s *section) bool {
	before, after := plainName(h.before), plainName(h.after)
	if s.kind == Add {
		return after == plainName(s.name)
	}
	return s.kind == Update && before == plainName(s.name) && (after == before || after == plainName(s.move))
}

func (p *parser) beginUnified(h *unifiedHeader) error {
	switch {
	case h.before == noFile:
		return p.begin(Add, h.after)
	case h.after == noFile:
		if err := p.begin(Update, h.before); err != nil {
			return err
		}
		p.current().deletes = true
		return nil
	case h.before != h.after:
		return p.fault("the diff has two names, %q and %q; write %sNAME, and %sNAME if the file is moved", h.before,
			h.after, updateMark, moveMark)
	}
	return p.begin(Update, h.after)
}
