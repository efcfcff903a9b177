package cli

import (
	"os/exec"
	"syscall"
)

// browser returns a command that opens a file in the browser. Ctrl+C does not reach its console group.
func browser(file string) *exec.Cmd {
	cmd := exec.Command("rundll32", "url.dll,FileProtocolHandler", file)
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
	return cmd
}
