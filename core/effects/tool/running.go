package tool

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"appserver/core"
)

// running is a started command: its leader or supervisor, and all its processes.
type running struct {
	processSet
	cmd    *exec.Cmd
	grace  time.Duration
	output *os.File
	// tty is set if the output is a terminal. keys is the file for its input.
	tty  bool
	keys *os.File
	// size is the size of the terminal.
	size Size
	// exited is closed when cmd has exited. The process is reaped in reap.
	exited chan struct{}
	// warnings are about what the command must not leave, and left anyway.
	warnings []string
}

// ending is the reason why a run ends.
type ending int

const (
	exited ending = iota
	cancelled
	timedOut
)

func (p *running) pid() int { return p.cmd.Process.Pid }

// await waits until the command has exited, and gives remaining processes some time to finish. If
// ctx is cancelled or the timeout is over, it terminates the command. Timeout 0 means no limit.
// Drained is closed at the end of the output.
func (p *running) await(ctx context.Context, timeout time.Duration, drained <-chan struct{}) ending {
	var limit <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		limit = timer.C
	}
	select {
	case <-p.exited:
		wait(drainTime, drained)
		return exited
	case <-ctx.Done():
		p.terminate(drained)
		return cancelled
	case <-limit:
		p.terminate(drained)
		return timedOut
	}
}

// endStatus is how a command ended: by a signal, or with an exit code if the signal is 0.
type endStatus struct {
	signal syscall.Signal
	code   int
}

// result returns the exit code or the failure.
func (s endStatus) result() core.ToolResult {
	if s.signal != 0 {
		return core.ToolResult{Failure: fmt.Sprintf("ended by signal %d (%s)", s.signal, s.signal)}
	}
	return core.ToolResult{ExitCode: &s.code}
}

// outcome returns the exit code or the failure.
func (p *running) outcome() core.ToolResult {
	status, failure := p.endStatus()
	if failure != "" {
		return core.ToolResult{Failure: failure}
	}
	return status.result()
}

// typeTime is the time in which a program must read typed text; then the rest is lost.
const typeTime = time.Second

// typeKeys types text until the output has ended.
func (p *running) typeKeys(keys <-chan string, ended <-chan struct{}) {
	for {
		select {
		case text := <-keys:
			p.keys.SetWriteDeadline(time.Now().Add(typeTime))
			io.WriteString(p.keys, typed(text))
		case <-ended:
			return
		}
	}
}
