package rollout

import (
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"appserver/protocol"
)

// Contents is what a rollout holds. The lines' strings and payloads are parts of one
// buffer, the file's content: they must not be changed, and one that is kept keeps
// all of it.
type Contents struct {
	Path string
	// ThreadID comes from the file's name; it is "" where that has none.
	ThreadID string
	// Began is the time in the file's name; the zero time where it has none.
	Began time.Time
	// Lines all have ordinals.
	Lines  []protocol.RolloutLine
	Damage []Damage
	// Torn is set where a write broke off at the end of the file.
	Torn bool
	// Next is the ordinal of the next line to append.
	Next int64
	// Size is in bytes.
	Size    int64
	ModTime time.Time
}

// Damage is a line that is none.
type Damage struct {
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
	shareSize = 1 << 20
)

// Read reads a rollout without taking its lock. While another appends to it, what is
// read ends where the file ended when Read began.
func (s *Store) Read(path string) (*Contents, error) {
	file, _, err := s.open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	contents, _, err := readContents(path, file)
	return contents, err
}

// readContents also returns the bytes that were read.
func readContents(path string, file File) (*Contents, []byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, nil, diskError("read", path, err)
	}
	data, err := readAll(file, info.Size())
	if err != nil {
		return nil, nil, diskError("read", path, err)
	}
	c := &Contents{Path: path, ThreadID: threadID(path), Size: int64(len(data)), ModTime: info.ModTime()}
	c.Began, _ = nameTimeOf(path) // the zero time where it has none
	c.parse(data, shares(len(data)))
	return c, data, nil
}

// readAll reads size bytes, or fewer if the file has become shorter. Most of its time
// goes into the page faults of a new buffer, so several goroutines share them.
func readAll(file File, size int64) ([]byte, error) {
	if size > maxSize {
		return nil, errTooLarge
	}
	data := make([]byte, size)
	n := shares(len(data))
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
func shares(size int) int {
	return min(runtime.GOMAXPROCS(0), 1+size/shareSize)
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
