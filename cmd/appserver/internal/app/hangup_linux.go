package app

import (
	"context"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// outputClosed returns a channel that is closed when no process can read the output any more: a pipe, a socket or a
// terminal whose other end is closed. It returns nil for other outputs. A goroutine waits; it ends with ctx.
//
// A write would fail then, but a server whose turn waits for an answer of the client writes nothing.
func outputClosed(ctx context.Context, out io.Writer) <-chan struct{} {
	watch := watchHangup(out)
	if watch == nil {
		return nil
	}
	closed := make(chan struct{})
	go func() {
		defer watch.Close()
		defer context.AfterFunc(ctx, func() { _ = watch.SetReadDeadline(time.Unix(1, 0)) })()
		err := awaitReadable(watch, func(fd uintptr) bool {
			n, _ := unix.EpollWait(int(fd), make([]unix.EpollEvent, 1), 0)
			return n > 0
		})
		if err == nil {
			close(closed)
		}
	}()
	return closed
}

// watchHangup returns a file that is readable when the other end of the output is closed, or nil. It is an epoll
// instance, because the poller of the runtime waits for it without a thread, and does not take a blocking output.
func watchHangup(out io.Writer) *os.File {
	file, ok := out.(*os.File)
	if !ok {
		return nil
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return nil
	}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil
	}
	added := err
	err = raw.Control(func(fd uintptr) { // no events: errors and hangups are always reported
		added = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, int(fd), &unix.EpollEvent{Fd: int32(fd)})
	})
	if err != nil || added != nil || unix.SetNonblock(epoll, true) != nil { // a regular file cannot be watched
		_ = unix.Close(epoll)
		return nil
	}
	return os.NewFile(uintptr(epoll), "hangup of the output")
}
