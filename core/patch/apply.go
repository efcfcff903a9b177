package patch

import (
	"fmt"
	"unicode/utf8"
)

// Files gives access to the files that a patch changes.
type Files interface {
	// Read returns the content of a file, or false if the file does not exist. It fails if a link in
	// the name leads where patches may not write, and if the name is not a regular file.
	Read(name string) (content string, exists bool, err error)
}

// Kind is the kind of a change.
type Kind string

const (
	Add    Kind = "add"
	Update Kind = "update"
	Delete Kind = "delete"
)

// Change is the effect of a patch on one file, in the form that clients show.
type Change struct {
	Path string
	Kind Kind
	// MovePath is the file's new name, or empty if the file keeps its name.
	MovePath string
	// Content is the new content of the file, or the last content of a deleted file.
	Content string
	// Diff is a unified diff without names. For an added or deleted file, it is the content.
	Diff string
}

// File is a file before and after a patch; nil means that it does not exist.
type File struct {
	Path          string
	Before, After *string
	// From is the file that the content was moved from, or empty.
	From string
}

// Result is the effect of a patch. Files has each file once, in the order in which the patch names
// them; it leaves out files whose content does not change. Changes has the same files; a moved file
// and its new name are one change.
type Result struct {
	Changes []Change
	Files   []File
}

// Apply computes the effect of the patch and changes no file. The error is an *Error, or an error
// of files.
func (p *Patch) Apply(files Files) (*Result, error) {
	t := &tree{disk: files, files: map[string]*entry{}}
	for i := range p.sections {
		if err := t.apply(&p.sections[i]); err != nil {
			return nil, err
		}
	}
	return t.result(), nil
}

// tree holds the files in the state after the sections applied so far.
type tree struct {
	disk  Files
	files map[string]*entry
	order []*entry
}

type entry struct {
	path          string
	before, after *string
	// from is the entry that the content was moved from, or nil.
	from *entry
}

func (t *tree) entry(path string) (*entry, error) {
	if e := t.files[path]; e != nil {
		return e, nil
	}
	content, exists, err := t.disk.Read(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	e := &entry{path: path}
	if exists {
		e.before, e.after = &content, &content
	}
	t.files[path] = e
	t.order = append(t.order, e)
	return e, nil
}

func (t *tree) apply(s *section) error {
	e, err := t.entry(s.path)
	if err != nil {
		return err
	}
	switch s.kind {
	case Add:
		content := s.content.String()
		e.after, e.from = &content, nil
		return nil
	case Delete:
		if e.after == nil {
			return s.missing("the file to delete does not exist")
		}
		e.after, e.from = nil, nil
		return nil
	}
	return t.update(s, e)
}

func (s *section) missing(reason string) error {
	return &Error{Kind: Missing, Path: s.path, Line: s.line, Message: reason}
}

func (t *tree) update(s *section, e *entry) error {
	switch {
	case e.after == nil:
		return s.missing("the file to update does not exist")
	case !utf8.ValidString(*e.after):
		return s.missing("the file is not UTF-8 text; use a command to change it")
	}
	content, err := s.update(*e.after)
	if err != nil {
		return err
	}
	if s.move == "" || s.move == s.path {
		e.after = &content
		return nil
	}
	to, err := t.entry(s.move)
	if err != nil {
		return err
	}
	e.move(to, content)
	return nil
}

// move moves content to another entry. After several moves, from is the entry that the first one
// started at.
func (e *entry) move(to *entry, content string) {
	to.after, to.from = &content, e
	if e.from != nil {
		to.from = e.from
	}
	if to.from == to {
		to.from = nil
	}
	e.after, e.from = nil, nil
}

func (t *tree) result() *Result {
	r := &Result{}
	moved := map[*entry]*entry{}
	for _, e := range t.order {
		if e.from != nil && e.from.before != nil && e.from.after == nil && moved[e.from] == nil {
			moved[e.from] = e
		}
	}
	for _, e := range t.order {
		if !same(e.before, e.after) {
			r.Files = append(r.Files, e.file())
		}
		switch {
		case e.from == nil || moved[e.from] != e:
			r.add(e, moved[e])
		case e.before != nil && moved[e] == nil: // the file that the move replaced
			r.add(&entry{path: e.path, before: e.before}, nil)
		}
	}
	return r
}

func (e *entry) file() File {
	f := File{Path: e.path, Before: e.before, After: e.after}
	if e.from != nil {
		f.From = e.from.path
	}
	return f
}

func same(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// add appends the change of a file. If to is set, the content was moved there.
func (r *Result) add(e, to *entry) {
	c := Change{Path: e.path, Kind: Update}
	switch {
	case to != nil:
		c.MovePath, c.Content, c.Diff = to.path, *to.after, Diff(*e.before, *to.after)
	case e.before == nil && e.after == nil:
		return
	case e.before == nil:
		c.Kind, c.Content, c.Diff = Add, *e.after, *e.after
	case e.after == nil:
		c.Kind, c.Content, c.Diff = Delete, *e.before, *e.before
	default:
		c.Content, c.Diff = *e.after, Diff(*e.before, *e.after)
	}
	r.Changes = append(r.Changes, c)
}
