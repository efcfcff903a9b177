package workspace

import (
	"os"
	"path/filepath"
)

// Shell returns the path of the shell that runs commands: pwsh.exe if it is in PATH, else the PowerShell
// of Windows, else cmd.exe. getenv reads the environment.
func Shell(getenv func(string) string) string {
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		if shell := filepath.Join(dir, "pwsh.exe"); filepath.IsAbs(dir) && isFile(shell) {
			return shell
		}
	}
	system := filepath.Join(getenv("SystemRoot"), "System32")
	if shell := filepath.Join(system, "WindowsPowerShell", "v1.0", "powershell.exe"); isFile(shell) {
		return shell
	}
	return filepath.Join(system, "cmd.exe")
}

// isFile reports whether a path names a file, or an alias of the Store for one.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
