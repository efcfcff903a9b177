//go:build unix

package cli

import (
	"os/exec"
	"runtime"
	"syscall"
)

// browser returns a command that opens a file in the browser, in a session of its own.
func browser(file string) *exec.Cmd {
	name := "xdg-open"
	if runtime.GOOS == "darwin" {
		name = "open"
	}
	cmd := exec.Command(name, file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}
