package tool

import (
	"errors"
	"math"
	"os"
	"sync"
	"time"

	"appserver/core"
	"appserver/platform/excerpt"
)

const (
	// readSize bounds a piece of output, in bytes of the command.
	readSize = 32 << 10
	// lastReads bounds the reads after the end of a command. They suffice for a pipe of the maximum
	// size, 1 MiB. Each read waits for lastWait.
	lastReads = 40
	lastWait  = 20 * time.Millisecond
	// pacedAfter is the number of pieces that are passed on at once. Later ones are collected for
	// paceTime, unless they are large, so that many small writes become few pieces.
	pacedAfter = 1000
	paceTime   = 5 * time.Millisecond
	smallPiece = 8 << 10
)

// source is the read end of a command's output.
type source struct {
	pipe      *os.File
	lastReads int
	lastWait  time.Duration
}

func newSource(pipe *os.File) *source { return &source{pipe, lastReads, lastWait} }

// read reads from the pipe. After setEnded, it does not wait for processes that still hold the
// other end.
func (p *source) read(buf []byte) (int, error) {
	n, err := p.pipe.Read(buf)
	if !errors.Is(err, os.ErrDeadlineExceeded) || p.lastReads == 0 {
		return n, err
	}
	p.lastReads--
	p.pipe.SetReadDeadline(time.Now().Add(p.lastWait))
	return p.pipe.Read(buf)
}

// setEnded marks the command as ended: reads return the data in the pipe and do not wait for more.
func (p *source) setEnded() { p.pipe.SetReadDeadline(time.Now()) }

// pump copies a command's output from its pipe to the transcript and the caller.
type pump struct {
	*source
	output func(text string)
	// wire is the number of bytes that may still be passed on, and pieces the number of pieces. Wire
	// is negative after the notice that the rest is omitted.
	wire, pieces int
	// passed counts the pieces so far.
	passed int
	// done is closed when all output was passed on.
	done chan struct{}

	mu         sync.Mutex
	transcript excerpt.Text
	closed     bool
}

func newPump(from *source, keep, wire int, output func(string)) *pump {
	pieces := core.MaxOutputPieces
	if wire == math.MaxInt {
		pieces = math.MaxInt
	}
	return &pump{
		source: from, output: output, wire: wire, pieces: pieces,
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

// keep adds text to the transcript and passes it on; it returns false if the pump is closed.
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
		pass = excerpt.Prefix(text, p.wire)
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

// pass calls output; it returns false if the pump is closed.
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

// close returns the transcript and stops the pump from calling output again. It does not wait for a
// call in flight.
func (p *pump) close() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return p.transcript.String()
}
