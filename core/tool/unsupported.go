//go:build !linux && !darwin

package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"appserver/core"
)

// errUnsupported is the error of every command. Support for another system would replace this file.
func errUnsupported() error {
	return fmt.Errorf("commands run on Linux and macOS only, and this is %s: run the server on Linux, in a virtual machine, a container or WSL, where the files are", runtime.GOOS)
}

// Run runs nothing.
func (*Shell) Run(context.Context, core.Command, <-chan string, func(string), func(string)) core.ToolResult {
	return core.ToolResult{Failure: errUnsupported().Error()}
}

// Exec runs nothing.
func (*Shell) Exec(context.Context, Exec, func(*Input)) Exit {
	return Exit{Failure: errUnsupported().Error()}
}

// Input is the input of no command.
type Input struct{}

// Write fails.
func (*Input) Write([]byte) (int, error) { return 0, errUnsupported() }

// Close fails.
func (*Input) Close() error { return errUnsupported() }

// Resize fails.
func (*Input) Resize(Size) error { return errUnsupported() }

// Connect starts nothing.
func (*Shell) Connect(Program) (*Link, error) { return nil, errUnsupported() }

// Link is a link to no program.
type Link struct{}

// Read fails.
func (*Link) Read([]byte) (int, error) { return 0, errUnsupported() }

// Write fails.
func (*Link) Write([]byte) (int, error) { return 0, errUnsupported() }

// CloseInput has nothing to close.
func (*Link) CloseInput() {}

// Close has nothing to close.
func (*Link) Close() error { return nil }

// Ended returns nil, because no program runs.
func (*Link) Ended() <-chan struct{} { return nil }

// Outcome returns the error of Connect.
func (*Link) Outcome() error { return errUnsupported() }

// Probe fails: no command can be confined.
func Probe([]string) error { return errUnsupported() }

// Supervise supervises nothing.
func Supervise([]string) int { return refuse() }

// Confine confines nothing.
func Confine([]string) int { return refuse() }

func refuse() int {
	fmt.Fprintln(os.Stderr, errors.Join(errUnsupported()))
	return 1
}
