package rollout

import (
	"encoding/json"
	"os"

	"appserver/rollout/disk"
	"appserver/rollout/line"
)

// detachedLines reads the lines that a LineReader had at a time. Neighbouring lines come from one read
// of a file.
type detachedLines struct {
	files     []lineFile
	positions []linePosition
	// window has bytes of a file, from an offset on.
	window []byte
	file   uint32
	offset int64
}

// windowSize is the length of a read, in bytes. It is a few turns with outputs of some kilobytes.
const windowSize = 64 << 10

// Detach returns a reader of the payloads of the present lines for another goroutine, and a function
// that closes its files. A payload is valid until the next call. Lines that are appended later are not
// read.
func (t *LineReader) Detach() (read func(n int) (json.RawMessage, error), release func(), err error) {
	d := &detachedLines{positions: t.positions[:len(t.positions):len(t.positions)]}
	for _, f := range t.files {
		if err := d.open(t.disk, f); err != nil {
			d.close()
			return nil, nil, err
		}
	}
	return d.payload, d.close, nil
}

// open opens the file that a LineReader reads, if its path still leads there.
func (d *detachedLines) open(files disk.FS, f lineFile) error {
	if f.File == nil {
		return disk.Wrap("read", f.path, errSuspended)
	}
	before, err := f.Stat()
	if err != nil {
		return disk.Wrap("read", f.path, err)
	}
	file, info, err := disk.Open(files, f.path, os.O_RDONLY)
	if err != nil {
		return err
	}
	d.files = append(d.files, lineFile{File: file, path: f.path})
	if !files.SameFile(before, info) {
		return disk.Wrap("read", f.path, ErrChanged)
	}
	return nil
}

func (d *detachedLines) payload(n int) (json.RawMessage, error) {
	if d.files == nil {
		return nil, errClosed
	}
	at := d.positions[n]
	raw, err := d.bytes(at)
	if err != nil {
		return nil, disk.Wrap("read", d.files[at.file].path, err)
	}
	p, reason := line.Parse(raw)
	if reason != "" {
		return nil, disk.Wrap("read", d.files[at.file].path, errLineChanged)
	}
	return p.Payload, nil
}

// bytes returns the text of a line. It is in the window, which begins with the line otherwise.
func (d *detachedLines) bytes(at linePosition) ([]byte, error) {
	from := at.offset - d.offset
	if at.file != d.file || from < 0 || from+int64(at.size) > int64(len(d.window)) {
		size := max(windowSize, int(at.size))
		if cap(d.window) < size {
			d.window = make([]byte, size)
		}
		n, err := d.files[at.file].ReadAt(d.window[:size], at.offset)
		d.window, d.file, d.offset, from = d.window[:n], at.file, at.offset, 0
		if n < int(at.size) {
			return nil, err
		}
	}
	return d.window[from : from+int64(at.size)], nil
}

func (d *detachedLines) close() {
	for _, file := range d.files {
		_ = file.Close() // it was opened for reading
	}
	d.files, d.window = nil, nil
}
