//go:build !windows

package workspace

import (
	"os"
	"path/filepath"
)

// Shell returns the path of the shell that runs commands: the user's if it is a Bourne shell, else
// bash, else sh. getenv reads the environment.
func Shell(getenv func(string) string) string {
	if shell := getenv("SHELL"); filepath.IsAbs(shell) && bourne(shell) && executable(shell) {
		return shell
	}
	if executable("/bin/bash") {
		return "/bin/bash"
	}
	return "/bin/sh"
}

func bourne(shell string) bool {
	switch filepath.Base(shell) {
	case "bash", "zsh", "sh":
		return true
	}
	return false
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
