package rollout

import (
	"encoding/json"

	"appserver/platform/disk"
	"appserver/rollout/line"
)

// window has bytes of a file, from an offset on. Neighbouring lines come from one read of the file.
type window struct {
	bytes  []byte
	file   uint32
	offset int64
}

// windowSize is the length of a read, in bytes. It is a few turns with outputs of some kilobytes.
const windowSize = 64 << 10

// has reports whether the window has the text of a line.
func (w *window) has(at linePosition) bool {
	from := at.offset - w.offset
	return at.file == w.file && from >= 0 && from+int64(at.size) <= int64(len(w.bytes))
}

// payload returns the payload of a line, which is valid until the next call. If the window does not have the line, it
// reads at least that many bytes from the line on.
func (w *window) payload(files []lineFile, at linePosition, least int) (json.RawMessage, error) {
	text, err := w.text(files, at, least)
	if err != nil {
		return nil, err
	}
	return payloadOf(&files[at.file], text)
}

// text returns the text of a line. It is valid until the next call.
func (w *window) text(files []lineFile, at linePosition, least int) ([]byte, error) {
	file := &files[at.file]
	if !w.has(at) {
		size := max(least, int(at.size))
		if cap(w.bytes) < size {
			w.bytes = make([]byte, size)
		}
		n, err := file.ReadAt(w.bytes[:size], at.offset)
		w.bytes, w.file, w.offset = w.bytes[:n], at.file, at.offset
		if n < int(at.size) {
			return nil, disk.Wrap("read", file.path, err)
		}
	}
	from := at.offset - w.offset
	return w.bytes[from : from+int64(at.size)], nil
}

// payloadOf returns the payload of the text of a line of a file.
func payloadOf(file *lineFile, text []byte) (json.RawMessage, error) {
	p, reason := line.Parse(text)
	if reason != "" {
		return nil, disk.Wrap("read", file.path, errLineChanged)
	}
	return p.Payload, nil
}
