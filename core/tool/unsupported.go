//go:build !linux

package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"appserver/core"
)

// errNotLinux is the error of every command. Confining commands and ending all their processes
// needs Linux. Support for another system would replace this file.
func errNotLinux() error {
	return fmt.Errorf("commands run on Linux only, and this is %s: run the server on Linux, in a virtual machine, a container or WSL, where the files are", runtime.GOOS)
}

// Run runs nothing.
func (*Shell) Run(context.Context, core.Command, <-chan string, func(string), func(string)) core.ToolResult {
	return core.ToolResult{Failure: errNotLinux().Error()}
}

// Exec runs nothing.
func (*Shell) Exec(context.Context, Exec, func(*Input)) Exit {
	return Exit{Failure: errNotLinux().Error()}
}

// Input is the input of no command.
type Input struct{}

// Write fails.
func (*Input) Write([]byte) (int, error) { return 0, errNotLinux() }

// Close fails.
func (*Input) Close() error { return errNotLinux() }

// Resize fails.
func (*Input) Resize(Size) error { return errNotLinux() }

// Connect starts nothing.
func (*Shell) Connect(Program) (*Link, error) { return nil, errNotLinux() }

// Link is a link to no program.
type Link struct{}

// Read fails.
func (*Link) Read([]byte) (int, error) { return 0, errNotLinux() }

// Write fails.
func (*Link) Write([]byte) (int, error) { return 0, errNotLinux() }

// CloseInput has nothing to close.
func (*Link) CloseInput() {}

// Close has nothing to close.
func (*Link) Close() error { return nil }

// Ended returns nil, because no program runs.
func (*Link) Ended() <-chan struct{} { return nil }

// Outcome returns the error of Connect.
func (*Link) Outcome() error { return errNotLinux() }

// Probe fails: no command can be confined.
func Probe([]string) error { return errNotLinux() }

// Supervise supervises nothing.
func Supervise([]string) int { return refuse() }

// Confine confines nothing.
func Confine([]string) int { return refuse() }

func refuse() int {
	fmt.Fprintln(os.Stderr, errors.Join(errNotLinux()))
	return 1
}
