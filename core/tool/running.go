//go:build linux || darwin

package tool

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"appserver/core"
	"appserver/core/sandbox"
)

// running is a started command: its leader or supervisor, and all its processes.
type running struct {
	cmd    *exec.Cmd
	tree   processTree
	grace  time.Duration
	output *os.File
	// tty is set if the output is a terminal, on which input is typed.
	tty bool
	// size is the size of the terminal.
	size Size
	// supervised is set if cmd is a supervisor. It writes a report when all processes of the command
	// have ended.
	supervised bool
	report     *os.File
	// tie is a pipe whose end tells a supervisor that this process has ended, or nil if the kernel does.
	tie *os.File
	// exited is closed when cmd has exited. The process is reaped in reap.
	exited chan struct{}
	// status is the report, after it was read.
	status string
	// absent are files that the command must not create. refused are files that it created anyway.
	absent  sandbox.Absent
	refused []string
	// rules are the rules that confine the command. Placeholders replace protected folders that do not
	// exist while it runs.
	rules        sandbox.Rules
	placeholders sandbox.Placeholders
}

// ending is the reason why a run ends.
type ending int

const (
	exited ending = iota
	cancelled
	timedOut
)

func (p *running) pid() int { return p.cmd.Process.Pid }

// watch closes exited when the process has exited, and leaves it a zombie.
func (p *running) watch() {
	defer close(p.exited)
	awaitExit(p.pid())
}

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

// terminate sends SIGTERM to all processes and waits for the grace period.
func (p *running) terminate(drained <-chan struct{}) {
	if p.supervised {
		unix.Kill(p.pid(), unix.SIGTERM)
		wait(p.grace+superviseTime, p.exited)
		return
	}
	p.tree.signal(unix.SIGTERM)
	wait(p.grace, p.exited, drained)
}

// reap ends all processes of the command and reaps its leader.
func (p *running) reap() {
	defer p.report.Close()
	defer p.tie.Close()
	defer func() {
		p.refused = p.absent.Remove()
		p.placeholders.Release()
	}()
	deadline := time.Now().Add(killTime)
	if pending(p.exited) || p.reported() == "" {
		p.tree.end(deadline)
	}
	if wait(time.Until(deadline), p.exited) {
		p.cmd.Wait()
		p.status = p.reported()
	}
}

// reported returns the report of an exited supervisor, or "" for an unsupervised command and a
// killed supervisor.
func (p *running) reported() string {
	if !p.supervised || p.status != "" {
		return p.status
	}
	p.report.SetReadDeadline(time.Now().Add(drainTime))
	report, _ := io.ReadAll(p.report)
	p.status = string(report)
	return p.status
}

// outcome returns the exit code or the failure.
func (p *running) outcome() core.ToolResult {
	status, failure := p.waitStatus()
	if failure != "" {
		return core.ToolResult{Failure: failure}
	}
	return outcomeOf(status)
}

// waitStatus returns the wait status of the command, or the reason why it is not known.
func (p *running) waitStatus() (status syscall.WaitStatus, failure string) {
	state := p.cmd.ProcessState
	switch {
	case state == nil:
		return 0, unkillable(p.pid()).Error()
	case !p.supervised:
		return state.Sys().(syscall.WaitStatus), ""
	case p.status == "":
		result := outcomeOf(state.Sys().(syscall.WaitStatus))
		return 0, cmp.Or(result.Failure, state.String()) + ", and its supervisor ended as well"
	}
	number, err := strconv.ParseUint(p.status, 10, 32)
	if err != nil {
		return 0, p.status
	}
	return syscall.WaitStatus(number), ""
}

// unkillable returns the failure of a command that cannot be killed.
func unkillable(pid int) error {
	return fmt.Errorf("process %d did not end within %s of SIGKILL: it is stuck in the kernel, or belongs to another user",
		pid, killTime)
}

func outcomeOf(status syscall.WaitStatus) core.ToolResult {
	if status.Signaled() {
		return core.ToolResult{Failure: fmt.Sprintf("ended by signal %d (%s)", status.Signal(), status.Signal())}
	}
	code := status.ExitStatus()
	return core.ToolResult{ExitCode: &code}
}
