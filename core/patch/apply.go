package patch

import (
	"fmt"
	"unicode/utf8"
)

// Files are the files that a patch is applied to.
type Files interface {
	// Read is a file's content, and false where there is no such file. It fails where
	// the name leads, by a link, where patches may not write, and for what is no file.
	Read(name string) (content string, exists bool, err error)
}

// Kind tells what happens to a file.
type Kind string

// The kinds of changes.
const (
	Add    Kind = "add"
	Update Kind = "update"
	Delete Kind = "delete"
)

// Change is what a patch does to a file, as people are shown it.
type Change struct {
	Path string
	Kind Kind
	// MovePath is the file's new name, "" where it keeps its own.
	MovePath string
	// Content is what the file holds afterwards; of a deleted file what it held.
	Content string
	// Diff is a unified diff without names. Of an added or deleted file it is the content.
	Diff string
}

// File is a file before and after; nil means that it does not exist.
type File struct {
	Path          string
	Before, After *string
	// From is the file that the content was moved from, "" for none.
	From string
}

// Result is what a patch does. Each file is in Files once, whatever the patch says of
// it, in the order in which it names them; a file whose content stays is not. Changes
// are the same files, a moved one and its new name together.
type Result struct {
	Changes []Change
	Files   []File
}

// Apply is what the patch does to the files. It changes none of them. The error is an
// *Error, or one of files.
func (p *Patch) Apply(files Files) (*Result, error) {
	t := &tree{disk: files, files: map[string]*entry{}}
	for i := range p.sections {
		if err := t.apply(&p.sections[i]); err != nil {
			return nil, err
		}
	}
	return t.result(), nil
}

// tree is the files as far as the patch has been applied.
type tree struct {
	disk  Files
	files map[string]*entry
	order []*entry
}

type entry struct {
	path          string
	before, after *string
	// from is the entry that the content was moved from, nil for none.
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

// move takes the content to another name. Moved on, it is moved from where it began.
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
		case e.before != nil && moved[e] == nil: // what the move wrote over
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

// add notes the change of a file, whose content may have gone to another.
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
