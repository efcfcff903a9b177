package tool

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"time"
)

const (
	// maxStderrLine bounds the bytes of a line of standard error that are passed on. maxStderrLines
	// bounds the number of lines.
	maxStderrLine  = 1 << 10
	maxStderrLines = 1000
	// closeTime is the time that a program has to end after its input ends.
	closeTime = 300 * time.Millisecond
)

// Link is a running program. Read returns its standard output, and Write writes to its standard
// input.
type Link struct {
	process *running
	in, out *os.File
	closing chan struct{}
	closed  sync.Once
	ended   chan struct{}
	outcome error
	stderr  *os.File
}

// Connect starts a program. It runs until it ends, the link is closed or this process ends. Then no
// process of it is left, as with [Shell.Run].
func (s *Shell) Connect(c Program) (*Link, error) {
	l := &Link{closing: make(chan struct{}), ended: make(chan struct{})}
	started := make(chan error, 1)
	go l.run(s, c, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return l, nil
}

// run starts the program and waits for its end, on one thread: Linux sends the parent-death signal
// when the thread that started the program ends.
func (l *Link) run(s *Shell, c Program, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := l.start(s, c); err != nil {
		started <- err
		return
	}
	stderrDone := make(chan struct{})
	go func() {
		defer close(stderrDone)
		l.passStderr(c.Stderr)
	}()
	started <- nil
	select {
	case <-l.process.exited:
	case <-l.closing:
		if !wait(closeTime, l.process.exited) {
			l.process.terminate(l.process.exited)
		}
	}
	l.process.reap()
	wait(pumpTime, stderrDone)
	result := l.process.outcome()
	switch {
	case result.Failure != "":
		l.outcome = errors.New(result.Failure)
	case *result.ExitCode != 0:
		l.outcome = &exitError{*result.ExitCode}
	}
	close(l.ended)
}

func (l *Link) start(s *Shell, c Program) error {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return errors.New("no program to run: command is empty")
	}
	if err := checkDirectory(c.Dir); err != nil {
		return err
	}
	program, err := lookPath(c.Argv[0], c.Dir, c.Env)
	if err != nil {
		return err
	}
	p := &running{
		cmd:   &exec.Cmd{Path: program, Args: c.Argv, Dir: c.Dir},
		grace: or(s.KillGrace, defaultKillGrace), exited: make(chan struct{}),
	}
	p.cmd.Env = append(c.Env[:len(c.Env):len(c.Env)], p.mark()...)
	p.lead(s.Supervisor)
	l.process = p
	if err := l.open(); err != nil {
		l.release()
		return startFailure(c.Argv[0], err)
	}
	return nil
}

// open creates the pipes and starts the process.
func (l *Link) open() error {
	var theirs [3]*os.File
	defer func() {
		for _, f := range theirs {
			f.Close() // nil if a pipe could not be created
		}
	}()
	var errs [3]error
	l.in, theirs[0], errs[0] = inputPipe()
	l.out, theirs[1], errs[1] = outputPipe()
	l.stderr, theirs[2], errs[2] = outputPipe()
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	l.process.cmd.Stdin, l.process.cmd.Stdout, l.process.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	return l.process.spawn()
}

func (l *Link) release() {
	l.in.Close()
	l.out.Close()
	l.stderr.Close()
}

// passStderr passes standard error on until its end. Text beyond the limits is read and dropped.
func (l *Link) passStderr(pass func(string)) {
	defer l.stderr.Close()
	r := bufio.NewReaderSize(l.stderr, maxStderrLine)
	for n := 0; ; n++ {
		line, isPrefix, err := r.ReadLine()
		if err != nil {
			return
		}
		if n < maxStderrLines && pass != nil {
			pass(string(line))
		}
		for isPrefix && err == nil {
			_, isPrefix, err = r.ReadLine()
		}
	}
}

// Read reads standard output.
func (l *Link) Read(b []byte) (int, error) { return l.out.Read(b) }

// Write writes to standard input.
func (l *Link) Write(b []byte) (int, error) { return l.in.Write(b) }

// CloseInput ends the program's standard input.
func (l *Link) CloseInput() { _ = l.in.Close() }

// Close ends the program: it closes the input, then asks the program to end, then kills it. It does not wait.
func (l *Link) Close() error {
	l.closed.Do(func() {
		close(l.closing)
		l.in.Close()
		l.out.Close()
	})
	return nil
}

// Ended returns a channel that is closed when no process of the program is left and its standard
// error was passed on.
func (l *Link) Ended() <-chan struct{} { return l.ended }

// Outcome returns the reason why the program ended, or nil for exit code 0. It is valid after
// Ended.
func (l *Link) Outcome() error { return l.outcome }

type exitError struct{ code int }

func (e *exitError) Error() string { return "it ended with exit code " + strconv.Itoa(e.code) }
