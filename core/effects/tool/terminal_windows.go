package tool

import (
	"os"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// endOfInput ends the input of a console at the start of a line: Ctrl-Z and Enter.
const endOfInput = "\x1a\r"

// consoleWait is the longest time between the end of a command and the last output of its console.
const consoleWait = time.Second

// typed returns the characters that a console gets for a text. The end of a line is the return key.
func typed(text string) string { return strings.NewReplacer("\r\n", "\r", "\n", "\r").Replace(text) }

// console is a pseudo console. It draws what its processes write, and sends the changes as text.
type console struct {
	mu     sync.Mutex
	handle windows.Handle
	closed bool
}

// attribute returns the value of the attribute of a process for a pseudo console: the handle itself.
func (c *console) attribute() unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&c.handle)) }

// openTerminal makes a pseudo console the console of the command.
func (p *running) openTerminal() (theirs *os.File, err error) {
	output, written, err := outputPipe()
	if err != nil {
		return nil, err
	}
	keys, typed, err := inputPipe()
	if err != nil {
		output.Close()
		written.Close()
		return nil, err
	}
	defer written.Close() // the console has copies
	defer typed.Close()
	c := &console{}
	size := sizeOf(Size{Rows: or(p.size.Rows, defaultRows), Cols: or(p.size.Cols, defaultCols)})
	err = windows.CreatePseudoConsole(size, windows.Handle(typed.Fd()), windows.Handle(written.Fd()), 0, &c.handle)
	if err != nil {
		output.Close()
		keys.Close()
		return nil, err
	}
	p.output, p.keys, p.console = output, keys, c
	return nil, nil
}

func sizeOf(s Size) windows.Coord { return windows.Coord{X: int16(s.Cols), Y: int16(s.Rows)} }

// resize changes the size of the terminal and notifies its processes.
func (p *running) resize(s Size) error {
	p.console.mu.Lock()
	defer p.console.mu.Unlock()
	if p.console.closed {
		return os.ErrClosed
	}
	return windows.ResizePseudoConsole(p.console.handle, sizeOf(s))
}

// source returns the source of the command's output. A console sends the rest of its output when it is
// closed.
func (p *running) source() *source {
	s := newSource(p.output)
	if p.console != nil {
		s.lastWait = consoleWait
	}
	return s
}

// closeTerminal closes the console, and then its output ends. The call can wait until the output has been
// read, or its pipe is closed.
func (p *running) closeTerminal() {
	if p.console == nil {
		return
	}
	p.keys.Close()
	p.console.mu.Lock()
	defer p.console.mu.Unlock()
	p.console.closed = true
	go windows.ClosePseudoConsole(p.console.handle)
}

// closeOutput closes the output of a command that did not start.
func (p *running) closeOutput() {
	p.output.Close()
	p.closeTerminal()
}
