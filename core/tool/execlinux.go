//go:build linux

package tool

import (
	"cmp"
	"context"
	"errors"
	"os"
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Inlet is how a command that runs is talked to. Its methods are safe for concurrent use.
type Inlet struct {
	file *os.File // nil where its input is empty
	tty  bool
}

// endOfInput is what ends the input when it is typed at the begin of a line.
const endOfInput = "\x04"

// Write writes to its input. It blocks until the command reads, or has ended.
func (i *Inlet) Write(b []byte) (int, error) {
	if i.file == nil {
		return 0, ErrNoInput
	}
	return i.file.Write(b)
}

// Close ends its input.
func (i *Inlet) Close() error {
	switch {
	case i.file == nil:
		return ErrNoInput
	case i.tty:
		_, err := i.file.WriteString(endOfInput)
		return err
	}
	return i.file.Close()
}

// Resize gives its terminal another size, and tells the command.
func (i *Inlet) Resize(s Size) error {
	if !i.tty {
		return ErrNoTerminal
	}
	raw, err := i.file.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) {
		err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: s.Rows, Col: s.Cols})
	})
	return cmp.Or(failed, err)
}

// Exec runs a command to its end, as [Shell.Run] does. Started is called once, when it runs.
// What it wrote before its end was passed on when Exec returns, unless Output still blocks
// then, or it was ended.
func (s *Shell) Exec(ctx context.Context, e Exec, started func(*Inlet)) Exit {
	runtime.LockOSThread() // as in Run
	defer runtime.UnlockOSThread()
	if ctx.Err() != nil {
		return Exit{Failure: "cancelled before it was started"}
	}
	p, err := s.prepare(e.Command, e.environment(s.Env))
	if err != nil {
		return Exit{Failure: err.Error()}
	}
	d := &dialogue{running: p, output: e.Output, drained: make(chan struct{})}
	if err := d.open(e); err != nil {
		return Exit{Failure: startFailure(e.Argv[0], err).Error()}
	}
	started(d.inlet)
	d.listen()
	why := p.await(ctx, e.Timeout, d.drained)
	p.bury()
	d.end(ctx, why)
	return d.exit(why)
}

// dialogue is a command that runs, with what it is talked to through.
type dialogue struct {
	*running
	inlet  *Inlet
	output func(stderr bool, piece []byte)
	// streams are its output, and its error output where it has one.
	streams []*source
	// open counts the streams that have not ended; drained is closed with the last.
	unfinished atomic.Int32
	drained    chan struct{}
	closed     atomic.Bool
}

// open makes the terminal or the pipes, and starts the process.
func (d *dialogue) open(e Exec) error {
	if e.TTY {
		d.running.size = e.Size
		if err := d.launch(); err != nil {
			d.running.output.Close()
			d.report.Close()
			return err
		}
		d.inlet = &Inlet{d.running.output, true}
		d.streams = []*source{{d.running.output, lastReads}}
		return nil
	}
	return d.openPipes(e.Input)
}

func (d *dialogue) openPipes(input bool) error {
	var ours, theirs [3]*os.File
	defer func() {
		for _, file := range theirs {
			file.Close() // nil where there is none
		}
	}()
	var errs [4]error
	if input {
		theirs[0], ours[0], errs[0] = os.Pipe()
		d.cmd.Stdin = theirs[0]
	}
	ours[1], theirs[1], errs[1] = os.Pipe()
	ours[2], theirs[2], errs[2] = os.Pipe()
	d.cmd.Stdout, d.cmd.Stderr = theirs[1], theirs[2]
	err := errors.Join(errs[:]...)
	if err == nil {
		err = d.spawn()
	}
	if err != nil {
		for _, file := range ours {
			file.Close()
		}
		d.report.Close()
		return err
	}
	d.inlet = &Inlet{ours[0], false}
	d.streams = []*source{{ours[1], lastReads}, {ours[2], lastReads}}
	return nil
}

// listen passes the output on.
func (d *dialogue) listen() {
	d.unfinished.Store(int32(len(d.streams)))
	for i, stream := range d.streams {
		go d.pass(stream, i > 0)
	}
}

// pass passes a stream on, until its end or that of the dialogue.
func (d *dialogue) pass(stream *source, stderr bool) {
	defer func() {
		stream.pipe.Close()
		if d.unfinished.Add(-1) == 0 {
			close(d.drained)
		}
	}()
	buf := make([]byte, readSize)
	for {
		n, err := stream.read(buf)
		if d.closed.Load() {
			return
		}
		if n > 0 {
			d.output(stderr, buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// end takes the rest of the output, and lets nobody wait for the command's reading.
func (d *dialogue) end(ctx context.Context, why ending) {
	if d.inlet.file != nil && !d.inlet.tty {
		d.inlet.file.Close()
	}
	for _, stream := range d.streams {
		stream.hurry()
	}
	if why == exited {
		select {
		case <-d.drained:
		case <-ctx.Done():
		}
	}
	wait(pumpTime, d.drained)
	d.closed.Store(true)
}

func (d *dialogue) exit(why ending) Exit {
	status, failure := d.waitStatus()
	switch {
	case why == timedOut && d.cmd.ProcessState != nil:
		return Exit{Code: codeTimedOut, TimedOut: true}
	case failure != "" && why == cancelled && d.cmd.ProcessState != nil:
		return Exit{Code: codeSignal + int(unix.SIGTERM)} // it had not begun, or its supervisor was ended with it
	case failure != "":
		return Exit{Failure: failure}
	case status.Signaled():
		return Exit{Code: codeSignal + int(status.Signal())}
	}
	return Exit{Code: status.ExitStatus()}
}
