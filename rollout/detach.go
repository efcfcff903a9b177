package rollout

import (
	"encoding/json"
	"os"

	"appserver/platform/disk"
)

// detachedLines reads the lines that a LineReader had at a time.
type detachedLines struct {
	files     []lineFile
	positions positions
	window    window
}

// Detach returns a reader of the payloads of the present lines for another goroutine, and a function
// that closes its files. A payload is valid until the next call. Lines that are appended later are not
// read.
func (t *LineReader) Detach() (read func(n int) (json.RawMessage, error), release func(), err error) {
	d := &detachedLines{positions: t.positions.clip()}
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
	return d.window.payload(d.files, d.positions.at(n), windowSize)
}

func (d *detachedLines) close() {
	for _, file := range d.files {
		_ = file.Close() // it was opened for reading
	}
	d.files, d.window = nil, window{}
}
