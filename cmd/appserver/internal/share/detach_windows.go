package share

import (
	"os"
	"syscall"
)

// detachedProcess is DETACHED_PROCESS of the system: the process gets no console.
const detachedProcess = 0x8

// detached returns attributes of a process that outlives its parent and has no window.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true,
		CreationFlags: detachedProcess | syscall.CREATE_NEW_PROCESS_GROUP}
}

// terminate ends a process at once. Windows has no signal that asks for it.
func terminate(p *os.Process) error { return p.Kill() }
