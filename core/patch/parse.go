package patch

import (
	"fmt"
	"slices"
	"strings"
)

// Patch is a parsed patch.
type Patch struct {
	sections []section
}

// section is the part of a patch that changes one file.
type section struct {
	kind Kind
	path string
	// move is the file's new name, or empty if the file keeps its name.
	move string
	// content is the content of an added file.
	content strings.Builder
	hunks   []*hunk
	line    int
}

// hunk is a range of lines with changes.
type hunk struct {
	// context is a line before the hunk, from its @@ line, or nil.
	context *string
	ops     []op
	// atEnd is set if the hunk must match the end of the file.
	atEnd bool
	line  int
}

// op is a line of a hunk: unchanged, removed or added.
type op struct {
	mark opMark
	text string
}

type opMark byte

const (
	unchanged opMark = ' '
	removed   opMark = '-'
	added     opMark = '+'
)

const (
	beginMark       = "*** Begin Patch"
	endMark         = "*** End Patch"
	addMark         = "*** Add File: "
	deleteMark      = "*** Delete File: "
	updateMark      = "*** Update File: "
	moveMark        = "*** Move to: "
	endOfFile       = "*** End of File"
	environmentMark = "*** Environment ID: "
	hunkMark        = "@@"
)

// Parse parses a patch that is applied in dir, an absolute path. It removes the here-document that
// some models write around a patch. The error is an *Error.
func Parse(dir, text string) (*Patch, error) {
	lines, first, err := body(text)
	if err != nil {
		return nil, err
	}
	p := &parser{dir: dir}
	for i, text := range lines {
		p.line = first + i
		if err := p.parseLine(text); err != nil {
			return nil, err
		}
	}
	if err := p.endSection(); err != nil {
		return nil, err
	}
	if len(p.patch.sections) == 0 {
		return nil, &Error{Kind: Malformed, Message: "the patch changes no file"}
	}
	return &p.patch, nil
}

// body returns the lines between the first and the last one, and the number of the first of them.
func body(text string) (lines []string, first int, err error) {
	lines = strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], "\r")
	}
	first = 2
	if isDocument(lines) {
		lines, first = lines[1:len(lines)-1], 3
	}
	switch last := len(lines) - 1; {
	case strings.TrimSpace(lines[0]) != beginMark:
		return nil, 0, &Error{Kind: Malformed, Message: "the first line must be " + beginMark}
	case last == 0 || strings.TrimSpace(lines[last]) != endMark:
		return nil, 0, &Error{Kind: Malformed, Message: "the last line must be " + endMark}
	default:
		return lines[1:last], first, nil
	}
}

// isDocument reports whether the lines are a here-document that no shell has read.
func isDocument(lines []string) bool {
	return len(lines) >= 4 && slices.Contains([]string{"<<EOF", "<<'EOF'", `<<"EOF"`}, lines[0]) &&
		strings.HasSuffix(lines[len(lines)-1], "EOF")
}

// parser reads the lines between the begin and the end mark one by one.
type parser struct {
	dir   string
	patch Patch
	line  int
}

// current returns the section of the next line, or nil before the first header.
func (p *parser) current() *section {
	if len(p.patch.sections) == 0 {
		return nil
	}
	return &p.patch.sections[len(p.patch.sections)-1]
}

func (p *parser) fault(format string, args ...any) error {
	return &Error{Kind: Malformed, Line: p.line, Message: fmt.Sprintf(format, args...)}
}

// parseLine parses a line. Headers may be indented, except in an update: there, an indented line is an
// unchanged line.
func (p *parser) parseLine(text string) error {
	s := p.current()
	header := strings.TrimSpace(text)
	if s != nil && s.kind == Update {
		header = strings.TrimRightFunc(text, isSpace)
	}
	if kind, name, ok := readHeader(header); ok {
		return p.begin(kind, name)
	}
	switch {
	case header == endMark:
		return p.fault("%s is not the last line", endMark)
	case s == nil && strings.HasPrefix(header, environmentMark) && p.line <= 3:
		return nil
	case s == nil || s.kind == Delete:
		return p.fault("%q is not a header; write %sNAME, %sNAME or %sNAME", header, addMark, deleteMark, updateMark)
	case s.kind == Add:
		return p.added(s, text)
	}
	return p.updated(s, text, header)
}

