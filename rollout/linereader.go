package rollout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"

	"appserver/platform/disk"
)

// LineReader reads payloads of loaded lines again from the open files. It belongs to one
// goroutine.
type LineReader struct {
	disk      disk.FS
	files     []lineFile
	positions positions
	// window has the text after the last line that was read. It is empty unless lines are read in order.
	window window
	last   linePosition
	err    error
}

// lineFile is an open file. The reader closes it if owned is set.
type lineFile struct {
	disk.File
	path  string
	owned bool
	// before describes the file when it was suspended.
	before fs.FileInfo
}

var errSuspended = errors.New("its log is suspended")

var errLineChanged = errors.New("a line has changed since the rollout was opened")

// Payload returns the payload of the n-th line, counted from 0. If it cannot be read, Payload
// returns nil and Err returns the error.
func (t *LineReader) Payload(n int) json.RawMessage {
	if t.files != nil && !t.has(n) {
		return nil
	}
	text, shared, err := t.text(n)
	var raw json.RawMessage
	if err == nil {
		raw, err = payloadOf(&t.files[t.last.file], text)
	}
	t.err = cmp.Or(t.err, err)
	if shared {
		return bytes.Clone(raw)
	}
	return raw
}

func (t *LineReader) has(n int) bool { return n >= 0 && n < t.positions.len() }

// Peek returns the text of the n-th line, which is valid until the next one is read, or nil if it cannot be read.
func (t *LineReader) Peek(n int) []byte {
	if !t.has(n) {
		return nil
	}
	text, _, _ := t.text(n) // Payload reports the error
	if !bytes.HasPrefix(text, []byte{'{'}) || !bytes.HasSuffix(text, []byte{'}'}) {
		return nil
	}
	return text
}

// text returns the text of the n-th line. If it is shared, it is valid until the next line is read.
func (t *LineReader) text(n int) (text []byte, shared bool, err error) {
	if t.files == nil {
		return nil, false, errClosed
	}
	at := t.positions.at(n)
	if file := t.files[at.file]; file.File == nil {
		return nil, false, disk.Wrap("read", file.path, errSuspended)
	}
	return t.read(at)
}

// read reads a line alone, or with those behind it if it is short and close behind the last one. Then its text is
// shared.
func (t *LineReader) read(at linePosition) (text []byte, shared bool, err error) {
	distance := at.offset - t.last.offset
	inRow := at.file == t.last.file && distance > 0 && distance < windowSize && at.size < windowSize
	t.last = at
	if inRow || t.window.has(at) {
		text, err = t.window.text(t.files, at, windowSize)
		return text, true, err
	}
	t.window = window{}
	text, err = new(window).text(t.files, at, 0)
	return text, false, err
}

// forgetWindow frees the memory of the window.
func (t *LineReader) forgetWindow() {
	if t != nil {
		t.window = window{}
	}
}

// Err returns the first error of Payload. The error may concern any line read since.
func (t *LineReader) Err() error { return t.err }

// Close closes the owned files. Payload fails afterwards.
func (t *LineReader) Close() error {
	var err error
	for _, f := range t.files {
		if f.owned && f.File != nil {
			err = cmp.Or(err, f.Close())
		}
	}
	t.files, t.positions, t.window = nil, positions{}, window{}
	return err
}

// suspend closes all files. After an error it has closed none.
func (t *LineReader) suspend() error {
	if t == nil {
		return nil
	}
	t.window = window{} // the files may be written before they are opened again
	for i := range t.files {
		info, err := t.files[i].Stat()
		if err != nil {
			return err
		}
		t.files[i].before = info
	}
	for i, f := range t.files {
		if f.owned {
			_ = f.Close() // it was opened for reading
		}
		t.files[i].File = nil
	}
	return nil
}

// resume reopens all files except the first, which is the file of the log.
func (t *LineReader) resume(s *Store, first disk.File) error {
	if t == nil || len(t.files) == 0 {
		return nil
	}
	opened := []disk.File{first}
	for _, f := range t.files[1:] {
		file, info, err := disk.Open(s.disk, f.path, os.O_RDONLY)
		if err == nil {
			opened = append(opened, file)
		}
		if disk.IsNotExist(err) || err == nil && !disk.IsUnchanged(s.disk, f.before, info) {
			err = disk.Wrap("read", f.path, ErrChanged)
		}
		if err != nil {
			for _, file := range opened[1:] {
				_ = file.Close()
			}
			return err
		}
	}
	for i, file := range opened {
		t.files[i].File = file
	}
	return nil
}

// Lines returns the number of lines.
func (t *LineReader) Lines() int { return t.positions.len() }

// addAppended adds lines that were appended to the first file at an offset.
func (t *LineReader) addAppended(lines []byte, offset int64) {
	if t == nil || t.files == nil {
		return
	}
	t.window = window{} // it may have text of an append that failed
	for line := range bytes.Lines(lines) {
		t.positions.add(linePosition{offset, uint32(len(line) - 1), 0})
		offset += int64(len(line))
	}
}

// moveTo makes the reader read its lines from the copies in another file. A line without a copy cannot be read
// any more.
func (t *LineReader) moveTo(file disk.File, path string, copies []linePosition) {
	_ = t.Close() // the files were opened for reading
	t.addFile(file, path, false)
	t.positions = positions{added: copies}
}

// addFile adds a file and returns its number in linePosition.
func (t *LineReader) addFile(file disk.File, path string, own bool) uint32 {
	t.files = append(t.files, lineFile{File: file, path: path, owned: own})
	return uint32(min(len(t.files)-1, math.MaxUint32))
}
