package lineref

import (
	"encoding/json"
	"errors"
)

// Detachable are lines that can also be read by another goroutine.
type Detachable interface {
	Lines
	// Detach returns a reader of the present lines and a function that closes it. A payload is valid
	// until the next one is read.
	Detach() (read func(n int) (json.RawMessage, error), release func(), err error)
}

// Detached reads payloads independently of the Source of a reference. It belongs to one goroutine.
type Detached struct {
	lines   Lines
	read    func(n int) (json.RawMessage, error)
	release func()
}

var errPart = errors.New("a part of a line cannot be read by another goroutine")

// Payload returns the JSON of a reference, which is valid until the next call.
func (d *Detached) Payload(ref *Ref) (json.RawMessage, error) {
	switch {
	case ref.Raw != nil:
		return ref.Raw, nil
	case ref.Part != Whole:
		return nil, errPart
	}
	return d.read(int(ref.Line))
}

// Release closes the files of the lines. It can be called twice.
func (d *Detached) Release() { d.release() }

// Detacher detaches sources. Sources of the same lines share a Detached. The zero Detacher is ready.
type Detacher struct{ last *Detached }

// Of returns a reader of the lines of a source, or nil if they cannot be detached.
func (d *Detacher) Of(s *Source) *Detached {
	if s == nil {
		return nil
	}
	if d.last != nil && d.last.lines == s.lines {
		return d.last
	}
	lines, ok := s.lines.(Detachable)
	if !ok || d.last != nil {
		return nil
	}
	read, release, err := lines.Detach()
	if err != nil {
		return nil
	}
	d.last = &Detached{s.lines, read, release}
	return d.last
}
