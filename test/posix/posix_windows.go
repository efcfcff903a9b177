package posix

import (
	"errors"
	"syscall"
	"time"
)

// Signals that Windows does not have.
const (
	SIGCONT = syscall.Signal(-1)
	SIGSTOP = syscall.Signal(-2)
)

// Mkfifo fails.
func Mkfifo(string, uint32) error { return errors.ErrUnsupported }

// Kill fails.
func Kill(int, syscall.Signal) error { return errors.ErrUnsupported }

// As returns the attributes of a process that runs as this user.
func As(int) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// Group returns the attributes of a process with its own console group.
func Group() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// LeadsGroup returns false: groups are not killed.
func LeadsGroup(*syscall.SysProcAttr) bool { return false }

// ProcessorTime fails.
func ProcessorTime(bool) (time.Duration, error) { return 0, errors.ErrUnsupported }

// TerminationSignal returns -1: no signal ends a process.
func TerminationSignal(any) syscall.Signal { return -1 }
