//go:build unix

package posix

import (
	"syscall"
	"time"
)

// Signals that Windows does not have.
const (
	SIGCONT = syscall.SIGCONT
	SIGSTOP = syscall.SIGSTOP
)

// Mkfifo creates a FIFO.
func Mkfifo(path string, mode uint32) error { return syscall.Mkfifo(path, mode) }

// Kill sends a signal to a process, or to a group if the id is negative.
func Kill(pid int, s syscall.Signal) error { return syscall.Kill(pid, s) }

// As returns the attributes of a process that runs as a user and its group of the same number.
func As(id int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(id), Gid: uint32(id)}}
}

// Group returns the attributes of a process that leads a process group.
func Group() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// LeadsGroup reports whether a process with these attributes leads a process group.
func LeadsGroup(a *syscall.SysProcAttr) bool { return a != nil && a.Setpgid }

// ProcessorTime returns the processor time of this process, or the one of its children that have ended.
func ProcessorTime(children bool) (time.Duration, error) {
	who := syscall.RUSAGE_SELF
	if children {
		who = syscall.RUSAGE_CHILDREN
	}
	var use syscall.Rusage
	err := syscall.Getrusage(who, &use)
	return time.Duration(use.Utime.Nano() + use.Stime.Nano()), err
}

// TerminationSignal returns the signal that ended a process, or -1.
func TerminationSignal(status any) syscall.Signal {
	if s, ok := status.(syscall.WaitStatus); ok && s.Signaled() {
		return s.Signal()
	}
	return -1
}
