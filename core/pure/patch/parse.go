package patch

import (
	"fmt"
	"strings"
)

// section is the part of a patch that changes one file.
type section struct {
	kind Kind
	// name is the file's name as the patch has it.
	name string
	// move is the file's new name, or empty if the file keeps its name.
	move string
	// content is the content of an added file.
	content strings.Builder
	hunks   []*hunk
	// unended is set if the added file does not end with a newline.
	unended bool
	// deletes is set if the hunks remove all lines of a file that is deleted.
	deletes bool
	line    int
}

// hunk is a range of lines with changes.
type hunk struct {
	// context is a line before the hunk, from its @@ line, or nil.
	context *string
	// numbers are those of a unified diff, or nil. The context is their text then.
	numbers *numbers
	ops     []op
	// atEnd is set if the hunk must match the end of the file.
	atEnd bool
	line  int
}

// op is a line of a hunk: unchanged, removed or added.
type op struct {
	mark opMark
	text string
	// unended is set if the patch says that no newline follows the line.
	unended bool
	// bom is set if a byte order mark was removed from the text.
	bom bool
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

// Parse parses a patch that is applied in dir, an absolute path. It removes what models write around a patch: a
// Markdown fence, or a here-document. Whole is set if the text cannot have lost its end, because the model has ended
// it. The error is an *Error.
func Parse(dir, text string, whole bool) (*Patch, error) {
	e, err := open(text, whole)
	if err != nil {
		return nil, err
	}
	p := &parser{patch: Patch{dir: dir}}
	for i := 0; i < len(e.lines); {
		p.line = e.first + i
		n, err := p.parse(e.lines[i:])
		if err != nil {
			return nil, err
		}
		i += n
	}
	if err := p.finish(e.ended); err != nil {
		return nil, err
	}
	return &p.patch, nil
}

// parser reads the lines between the begin and the end mark one by one.
type parser struct {
	patch Patch
	line  int
	// between is set between the end mark of a patch and the begin mark of another in the same text.
	between bool
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

// parse parses the first of the lines, or the header of a unified diff with which they begin. It returns the number
// of the parsed lines.
func (p *parser) parse(lines []string) (n int, err error) {
	if next, err := p.betweenPatches(lines[0]); next || err != nil {
		return 1, err
	}
	if n, err := p.unified(lines); n > 0 || err != nil {
		return n, err
	}
	return 1, p.parseLine(lines[0])
}

// betweenPatches reads the lines from the end mark of a patch to the begin mark of another in the same text. Both are
// one patch.
func (p *parser) betweenPatches(line string) (read bool, err error) {
	switch {
	case !p.between:
		p.between = isEnd(line)
		return p.between, nil
	case isBegin(line):
		p.between = false
	case strings.TrimSpace(line) != "":
		return true, p.fault("%s is not the last line", endMark)
	}
	return true, nil
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
	p.patch.sections = append(p.patch.sections, section{kind: kind, name: name, line: p.line})
	return nil
}

// finish rejects a patch without a change. It also rejects a patch without an end mark whose last line is seldom the
// last one of a whole patch.
func (p *parser) finish(ended bool) error {
	if err := p.endSection(); err != nil {
		return err
	}
	s := p.current()
	if s == nil {
		return &Error{Kind: Malformed, Message: "the patch changes no file"}
	}
	if !ended && s.isOpen() {
		return p.fault("the patch has no line %s, and seems to break off here. Send the whole patch, with that line at "+
			"its end", endMark)
	}
	return nil
}

// isOpen reports whether lines of the section are likely to be missing: the content of a file, the rest of a counted
// hunk, or what replaces a removed line.
func (s *section) isOpen() bool {
	switch s.kind {
	case Add:
		return s.content.Len() == 0
	case Delete:
		return false
	}
	last := s.hunks[len(s.hunks)-1]
	if last.numbers != nil {
		return !last.isComplete()
	}
	return last.ops[len(last.ops)-1].mark == removed && !last.atEnd
}

// endSection rejects an update without a change.
func (p *parser) endSection() error {
	s := p.current()
	switch {
	case s == nil || s.kind != Update:
		return nil
	case len(s.hunks) == 0:
		return &Error{Kind: Malformed, Path: s.name, Line: s.line, Message: "the update has no hunk"}
	}
	return s.endHunk()
}

// endHunk rejects a hunk without lines.
func (s *section) endHunk() error {
	if n := len(s.hunks); n > 0 && len(s.hunks[n-1].ops) == 0 {
		return &Error{Kind: Malformed, Path: s.name, Hunk: n, Line: s.hunks[n-1].line, Message: "the hunk has no line"}
	}
	return nil
}

func (p *parser) added(s *section, text string) error {
	context, isHunk := strings.CutPrefix(text, hunkMark+" ")
	switch line, ok := strings.CutPrefix(text, "+"); {
	case ok:
		s.content.WriteString(line)
		s.content.WriteByte('\n')
	case strings.TrimRightFunc(text, isSpace) == noNewline:
		s.unended = true
	case isHunk && s.content.Len() == 0 && readNumbers(context) != nil:
	default:
		return p.fault("%q is in the new file %s, whose lines begin with +", text, s.name)
	}
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
		s.move = trimmed[len(moveMark):]
		return nil
	case trimmed == endOfFile:
		return p.end(s)
	case trimmed == noNewline && last >= 0 && len(s.hunks[last].ops) > 0:
		ops := s.hunks[last].ops
		ops[len(ops)-1].unended = true
		return nil
	}
	return p.op(s, text)
}

func (p *parser) open(s *section, context *string) error {
	if err := s.endHunk(); err != nil {
		return err
	}
	h := &hunk{context: context, line: p.line}
	if context != nil {
		h.numbers = readNumbers(*context)
	}
	s.hunks = append(s.hunks, h)
	return nil
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
		h.ops = append(h.ops, op{mark: mark, text: text[1:]})
		return nil
	}
	return p.fault("%q is in a hunk of %s, whose lines begin with a space, - or +", text, s.name)
}
