//go:build linux || darwin

package tool

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"appserver/core/effects/sandbox"
)

// processSet is the processes of a command: a tree in the process table, and its supervisor.
type processSet struct {
	tree processTree
	// supervised is set if cmd is a supervisor. It writes a report when all processes of the command
	// have ended.
	supervised bool
	report     *os.File
	// tie is a pipe whose end tells a supervisor that this process has ended, or nil if the kernel does.
	tie *os.File
	// status is the report, after it was read.
	status string
	// absent are files that the command must not create.
	absent sandbox.Absent
	// repositories are those in the writable roots before the command.
	repositories sandbox.Repositories
	// rules are the rules that confine the command. Placeholders replace protected folders that do not
	// exist while it runs.
	rules        sandbox.Rules
	placeholders sandbox.Placeholders
}

// markName is the environment variable that marks the processes of a command.
const markName = "APPSERVER_COMMAND"

// probeTime bounds a probe of the sandbox.
const probeTime = 5 * time.Second

// mark returns the variable that marks the processes of the command.
func (p *running) mark() []string {
	p.tree.mark = markName + "=" + rand.Text()
	return []string{p.tree.mark}
}

// lead makes the command, or its supervisor if there is one, the leader of a session. A session of its
// own is also a group of its own, and has no terminal to ask for passwords on.
func (p *running) lead(supervisor []string) {
	if len(supervisor) > 0 {
		p.supervise(supervisor, p.grace)
		return
	}
	p.cmd.SysProcAttr = leaderAttributes()
	p.cmd.SysProcAttr.Setctty = p.tty
}

// supervise inserts the supervisor before the command.
func (p *running) supervise(supervisor []string, grace time.Duration) {
	p.supervised = true
	p.cmd.Path = supervisor[0]
	p.cmd.Args = slices.Concat(supervisor, []string{grace.String()}, p.cmd.Args)
	p.cmd.SysProcAttr = supervisorAttributes()
}

// spawn starts the process, with a pipe for the supervisor's report.
func (p *running) spawn() (err error) {
	defer func() {
		if err != nil {
			p.report.Close() // nil if there is none
		}
	}()
	var reporting *os.File
	if p.supervised {
		if p.report, reporting, err = os.Pipe(); err != nil {
			return err
		}
		defer reporting.Close()
		p.cmd.ExtraFiles = []*os.File{reporting}
		theirs, err := p.tieSupervisor()
		if err != nil {
			return err
		}
		defer theirs.Close() // nil if the kernel needs no pipe
	}
	setCloseOnExec()
	p.placeholders = p.rules.Placeholders()
	if err := p.cmd.Start(); err != nil {
		p.placeholders.Release()
		p.tie.Close()
		return err
	}
	p.tree.root, p.tree.start = p.pid(), startOf(p.pid())
	go p.watch()
	return nil
}

// setCloseOnExec marks the descriptors that this process inherited as close-on-exec. The other
// descriptors are marked already.
func setCloseOnExec() {
	folder, err := os.Open(descriptors)
	if err != nil {
		return
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// watch closes exited when the process has exited, and leaves it a zombie.
func (p *running) watch() {
	defer close(p.exited)
	awaitExit(p.pid())
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
		p.warnings = p.cleanGit()
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

// cleanGit removes and disables what the command left to make git run programs. It returns sentences about that.
func (p *running) cleanGit() (all []string) {
	for _, file := range p.absent.Remove() {
		all = append(all, "The sandbox removed "+file+", because git could run programs that a command chose.")
	}
	folders, err := p.repositories.Disable(p.rules)
	for _, dir := range folders {
		all = append(all, "In the git repository "+dir+", a command left settings or hooks that can run programs. "+
			"The sandbox changed these settings to comments, and renamed hooks and links to names that end in .disabled.")
	}
	if err != nil {
		all = append(all, "A command may have left git repositories that run programs, and the sandbox could not examine "+
			"or change them: "+strings.ReplaceAll(err.Error(), "\n", "; ")+". Inspect them before you run git there.")
	}
	return all
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

// endStatus returns the status at the end of the command, or the reason why it is not known.
func (p *running) endStatus() (status endStatus, failure string) {
	state := p.cmd.ProcessState
	switch {
	case state == nil:
		return endStatus{}, unkillable(p.pid()).Error()
	case !p.supervised:
		return statusOf(state.Sys().(syscall.WaitStatus)), ""
	case p.status == "":
		result := statusOf(state.Sys().(syscall.WaitStatus)).result()
		return endStatus{}, cmp.Or(result.Failure, state.String()) + ", and its supervisor ended as well"
	}
	number, err := strconv.ParseUint(p.status, 10, 32)
	if err != nil {
		return endStatus{}, p.status
	}
	return statusOf(syscall.WaitStatus(number)), ""
}

// unkillable returns the failure of a command that cannot be killed.
func unkillable(pid int) error {
	return fmt.Errorf("process %d did not end within %s of SIGKILL: it is stuck in the kernel, or belongs to another user",
		pid, killTime)
}

func statusOf(status syscall.WaitStatus) endStatus {
	if status.Signaled() {
		return endStatus{signal: status.Signal()}
	}
	return endStatus{code: status.ExitStatus()}
}
