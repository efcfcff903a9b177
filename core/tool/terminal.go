//go:build linux || darwin

package tool

import (
	"cmp"
	"io"
	"os"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// The default size of terminals. It matters only if a client shows them.
const (
	defaultRows = 24
	defaultCols = 80
)

// openTerminal returns both ends of a terminal: the server's and the command's. After the command
// ends, reads fail, with EIO on Linux.
func openTerminal(s Size) (ours, theirs *os.File, err error) {
	blocking, theirs, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer blocking.Close()
	if err = pty.Setsize(theirs, &pty.Winsize{Rows: or(s.Rows, defaultRows), Cols: or(s.Cols, defaultCols)}); err == nil {
		ours, err = pollable(blocking)
	}
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

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

// resizeTerminal changes the size of a terminal and notifies its foreground processes.
func resizeTerminal(terminal *os.File, s Size) error {
	raw, err := terminal.SyscallConn()
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

// typeTime is the time in which a program must read typed text; then the rest is lost.
const typeTime = time.Second

// typeKeys types text until the output has ended.
func (p *running) typeKeys(keys <-chan string, ended <-chan struct{}) {
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
