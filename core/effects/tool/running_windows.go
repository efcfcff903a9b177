package tool

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

const (
	// killedCode is the exit code of processes that the job ended.
	killedCode = 0xE0A50009
	// jobTime is the time between two looks at the number of processes in a job.
	jobTime = 5 * time.Millisecond
)

// processSet is the processes of a command: a job. The kernel adds all that they start, and ends them
// when the last handle of the job is closed, so at the latest with this process.
type processSet struct {
	job windows.Handle
	// leader is the first process. watch closes the handle.
	leader windows.Handle
	// interrupter is the program that asks the processes to end, or empty.
	interrupter []string
	// asked is set if they were asked to end, killed if the leader was killed.
	asked, killed bool
	console       *console
}

// mark returns no variable: the job knows its processes.
func (p *running) mark() []string { return nil }

// lead starts the command directly. The supervisor program is only called to ask for its end.
func (p *running) lead(supervisor []string) { p.interrupter = supervisor }

// spawn starts the process in a job of its own.
func (p *running) spawn() (err error) {
	if p.job, err = newJob(); err != nil {
		return err
	}
	if p.leader, err = p.startProcess(); err != nil {
		windows.CloseHandle(p.job)
		return err
	}
	if p.cmd.Process, err = openProcess(p.leader); err != nil {
		windows.CloseHandle(p.leader)
		windows.CloseHandle(p.job) // ends the process
		return err
	}
	go p.watch()
	return nil
}

// openProcess returns the process of a handle. The handle keeps the process id from being reused.
func openProcess(handle windows.Handle) (*os.Process, error) {
	pid, err := windows.GetProcessId(handle)
	if err != nil {
		return nil, err
	}
	return os.FindProcess(int(pid))
}

// watch closes exited when the process has exited.
func (p *running) watch() {
	defer close(p.exited)
	windows.WaitForSingleObject(p.leader, windows.INFINITE)
	windows.CloseHandle(p.leader)
}

// terminate asks all processes to end, by CTRL_BREAK, and waits for the grace period. Processes without
// a console, and those of a server without a supervisor program, cannot be asked.
func (p *running) terminate(<-chan struct{}) {
	if len(p.interrupter) == 0 || !interrupt(p.interrupter, p.pid()) {
		return
	}
	p.asked = true
	for deadline := time.Now().Add(p.grace); time.Now().Before(deadline); time.Sleep(jobTime) {
		if active(p.job) == 0 {
			return
		}
	}
}

// interrupt runs a program that calls [Supervise], and reports whether it sent CTRL_BREAK.
func interrupt(program []string, pid int) bool {
	cmd := exec.Command(program[0], append(program[1:len(program):len(program)], strconv.Itoa(pid))...)
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS}
	if cmd.Start() != nil {
		return false
	}
	timer := time.AfterFunc(superviseTime, func() { cmd.Process.Kill() })
	defer timer.Stop()
	return cmd.Wait() == nil
}

// reap ends all processes of the command and closes its terminal.
func (p *running) reap() {
	defer windows.CloseHandle(p.job)
	deadline := time.Now().Add(killTime)
	p.killed = pending(p.exited)
	endJob(p.job, deadline)
	if wait(time.Until(deadline), p.exited) {
		p.cmd.ProcessState, _ = p.cmd.Process.Wait()
	}
	p.closeTerminal()
}

// endStatus returns the status at the end of the command, or the reason why it is not known.
func (p *running) endStatus() (status endStatus, failure string) {
	if p.cmd.ProcessState == nil {
		return endStatus{}, unkillable(p.pid()).Error()
	}
	return statusOf(uint32(p.cmd.ProcessState.ExitCode()), p.asked, p.killed), ""
}

// statusOf converts an exit code of 32 bits, which the protocol has as a signed number. Windows has no
// signals: an end by Ctrl-C has a code, which is also that of CTRL_BREAK.
func statusOf(code uint32, asked, killed bool) endStatus {
	switch {
	case killed && code == killedCode:
		return endStatus{signal: syscall.SIGKILL}
	case code == uint32(windows.STATUS_CONTROL_C_EXIT) && asked:
		return endStatus{signal: syscall.SIGTERM}
	case code == uint32(windows.STATUS_CONTROL_C_EXIT):
		return endStatus{signal: syscall.SIGINT}
	}
	return endStatus{code: int(int32(code))}
}

// unkillable returns the failure of a command that cannot be killed.
func unkillable(pid int) error {
	return fmt.Errorf("process %d did not end within %s: it is stuck in the kernel, for example in a driver", pid, killTime)
}
