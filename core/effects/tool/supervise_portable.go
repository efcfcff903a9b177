//go:build darwin || (linux && posix)

package tool

import (
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// descriptors is the folder of this process's open descriptors.
	descriptors = "/dev/fd"
	// tieFile is the descriptor of the pipe that ends when the server does.
	tieFile = 4
	// tableTime is the time between two looks at the process table.
	tableTime = 5 * time.Millisecond
)

// leaderAttributes returns the attributes of a program in its own session. It outlives this process:
// only a supervisor can end it then.
func leaderAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// supervisorAttributes returns the attributes of a supervisor.
func supervisorAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// tieSupervisor makes the pipe that ends with this process, and returns the supervisor's end, which
// the caller closes after the start.
func (p *running) tieSupervisor() (theirs *os.File, err error) {
	if theirs, p.tie, err = os.Pipe(); err != nil {
		return nil, err
	}
	p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, theirs)
	return theirs, nil
}

// Supervise makes this process the supervisor of a command. [Shell].Supervisor starts it. It
// returns the exit status when the command has ended and no process of it lives. Args are a grace
// period and the command's argument vector. The calling program should do nothing before and
// nothing after.
//
// SIGTERM ends the command, as the end of the server does.
func Supervise(args []string) int {
	return report(func() (string, error) { return supervise(args) })
}

// supervise runs a command to its end.
func supervise(args []string) (status string, err error) {
	grace, program, err := supervised(args)
	if err != nil {
		return "", err
	}
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	unix.CloseOnExec(tieFile)
	pid, err := fork(program, args[1:])
	if err != nil {
		return "", startFailure(args[1], err)
	}
	l := &leader{
		tree:   processTree{root: pid, start: startOf(pid), mark: ownMark()},
		exited: make(chan struct{}), untied: make(chan struct{}),
	}
	go func() {
		defer close(l.exited)
		awaitExit(pid)
	}()
	go func() {
		defer close(l.untied)
		os.NewFile(tieFile, "tie").Read(make([]byte, 1))
	}()
	l.await(ends, grace)
	return l.reap()
}

// fork starts the leader of a command in its own session, so that a script that signals its group
// does not hit the supervisor. A terminal becomes the terminal of the session.
func fork(program string, argv []string) (int, error) {
	return syscall.ForkExec(program, argv, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{0, 1, 2},
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: isTerminal(0)},
	})
}

// ownMark returns the mark in this process's environment, which its command inherits, or "".
func ownMark() string {
	for _, entry := range os.Environ() {
		if strings.HasPrefix(entry, markName+"=") {
			return entry
		}
	}
	return ""
}

// leader is the first process of a supervised command. It stays a zombie until reap, so that its
// process id is not reused.
type leader struct {
	tree processTree
	// exited is closed when the leader has exited, untied when the server has ended.
	exited, untied chan struct{}
}

// await waits for the end of the command, or asks it to end. Then it gives its processes some time
// to finish.
func (l *leader) await(ends <-chan os.Signal, grace time.Duration) {
	select {
	case <-l.exited:
		l.tree.awaitEmpty(drainTime)
		return
	case <-ends:
	case <-l.untied:
	}
	l.tree.signal(unix.SIGTERM)
	l.tree.awaitEmpty(grace)
}

// awaitEmpty waits until no process of the tree lives, at most for a time.
func (t *processTree) awaitEmpty(within time.Duration) {
	for deadline := time.Now().Add(within); ; time.Sleep(tableTime) {
		members, unsure, err := t.members()
		if err != nil || !unsure && !anyAlive(members) || !time.Now().Before(deadline) {
			return
		}
	}
}

func anyAlive(members []process) bool {
	for _, p := range members {
		if !p.zombie {
			return true
		}
	}
	return false
}

// reap ends all processes of the command and returns the leader's wait status. It gives up on
// processes that do not end after SIGKILL.
func (l *leader) reap() (status string, err error) {
	deadline := time.Now().Add(killTime)
	l.tree.end(deadline)
	if !wait(time.Until(deadline), l.exited) {
		return "", unkillable(l.tree.root)
	}
	var ended unix.WaitStatus
	for {
		if _, err = unix.Wait4(l.tree.root, &ended, 0, nil); err != unix.EINTR {
			return strconv.Itoa(int(ended)), err
		}
	}
}
