//go:build linux

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

// running is a command that was started: its leader, or its supervisor, and what
// belongs to it.
type running struct {
	cmd    *exec.Cmd
	family family
	grace  time.Duration
	output *os.File
	// tty is set where output is a terminal's, which is typed on by writing to it.
	tty bool
	// size is that of the terminal.
	size Size
	// supervised is set where cmd is a supervisor. It writes a report when it has
	// ended all that the command left behind.
	supervised bool
	report     *os.File
	// exited is closed when cmd has exited. It is not reaped before bury.
	exited chan struct{}
	// status is the report, once it was read.
	status string
	// absent are files that the command must not make, refused those that it had made.
	absent  sandbox.Absent
	refused []string
	// rules are those that confine the command. placeholders are in the place of protected folders
	// that do not exist, for as long as it runs.
	rules        sandbox.Rules
	placeholders sandbox.Placeholders
}

// ending is why a run ends.
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
	for {
		err := unix.Waitid(unix.P_PID, p.pid(), nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

// await waits until the command has exited, with some time for what it left behind
// to finish, or asks it to end when ctx is done or the timeout is over; 0 is none.
// Drained is closed at the end of its output.
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

// terminate asks everything to end and gives it the time to do so.
func (p *running) terminate(drained <-chan struct{}) {
	if p.supervised {
		unix.Kill(p.pid(), unix.SIGTERM)
		wait(p.grace+superviseTime, p.exited)
		return
	}
	p.family.signal(unix.SIGTERM)
	wait(p.grace, p.exited, drained)
}

// bury ends everything that belongs to the command and reaps its process.
func (p *running) bury() {
	defer p.report.Close()
	defer func() {
		p.refused = p.absent.Remove()
		p.placeholders.Release()
	}()
	deadline := time.Now().Add(killTime)
	if pending(p.exited) || p.reported() == "" {
		p.family.end(deadline)
	}
	if wait(time.Until(deadline), p.exited) {
		p.cmd.Wait()
		p.status = p.reported()
	}
}

// reported is what the supervisor has reported when it has exited, "" where there
// is none or it was ended before.
func (p *running) reported() string {
	if !p.supervised || p.status != "" {
		return p.status
	}
	p.report.SetReadDeadline(time.Now().Add(drainTime))
	report, _ := io.ReadAll(p.report)
	p.status = string(report)
	return p.status
}

// outcome is the exit code or the failure.
func (p *running) outcome() core.ToolResult {
	status, failure := p.waitStatus()
	if failure != "" {
		return core.ToolResult{Failure: failure}
	}
	return outcomeOf(status)
}

// waitStatus is how the command ended, or why that is not known.
func (p *running) waitStatus() (status syscall.WaitStatus, failure string) {
	state := p.cmd.ProcessState
	switch {
	case state == nil:
		return 0, notDying(p.pid()).Error()
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

// notDying is the failure of a command that runs on.
func notDying(pid int) error {
	return fmt.Errorf("process %d did not end within %s of SIGKILL: it is stuck in the kernel, or belongs to another user", pid, killTime)
}

func outcomeOf(status syscall.WaitStatus) core.ToolResult {
	if status.Signaled() {
		return core.ToolResult{Failure: fmt.Sprintf("ended by signal %d (%s)", status.Signal(), status.Signal())}
	}
	code := status.ExitStatus()
	return core.ToolResult{ExitCode: &code}
}
