package share

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// detached returns attributes of a process that outlives its parent and has no window.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true,
		CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

// terminate ends a process at once. Windows has no signal that asks for it.
func terminate(p *os.Process) error { return p.Kill() }
