package tool

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
)

// Input is the input of a running command. Its methods are safe for concurrent use.
type Input struct {
	file *os.File // nil if the input is empty
	// terminal has the terminal of the command, or is nil.
	terminal *running
}

// Write writes to the input. It blocks until the command reads or has ended.
func (i *Input) Write(b []byte) (int, error) {
	if i.file == nil {
		return 0, ErrNoInput
	}
	return i.file.Write(b)
}

// Close ends the input.
func (i *Input) Close() error {
	switch {
	case i.file == nil:
		return ErrNoInput
	case i.terminal != nil:
		_, err := i.file.WriteString(endOfInput)
		return err
	}
	return i.file.Close()
}

// Resize changes the size of the terminal and notifies the command.
func (i *Input) Resize(s Size) error {
	if i.terminal == nil {
		return ErrNoTerminal
	}
	return i.terminal.resize(s)
}

// Exec runs a command to its end, as [Shell.Run] does. It calls started once, when the command
// runs. When it returns, all earlier output was passed on, unless Output still blocks or the
// command was cancelled.
func (s *Shell) Exec(ctx context.Context, e Exec, started func(*Input)) Exit {
	runtime.LockOSThread() // as in Run
	defer runtime.UnlockOSThread()
	if ctx.Err() != nil {
		return Exit{Failure: "cancelled before it was started"}
	}
	p, err := s.prepare(e.Command, e.environment(s.env(), s.secrets()))
	if err != nil {
		return Exit{Failure: err.Error()}
	}
	d := &execution{running: p, output: e.Output, drained: make(chan struct{})}
	if err := d.open(e); err != nil {
		return Exit{Failure: startFailure(e.Argv[0], err).Error()}
	}
	started(d.input)
	d.readStreams()
	reason := p.await(ctx, e.Timeout, d.drained)
	p.reap()
	d.end(ctx, reason)
	return d.exit(reason)
}

// execution is a running command with its input and output.
type execution struct {
	*running
	input  *Input
	output func(stderr bool, piece []byte)
	// streams are standard output and, without a terminal, standard error.
	streams []*source
	// unfinished counts the streams that have not ended; drained is closed with the last one.
	unfinished atomic.Int32
	drained    chan struct{}
	closed     atomic.Bool
}

// open creates the terminal or the pipes, and starts the process.
func (d *execution) open(e Exec) error {
	if e.TTY {
		d.running.size = e.Size
		if err := d.launch(); err != nil {
			return err
		}
		d.input = &Input{d.keys, d.running}
		d.streams = []*source{d.source()}
		return nil
	}
	return d.openPipes(e.Input)
}

func (d *execution) openPipes(input bool) error {
	var ours, theirs [3]*os.File
	defer func() {
		for _, file := range theirs {
			file.Close() // nil if there is none
		}
	}()
	var errs [4]error
	if input {
		ours[0], theirs[0], errs[0] = inputPipe()
		d.cmd.Stdin = theirs[0]
	}
	ours[1], theirs[1], errs[1] = outputPipe()
	ours[2], theirs[2], errs[2] = outputPipe()
	d.cmd.Stdout, d.cmd.Stderr = theirs[1], theirs[2]
	err := errors.Join(errs[:]...)
	if err == nil {
		err = d.spawn()
	}
	if err != nil {
		for _, file := range ours {
			file.Close()
		}
		return err
	}
	d.input = &Input{file: ours[0]}
	d.streams = []*source{newSource(ours[1]), newSource(ours[2])}
	return nil
}

// readStreams passes the output on.
func (d *execution) readStreams() {
	d.unfinished.Store(int32(len(d.streams)))
	for i, stream := range d.streams {
		go d.pass(stream, i > 0)
	}
}

// pass passes a stream on, until the stream or the execution ends.
func (d *execution) pass(stream *source, stderr bool) {
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

// end reads the rest of the output, and releases writers that wait for the command.
func (d *execution) end(ctx context.Context, reason ending) {
	if d.input.file != nil && d.input.terminal == nil {
		d.input.file.Close()
	}
	for _, stream := range d.streams {
		stream.setEnded()
	}
	if reason == exited {
		select {
		case <-d.drained:
		case <-ctx.Done():
		}
	}
	wait(pumpTime, d.drained)
	d.closed.Store(true)
}

func (d *execution) exit(reason ending) Exit {
	status, failure := d.endStatus()
	switch {
	case reason == timedOut && d.cmd.ProcessState != nil:
		return Exit{Code: codeTimedOut, TimedOut: true}
	case failure != "" && reason == cancelled && d.cmd.ProcessState != nil:
		return Exit{Code: codeSignal + int(syscall.SIGTERM)} // it was not started yet, or its supervisor ended with it
	case failure != "":
		return Exit{Failure: failure}
	case status.signal != 0:
		return Exit{Code: codeSignal + int(status.signal)}
	}
	return Exit{Code: status.code}
}
