package rollout

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
)

// Text reads the payloads of lines again that were loaded, from the open files that hold
// them. It belongs to one goroutine.
type Text struct {
	files  []textFile
	places []place
	err    error
}

// textFile is a file that the text closes if it is its own.
type textFile struct {
	File
	path string
	own  bool
}

// place is where a line stands, in bytes.
type place struct {
	offset int64
	size   uint32
	file   uint32
}

var errTextChanged = errors.New("a line is not what it was when the rollout was opened")

// Payload is that of the n-th line, from 0; nil where it cannot be read any more.
func (t *Text) Payload(n int) json.RawMessage {
	if n < 0 || n >= len(t.places) {
		return nil
	}
	p := t.places[n]
	file := t.files[p.file]
	raw := make([]byte, p.size)
	if k, err := file.ReadAt(raw, p.offset); k < len(raw) {
		t.err = first(t.err, diskError("read", file.path, err))
		return nil
	}
	line, reason := parseLine(raw)
	if reason != "" {
		t.err = first(t.err, diskError("read", file.path, errTextChanged))
		return nil
	}
	return line.Payload
}

// Err is the first error that Payload met, which may have come of any line since.
func (t *Text) Err() error { return t.err }

// Close closes what was opened for it.
func (t *Text) Close() error {
	var err error
	for _, f := range t.files {
		if f.own {
			err = first(err, f.Close())
		}
	}
	t.files, t.places = nil, nil
	return err
}

// Lines is how many lines it has.
func (t *Text) Lines() int { return len(t.places) }

// follow takes lines that were appended to the first file at an offset.
func (t *Text) follow(lines []byte, offset int64) {
	if t == nil || t.files == nil {
		return
	}
	for line := range bytes.Lines(lines) {
		t.places = append(t.places, place{offset, uint32(len(line) - 1), 0})
		offset += int64(len(line))
	}
}

// add takes a file, and gives the number by which places name it.
func (t *Text) add(file File, path string, own bool) uint32 {
	t.files = append(t.files, textFile{file, path, own})
	return uint32(min(len(t.files)-1, math.MaxUint32))
}
