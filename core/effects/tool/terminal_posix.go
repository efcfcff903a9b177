//go:build linux || darwin

package tool

import (
	"cmp"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// endOfInput ends the input of a terminal at the start of a line.
const endOfInput = "\x04"

// typed returns the characters that a terminal gets for a text.
func typed(text string) string { return text }

// openTerminal makes a terminal the input and output of the command, and returns the command's end.
// After the command ends, reads fail, with EIO on Linux.
func (p *running) openTerminal() (theirs *os.File, err error) {
	blocking, theirs, err := pty.Open()
	if err != nil {
		return nil, err
	}
	defer blocking.Close()
	size := &pty.Winsize{Rows: or(p.size.Rows, defaultRows), Cols: or(p.size.Cols, defaultCols)}
	if err = pty.Setsize(theirs, size); err == nil {
		p.output, err = pollable(blocking)
	}
	if err != nil {
		theirs.Close()
		return nil, err
	}
	p.keys = p.output
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs, theirs, theirs
	return theirs, nil
}

// closeOutput closes the output of a command that did not start.
func (p *running) closeOutput() { p.output.Close() }

// pollable returns the same file in non-blocking mode, so that a deadline or a close ends its reads
// and writes. The library opens it in blocking mode, which occupies a thread.
func pollable(file *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), file.Name()), nil
}

// resize changes the size of the terminal and notifies its foreground processes.
func (p *running) resize(s Size) error {
	raw, err := p.keys.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) {
		err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: s.Rows, Col: s.Cols})
	})
	return cmp.Or(failed, err)
}

func isTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, getTermios)
	return err == nil
}
