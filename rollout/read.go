package rollout

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"time"

	"appserver/protocol"
)

// Contents is what a rollout holds. The lines' strings and payloads are parts of a
// buffer, the content of the file or of its backup: they must not be changed, and one
// that is kept keeps all of it.
type Contents struct {
	Path string
	// ThreadID comes from the file's name; it is "" where that has none.
	ThreadID string
	// Began is the time in the file's name; the zero time where it has none.
	Began time.Time
	// Lines all have ordinals. Load leaves them out.
	Lines []protocol.RolloutLine
	// Damage is that of the backup, then that of the file.
	Damage []Damage
	// Torn is set where a write broke off at the end of the file.
	Torn bool
	// Next is the ordinal of the next line to append, which no line has. A torn one before it is closed off
	// then, and counts as damage does.
	Next int64
	// Size is the file's, in bytes.
	Size    int64
	ModTime time.Time
	// Backup says where the lines come from.
	Backup Backup
	// Restored is set if the file was empty, and has its backup's content since.
	Restored bool
	Summary
	// marked is set behind the first context_backup line, from where on ordinals grow.
	marked bool
	// above is higher than every ordinal.
	maxNext int64
}

// Summary is what can be said of lines without what they say.
type Summary struct {
	// Meta is the payload of the first session_meta line, nil where there is none.
	Meta json.RawMessage
	// Disordered counts the lines whose ordinal is not above that of the line before.
	Disordered int
	// Last is the ordinal of the last line, -1 before the first.
	Last int64
}

func (s *Summary) add(line *protocol.RolloutLine) {
	if s.Meta == nil && line.Type == protocol.LineSessionMeta {
		s.Meta = line.Payload
	}
	if *line.Ordinal <= s.Last {
		s.Disordered++
	}
	s.Last = *line.Ordinal
}

// Damage is a line that is none.
type Damage struct {
	// Path is that of the backup where the line is in it, else "".
	Path string
	// Line counts the lines of the file, blank ones too, from 1.
	Line int
	// Offset is where the line begins, in bytes.
	Offset int64
	// Reason says what is wrong with it.
	Reason string
}

const (
	// maxSize bounds what is read into memory, in bytes.
	maxSize = 2 << 30
	// shareSize is the least that is worth a goroutine, in bytes.
	bytesPerWorker = 1 << 20
)

// Read reads a rollout without taking its lock. While another appends to it, what is
// read ends where the file ended when Read began. A fork of the reference implementation
// has the lines that it goes on from.
func (s *Store) Read(path string) (*Contents, error) {
	file, info, err := s.open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	text := &LineReader{}
	text.addFile(file, path, true)
	defer func() { _ = text.Close() }()
	if info.Size() > maxSize {
		return nil, diskError("read", path, errTooLarge)
	}
	lines := []protocol.RolloutLine{}
	l, err := s.load(path, text, collecting{&lines})
	if err != nil {
		return nil, err
	}
	l.Lines = lines
	return l.Contents, nil
}

// collecting keeps all lines.
type collecting struct{ lines *[]protocol.RolloutLine }

func (c collecting) Begin(*LineReader) LineHandler {
	return func(line *protocol.RolloutLine) { *c.lines = append(*c.lines, *line) }
}

func (collecting) Continue(*LineReader, io.Reader) (LineHandler, bool) { return nil, false }

func (collecting) Snapshot(io.Writer) error { return errNoSnapshot }

var errNoSnapshot = errors.New("nothing is kept of it")

// reading is a rollout as it was read.
type reading struct {
	*Contents
	// data is the file's bytes.
	data []byte
	// marker is the file's last, nil without one.
	marker *marker
	// backup, gap and tail are nil unless the backup was joined: the bytes that the
	// marker tells of, the spaces behind them, if any, and the file's bytes from the
	// marker on.
	backup, padding, tail []byte
	// astray is set where the backup is not beside the file.
	misplacedBackup bool
	// runs hold the lines of Contents before their ordinals are settled.
	blocks []block
}

// read reads an open rollout, and the backup that belongs to it.
func (s *Store) read(path string, file File) (*reading, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, diskError("read", path, err)
	}
	data, err := readAll(file, info.Size())
	if err != nil {
		return nil, diskError("read", path, err)
	}
	c := contentsOf(path, info)
	c.Size = int64(len(data))
	r := &reading{Contents: c, data: data, blocks: parseBlocks(data, workersFor(len(data)))}
	r.marker = lastMarker(r.blocks)
	r.Backup = s.joinBackup(r)
	r.addBlocks(r.blocks)
	return r, nil
}

// contentsOf is what a file's name and its entry tell.
func contentsOf(path string, info fs.FileInfo) *Contents {
	c := &Contents{Path: path, ThreadID: threadID(path), Size: info.Size(), ModTime: info.ModTime(), Summary: Summary{Last: -1}}
	c.Began, _ = nameTimeOf(path) // the zero time where it has none
	return c
}

// readAll reads size bytes, or fewer if the file has become shorter. Most of its time
// goes into the page faults of a new buffer, so several goroutines share them.
func readAll(file File, size int64) ([]byte, error) {
	if size > maxSize {
		return nil, errTooLarge
	}
	data := make([]byte, size)
	n := workersFor(len(data))
	read := make([]int, n)
	errs := make([]error, n)
	parallel(n, func(i int) {
		part := data[len(data)*i/n : len(data)*(i+1)/n]
		read[i], errs[i] = file.ReadAt(part, int64(len(data)*i/n))
	})
	for i, err := range errs {
		if errors.Is(err, io.EOF) {
			return data[:len(data)*i/n+read[i]], nil
		}
		if err != nil {
			return nil, err
		}
	}
	return data, nil
}

// shares is how many goroutines are worth starting for that many bytes.
func workersFor(size int) int {
	return min(runtime.GOMAXPROCS(0), 1+size/bytesPerWorker)
}

// parallel calls f with 0 to n-1 and returns when all calls have.
func parallel(n int, f func(int)) {
	if n == 1 {
		f(0)
		return
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}
