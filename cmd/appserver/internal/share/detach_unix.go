//go:build unix

package share

import (
	"os"
	"syscall"
)

// detached returns attributes of a process that outlives its parent and its terminal.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// terminate asks a process to end.
func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
