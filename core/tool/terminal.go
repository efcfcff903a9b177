//go:build linux

package tool

import (
	"io"
	"os"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// The size of terminals, which nobody looks at, unless a client does.
const (
	usualRows = 24
	usualCols = 80
)

// openTerminal is a terminal: what the server reads and types, and what the command has.
// At its end reads fail with EIO.
func openTerminal(s Size) (ours, theirs *os.File, err error) {
	blocking, theirs, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer blocking.Close()
	if err = pty.Setsize(theirs, &pty.Winsize{Rows: or(s.Rows, usualRows), Cols: or(s.Cols, usualCols)}); err == nil {
		ours, err = pollable(blocking)
	}
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

// pollable is the same file, whose reads and writes a deadline or a close ends: the
// library leaves it one that blocks a thread.
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

func isTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}

// typeTime is how long a program may leave what is typed unread; then the rest is lost.
const typeTime = time.Second

// typist types what comes until the output has ended.
func (p *running) typist(keys <-chan string, ended <-chan struct{}) {
	for {
		select {
		case text := <-keys:
			p.output.SetWriteDeadline(time.Now().Add(typeTime))
			io.WriteString(p.output, text)
		case <-ended:
			return
		}
	}
}