func readHeader(text string) (kind Kind, name string, ok bool) {
	for _, h := range []struct {
		mark string
		kind Kind
	}{{addMark, Add}, {deleteMark, Delete}, {updateMark, Update}} {
		if name, ok := strings.CutPrefix(text, h.mark); ok {
			return h.kind, name, true
		}
	}
	return "", "", false
}

func (p *parser) begin(kind Kind, name string) error {
	if err := p.endSection(); err != nil {
		return err
	}
	path, err := cleanPath(p.dir, name, p.line)
	if err != nil {
		return err
	}
	p.patch.sections = append(p.patch.sections, section{kind: kind, path: path, line: p.line})
	return nil
}

// endSection rejects an update without a change.
func (p *parser) endSection() error {
	s := p.current()
	switch {
	case s == nil || s.kind != Update:
		return nil
	case len(s.hunks) == 0:
		return &Error{Kind: Malformed, Path: s.path, Line: s.line, Message: "the update has no hunk"}
	}
	return s.endHunk()
}

// endHunk rejects a hunk without lines.
func (s *section) endHunk() error {
	if n := len(s.hunks); n > 0 && len(s.hunks[n-1].ops) == 0 {
		return &Error{Kind: Malformed, Path: s.path, Hunk: n, Line: s.hunks[n-1].line, Message: "the hunk has no line"}
	}
	return nil
}

func (p *parser) added(s *section, text string) error {
	text, ok := strings.CutPrefix(text, "+")
	if !ok {
		return p.fault("%q is in the new file %s, whose lines begin with +", text, s.path)
	}
	s.content.WriteString(text)
	s.content.WriteByte('\n')
	return nil
}

// updated parses a line of an update; trimmed is the line without trailing white space.
func (p *parser) updated(s *section, text, trimmed string) error {
	context, opens := strings.CutPrefix(trimmed, hunkMark+" ")
	switch last := len(s.hunks) - 1; {
	case trimmed == hunkMark:
		return p.open(s, nil)
	case opens:
		return p.open(s, &context)
	case last >= 0 && s.hunks[last].atEnd:
		if trimmed == "" {
			return nil
		}
		return p.fault("%q comes after %s; the next hunk begins with %s", text, endOfFile, hunkMark)
	case last < 0 && s.move == "" && strings.HasPrefix(trimmed, moveMark):
		return p.move(s, trimmed[len(moveMark):])
	case trimmed == endOfFile:
		return p.end(s)
	}
	return p.op(s, text)
}

func (p *parser) open(s *section, context *string) error {
	if err := s.endHunk(); err != nil {
		return err
	}
	s.hunks = append(s.hunks, &hunk{context: context, line: p.line})
	return nil
}

func (p *parser) move(s *section, name string) (err error) {
	s.move, err = cleanPath(p.dir, name, p.line)
	return err
}

// end marks the hunk as the end of the file. Before the first hunk, the mark has no effect.
func (p *parser) end(s *section) error {
	if err := s.endHunk(); err != nil || len(s.hunks) == 0 {
		return err
	}
	s.hunks[len(s.hunks)-1].atEnd = true
	return nil
}

// op parses a line of a hunk. The first hunk needs no @@ line, and an empty line is an unchanged
// line.
func (p *parser) op(s *section, text string) error {
	if len(s.hunks) == 0 {
		s.hunks = append(s.hunks, &hunk{line: p.line})
	}
	h := s.hunks[len(s.hunks)-1]
	if text == "" {
		text = " "
	}
	switch mark := opMark(text[0]); mark {
	case unchanged, removed, added:
		h.ops = append(h.ops, op{mark, text[1:]})
		return nil
	}
	return p.fault("%q is in a hunk of %s, whose lines begin with a space, - or +", text, s.path)
}
