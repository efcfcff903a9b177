package patch

import (
	"fmt"
	"strings"
)

// Files gives access to the files that a patch changes.
type Files interface {
	// Read returns the content of a file, or false if the file does not exist. It fails if a link in
	// the name leads where patches may not write, and if the name is not a regular file.
	Read(name string) (content string, exists bool, err error)
	// List returns the names in a folder, or nil if they are not known. The name of the folder of the patch is empty.
	List(folder string) []string
}

// Kind is the kind of a change.
type Kind string

const (
	Add    Kind = "add"
	Update Kind = "update"
	Delete Kind = "delete"
)

// Change is the effect of a patch on one file, in the form that clients show: as valid UTF-8.
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

// Patch is a parsed patch.
type Patch struct {
	dir      string
	sections []section
}

// Apply computes the effect of the patch and changes no file. The error is an *Error, or an error
// of files.
func (p *Patch) Apply(files Files) (*Result, error) {
	t := &tree{dir: p.dir, disk: files, files: map[string]*entry{}}
	for i := range p.sections {
		if err := t.apply(&p.sections[i]); err != nil {
			return nil, err
		}
	}
	return t.result(), nil
}

// tree holds the files in the state after the sections applied so far.
type tree struct {
	dir   string
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
	path, err := t.locate(s, s.name, s.kind == Add)
	if err != nil {
		return err
	}
	e, err := t.entry(path)
	if err != nil {
		return err
	}
	switch s.kind {
	case Add:
		content := s.content.String()
		if s.unended {
			content = strings.TrimSuffix(content, "\n")
		}
		e.after, e.from = &content, nil
		return nil
	case Delete:
		if e.after == nil {
			return s.missing(path, "the file to delete does not exist")
		}
		e.after, e.from = nil, nil
		return nil
	}
	return t.update(s, e)
}

func (s *section) missing(path, reason string) error {
	return &Error{Kind: Missing, Path: path, Line: s.line, Message: reason}
}

func (t *tree) update(s *section, e *entry) error {
	if e.after == nil {
		return s.missing(e.path, "the file to update does not exist")
	}
	content, err := s.update(e.path, *e.after)
	switch {
	case err != nil:
		return err
	case s.deletes && content != "":
		return &Error{Kind: Mismatch, Path: e.path, Line: s.line, Message: "the file to delete has more lines than the diff"}
	case s.deletes:
		e.after, e.from = nil, nil
		return nil
	case s.move == "":
		e.after = &content
		return nil
	}
	return t.moveTo(s, e, content)
}

func (t *tree) moveTo(s *section, e *entry, content string) error {
	path, err := t.locate(s, s.move, true)
	if err != nil {
		return err
	}
	if path == e.path {
		e.after = &content
		return nil
	}
	to, err := t.entry(path)
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
		c.MovePath, c.Content, c.Diff = to.path, shown(*to.after), shownDiff(*e.before, *to.after)
	case e.before == nil && e.after == nil:
		return
	case e.before == nil:
		c.Kind, c.Content = Add, shown(*e.after)
		c.Diff = c.Content
	case e.after == nil:
		c.Kind, c.Content = Delete, shown(*e.before)
		c.Diff = c.Content
	default:
		c.Content, c.Diff = shown(*e.after), shownDiff(*e.before, *e.after)
	}
	r.Changes = append(r.Changes, c)
}
