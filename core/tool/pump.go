//go:build linux

package tool

import (
	"errors"
	"math"
	"os"
	"sync"
	"time"

	"appserver/core"
	"appserver/core/excerpt"
)

const (
	// readSize is the largest piece of output, in bytes of the command.
	readSize = 32 << 10
	// lastReads bounds the reading after the end of a command: enough for a pipe of
	// the largest size, 1 MiB. Each waits lastWait for something to read.
	lastReads = 40
	lastWait  = 20 * time.Millisecond
	// pacedAfter is how many pieces are passed on as they come. Later ones gather for paceTime,
	// unless they are large, so that many small writes make few pieces.
	pacedAfter = 1000
	paceTime   = 5 * time.Millisecond
	smallPiece = 8 << 10
)

// source is what a command's output is read from.
type source struct {
	pipe      *os.File
	lastReads int
}

// read reads from the pipe. When hurry was called it takes what is there, but does
// not wait for processes that got away with the other end.
func (p *source) read(buf []byte) (int, error) {
	n, err := p.pipe.Read(buf)
	if !errors.Is(err, os.ErrDeadlineExceeded) || p.lastReads == 0 {
		return n, err
	}
	p.lastReads--
	p.pipe.SetReadDeadline(time.Now().Add(lastWait))
	return p.pipe.Read(buf)
}

// hurry tells that the command has ended: what is in the pipe is the rest.
func (p *source) hurry() { p.pipe.SetReadDeadline(time.Now()) }

// pump carries a command's output from its pipe to the transcript and the caller.
type pump struct {
	source
	output func(text string)
	// wire is how many bytes may still be passed on, pieces how many pieces; wire is negative
	// once the notice was passed on that the rest is not.
	wire, pieces int
	// passed counts the pieces so far.
	passed int
	// done is closed when everything has been passed on.
	done chan struct{}

	mu         sync.Mutex
	transcript excerpt.Text
	closed     bool
}

func newPump(pipe *os.File, keep, wire int, output func(string)) *pump {
	pieces := core.MaxOutputPieces
	if wire == math.MaxInt {
		pieces = math.MaxInt
	}
	return &pump{
		source: source{pipe, lastReads}, output: output, wire: wire, pieces: pieces,
		done: make(chan struct{}), transcript: excerpt.Text{Limit: keep},
	}
}

// run passes output on, after started, until the end of the pipe or close.
func (p *pump) run(started func()) {
	defer close(p.done)
	defer p.pipe.Close()
	if !p.open() {
		return
	}
	started()
	buf := make([]byte, readSize)
	held := 0
	for {
		n, err := p.read(buf[held:])
		text, rest := decode(buf[:held+n], err != nil)
		held = copy(buf, rest)
		if !p.keep(text) || err != nil {
			return
		}
		if p.passed > pacedAfter && n < smallPiece {
			time.Sleep(paceTime)
		}
	}
}

// keep adds to the transcript and passes on; false when the pump is closed.
func (p *pump) keep(text string) bool {
	if text == "" {
		return true
	}
	p.mu.Lock()
	p.transcript.Write(text)
	p.mu.Unlock()
	if p.wire < 0 {
		return true
	}
	pass := ""
	if p.pieces > 0 {
		pass = text[:runeStart(text, p.wire)]
	}
	if pass != "" && !p.pass(pass) {
		return false
	}
	if len(pass) < len(text) {
		p.wire = -1
		return p.pass(core.MoreOutput)
	}
	p.wire -= len(pass)
	return true
}

// pass calls output; false when the pump is closed.
func (p *pump) pass(text string) bool {
	if !p.open() {
		return false
	}
	p.output(text)
	p.passed++
	p.pieces--
	return true
}

func (p *pump) open() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.closed
}

// close gives the transcript and keeps the pump from calling output again. A call
// that has not returned yet is left behind.
func (p *pump) close() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return p.transcript.String()
}
