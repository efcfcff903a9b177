//go:build linux || darwin

package tool

import (
	"os"
	"syscall"
)

// terminate asks a process to end.
const terminate = syscall.SIGTERM

// nextLine ends a line on a terminal.
const nextLine = "\n"

// cannotAsk returns "", because every system with signals can ask a command to end.
func cannotAsk() string { return "" }

// cannotResize returns "", because every terminal here has a size.
func cannotResize() string { return "" }

// playConsole reads a line from the terminal and prints it there.
func playConsole() int { return converse(os.Stdin, os.Stdout) }
