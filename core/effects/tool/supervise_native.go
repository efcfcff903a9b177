//go:build linux && !posix

package tool

import (
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// descriptors is the folder of this process's open descriptors.
const descriptors = "/proc/self/fd"

// leaderAttributes returns the attributes of a program in its own session. It ends with this process.
func leaderAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// supervisorAttributes returns the attributes of a supervisor, which has to end its command first.
func supervisorAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
}

// tieSupervisor does nothing: the kernel sends the parent-death signal.
func (*running) tieSupervisor() (*os.File, error) { return nil, nil }

// Supervise makes this process the supervisor of a command. [Shell].Supervisor starts it. It
// returns the exit status when the command has ended and no process of it lives. Args are a grace
// period and the command's argument vector. The calling program should do nothing before and
// nothing after.
//
// SIGTERM ends the command. The kernel also sends it when the server dies.
func Supervise(args []string) int {
	below := &processTree{root: os.Getpid()}
	return report(func() (string, error) {
		return supervise(args, func(sig unix.Signal) { below.signal(sig) })
	})
}

// supervise runs a command to its end. SignalAll sends a signal to all remaining processes of the
// command.
func supervise(args []string, signalAll func(unix.Signal)) (status string, err error) {
	grace, program, err := supervised(args)
	if err != nil {
		return "", err
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return "", err
	}
	runtime.LockOSThread() // for the parent-death signal of the command
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	pid, err := fork(program, args[1:])
	if err != nil {
		return "", startFailure(args[1], err)
	}
	r := &reaper{leader: pid, signalAll: signalAll, exited: make(chan struct{}), gone: make(chan struct{})}
	go r.run()
	r.await(ends, grace)
	if pending(r.exited) {
		return "", unkillable(pid)
	}
	return strconv.Itoa(int(r.status)), nil
}

// fork starts the leader of a command in its own session, so that a script that signals its group
// does not hit the supervisor. A terminal becomes the terminal of the session.
func fork(program string, argv []string) (int, error) {
	return syscall.ForkExec(program, argv, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{0, 1, 2},
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: isTerminal(0), Pdeathsig: syscall.SIGKILL},
	})
}

// signalBelow returns a function that signals all processes of the command. Another thread sends the signals, because
// the calling one is restricted.
func signalBelow() func(unix.Signal) {
	below := &processTree{root: os.Getpid()}
	return func(sig unix.Signal) {
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			below.signal(sig)
		}()
		<-sent
	}
}

// reaper reaps the children of a supervisor, including adopted ones.
type reaper struct {
	leader    int
	signalAll func(unix.Signal)
	// status is the wait status of the leader; it is valid after exited is closed.
	status unix.WaitStatus
	exited chan struct{}
	// gone is closed when there are no children.
	gone chan struct{}
}

func (r *reaper) run() {
	defer close(r.gone)
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return
		case pid == r.leader:
			r.status = status
			close(r.exited)
		}
	}
}

// await waits for the end of the command, or ends it, and then for the end of all its processes. It
// gives up on processes that do not end after SIGKILL.
func (r *reaper) await(ends <-chan os.Signal, grace time.Duration) {
	select {
	case <-r.exited:
		wait(drainTime, r.gone)
	case <-ends:
		r.signalAll(unix.SIGTERM)
		wait(grace, r.gone)
	}
	for deadline := time.Now().Add(killTime); pending(r.gone) && time.Now().Before(deadline); {
		r.signalAll(unix.SIGKILL)
		wait(5*time.Millisecond, r.gone)
	}
}
