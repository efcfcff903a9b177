//go:build linux

package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// protectMemory denies other processes of the same user access to the memory and the environment of this
// process. The environment has the keys of providers, and commands of the agent run as the same user.
// Processes of root keep access to the memory, but find no keys where the kernel shows the environment.
func protectMemory() error {
	err := eraseEnvironment()                        // before the files in /proc/self belong to root
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // cannot fail with these arguments
	return err
}

// eraseEnvironment erases the environment that this process was started with and that /proc/PID/environ shows, except
// the home, by which people tell servers apart. The runtime of Go has copied it.
func eraseEnvironment() error {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return err
	}
	start, end, err := environmentBounds(string(stat))
	if err != nil {
		return err
	}
	memory, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	block := make([]byte, end-start)
	if _, err := memory.ReadAt(block, start); err != nil {
		return err
	}
	_, err = memory.WriteAt(withoutValues(block), start)
	return err
}

// environmentBounds returns the bounds of the environment in memory: fields 50 and 51 of proc_pid_stat(5). The second
// field is a name that can have spaces and parentheses.
func environmentBounds(stat string) (start, end int64, err error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	const first = 3 // the number of fields[0]
	if len(fields) <= 51-first {
		return 0, 0, errors.New("/proc/self/stat has no bounds of the environment")
	}
	if start, err = strconv.ParseInt(fields[50-first], 10, 64); err != nil {
		return 0, 0, err
	}
	if end, err = strconv.ParseInt(fields[51-first], 10, 64); err != nil || end < start {
		return 0, 0, fmt.Errorf("/proc/self/stat has wrong bounds of the environment: %d, %d", start, end)
	}
	return start, end, nil
}

// withoutValues replaces the values of a block of variables by NUL bytes.
func withoutValues(block []byte) []byte {
	cleared := make([]byte, 0, len(block))
	for entry := range bytes.SplitSeq(block, []byte{0}) {
		name, _, named := bytes.Cut(entry, []byte("="))
		if !named {
			name = nil
		}
		if string(name) != "CODEX_HOME" {
			entry = append(bytes.Clone(name), make([]byte, len(entry)-len(name))...)
		}
		cleared = append(append(cleared, entry...), 0)
	}
	return cleared[:len(block)]
}

// maxPipe is the size of the pipe to the client in bytes. It is the default limit of Linux for users without
// privileges. With the default size of 64 KiB, a list of some megabytes needs fifty turns of both
// processes.
const maxPipe = 1 << 20

// growPipe increases the size of a pipe to maxPipe. It ignores other files, and pipes that the kernel does
// not resize.
func growPipe(out io.Writer) {
	pipe, ok := out.(*os.File)
	if !ok {
		return
	}
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { // fails only on a closed file; then the first write fails as well
		if has, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0); err == nil && has < maxPipe {
			_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, maxPipe)
		}
	})
}

// awaitExit waits until the parent process pid exits or ctx is done. It returns true if the process exited.
//
// The poller of the runtime waits. A blocked system call would occupy a processor of the runtime until the runtime
// notices, and wake up twice a second to look at ctx.
func awaitExit(ctx context.Context, pid int) bool {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return pollParent(ctx, pid)
	}
	process := os.NewFile(uintptr(fd), "pidfd")
	defer process.Close()
	defer context.AfterFunc(ctx, func() { _ = process.SetReadDeadline(time.Unix(1, 0)) })()
	err = awaitReadable(process, func(fd uintptr) bool {
		n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || os.Getppid() != pid // before PidfdOpen, another process may have got the pid
	})
	if err != nil && ctx.Err() == nil {
		return pollParent(ctx, pid)
	}
	return err == nil
}

// awaitReadable waits until ready returns true. It calls ready at first, and when the file becomes readable.
func awaitReadable(file *os.File, ready func(fd uintptr) bool) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(ready)
}
