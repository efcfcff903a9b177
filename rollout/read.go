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

// Contents holds the lines of a rollout. Strings and payloads alias the content of the file or
// of its backup. They must not be modified, and each of them keeps the whole content in
// memory.
type Contents struct {
	Path string
	// ThreadID is the id in the file name, or "".
	ThreadID string
	// Began is the time in the file name, or the zero time.
	Began time.Time
	// Lines have ordinals. They are empty after Load.
	Lines []protocol.RolloutLine
	// Damage lists the damage of the backup, and then that of the file.
	Damage []Damage
	// Torn is set if the file ends with a torn tail.
	Torn bool
	// Next is the ordinal of the next line to append. No line has it. A torn tail counts as a
	// line.
	Next int64
	// Size is the size of the file, in bytes.
	Size    int64
	ModTime time.Time
	// Backup reports the use of the backup.
	Backup Backup
	// Restored is set if the file was empty and was restored from its backup.
	Restored bool
	Summary
	// marked is set after the first context_backup line. From there on, ordinals only grow.
	marked bool
	// maxNext is greater than every ordinal.
	maxNext int64
}

// Summary holds facts that do not depend on the meaning of the lines.
type Summary struct {
	// Meta is the payload of the first session_meta line, or nil.
	Meta json.RawMessage
	// Disordered is the number of lines whose ordinal is not greater than that of the line
	// before.
	Disordered int
	// Last is the ordinal of the last line, or -1.
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

// Damage describes bytes that are not a line.
type Damage struct {
	// Path is the path of the backup if the damage is there, or else "".
	Path string
	// Line is the line number in the file, from 1, with blank lines included.
	Line int
	// Offset is the offset of the line, in bytes.
	Offset int64
	// Reason describes the defect.
	Reason string
}

const (
	// maxSize is the size of the largest file that is read into memory, in bytes.
	maxSize = 2 << 30
	// bytesPerWorker is the amount of data that is worth a goroutine, in bytes.
	bytesPerWorker = 1 << 20
)

// Read reads a rollout without its lock. If another process appends to the file, Read returns
// the lines up to the size at its start. A fork of the reference implementation includes its
// inherited lines.
func (s *Store) Read(path string) (*Contents, error) {
	file, info, err := s.open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	reader := &LineReader{}
	reader.addFile(file, path, true)
	defer func() { _ = reader.Close() }()
	if info.Size() > maxSize {
		return nil, diskError("read", path, errTooLarge)
	}
	lines := []protocol.RolloutLine{}
	l, err := s.load(path, reader, collecting{&lines})
	if err != nil {
		return nil, err
	}
	l.Lines = lines
	return l.Contents, nil
}

// collecting is a Loader that keeps all lines.
type collecting struct{ lines *[]protocol.RolloutLine }

func (c collecting) Begin(*LineReader) LineHandler {
	return func(line *protocol.RolloutLine) { *c.lines = append(*c.lines, *line) }
}

func (collecting) Continue(*LineReader, io.Reader) (LineHandler, bool) { return nil, false }

func (collecting) Snapshot(io.Writer) error { return errNoSnapshot }

var errNoSnapshot = errors.New("nothing is kept of it")

// reading is the state of a rollout that was read into memory.
type reading struct {
	*Contents
	// data holds the bytes of the file.
	data []byte
	// marker is the last marker of the file, or nil.
	marker *marker
	// backup, padding and tail are nil unless the backup was joined. They are the bytes that
	// the marker names, the spaces after them, and the file from the marker on.
	backup, padding, tail []byte
	// misplacedBackup is set if the backup is not beside the file.
	misplacedBackup bool
	// blocks hold the lines without final ordinals.
	blocks []block
}

// read reads an open rollout and its backup.
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

// contentsOf returns the data in the name and the directory entry of a file.
func contentsOf(path string, info fs.FileInfo) *Contents {
	c := &Contents{
		Path:     path,
		ThreadID: threadID(path),
		Size:     info.Size(),
		ModTime:  info.ModTime(),
		Summary:  Summary{Last: -1},
	}
	c.Began, _ = nameTimeOf(path) // the zero time if the name has none
	return c
}

// readAll reads size bytes, or fewer if the file is shorter by now. It uses several
// goroutines, because most of its time is spent on page faults of the new buffer.
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

// workersFor returns the number of goroutines for an amount of data.
func workersFor(size int) int {
	return min(runtime.GOMAXPROCS(0), 1+size/bytesPerWorker)
}

// parallel calls f with 0 to n-1 and waits for all calls.
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
