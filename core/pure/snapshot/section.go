package snapshot

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math"
)

var (
	// errSection is the error for a snapshot that ends too early.
	errSection = errors.New("the snapshot is cut off")
	// errTooLong is the error for a section whose length does not fit.
	errTooLong = errors.New("a section of the snapshot has more than 2 GiB")
)

// Writer writes the sections of a snapshot. After an error it writes nothing more.
type Writer struct {
	to  io.Writer
	err error
}

// NewWriter returns a writer of sections.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Err returns the first error.
func (w *Writer) Err() error { return w.err }

// Section writes a section: its length in four bytes, and its content.
func (w *Writer) Section(content []byte) {
	if len(content) > math.MaxInt32 {
		w.Fail(errTooLong)
	}
	w.write(binary.BigEndian.AppendUint32(nil, uint32(len(content))))
	w.write(content)
}

func (w *Writer) write(text []byte) {
	if w.err == nil {
		_, w.err = w.to.Write(text)
	}
}

// Value writes a value as a section, by encoding/gob.
func (w *Writer) Value(v any) {
	var content bytes.Buffer
	if err := gob.NewEncoder(&content).Encode(v); err != nil {
		w.Fail(err)
		return
	}
	w.Section(content.Bytes())
}

// Fail ends the snapshot with an error.
func (w *Writer) Fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Reader reads the sections of a snapshot. After an error it reads nothing more.
type Reader struct {
	rest []byte
	err  error
}

// NewReader returns a reader of a snapshot, which must not change afterwards.
func NewReader(snapshot []byte) *Reader { return &Reader{rest: snapshot} }

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// Section returns the content of the next section, or nil after an error. It is a part of the snapshot.
func (r *Reader) Section() []byte {
	if r.err != nil {
		return nil
	}
	const head = 4
	if len(r.rest) < head || uint64(len(r.rest)-head) < uint64(binary.BigEndian.Uint32(r.rest)) {
		r.err = errSection
		return nil
	}
	end := head + int(binary.BigEndian.Uint32(r.rest))
	content := r.rest[head:end:end]
	r.rest = r.rest[end:]
	return content
}

// Value reads a section into a value.
func (r *Reader) Value(v any) {
	if content := r.Section(); r.err == nil {
		r.err = Decode(content, v)
	}
}

// Fail ends the reading with an error.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// MustDecode does the same as Decode, for sections that are read after the load. It panics on an
// error.
func MustDecode(content []byte, v any) { must(Decode(content, v)) }

func must(err error) {
	if err != nil {
		panic(fmt.Errorf("a section of the snapshot cannot be decoded: %w", err))
	}
}

// Decode reads the content of a section that [Writer.Value] wrote.
func Decode(content []byte, v any) error {
	return gob.NewDecoder(bytes.NewReader(content)).Decode(v)
}
