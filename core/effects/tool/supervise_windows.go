package tool

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"

	"golang.org/x/sys/windows"

	"appserver/core/effects/sandbox"
)

// Supervise asks the processes of a command to end. [Shell].Supervisor starts it then: a process has at
// most one console, so the server cannot use those of its commands. Args are the process id of the
// command. It sends CTRL_BREAK to all processes of its console.
func Supervise(args []string) int { return reportError(sendBreak(args)) }

func sendBreak(args []string) error {
	if len(args) != 1 {
		return errors.New("cannot send CTRL_BREAK: want a process id")
	}
	pid, err := strconv.ParseUint(args[0], 10, 32)
	if err != nil {
		return fmt.Errorf("cannot send CTRL_BREAK: %w", err)
	}
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // this process gets it as well
	kernel := windows.NewLazySystemDLL("kernel32.dll")
	kernel.NewProc("FreeConsole").Call()
	if ok, _, err := kernel.NewProc("AttachConsole").Call(uintptr(pid)); ok == 0 {
		return fmt.Errorf("cannot attach to the console of process %d: %w", pid, err)
	}
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, 0)
}

// errUnconfined is the reason why no command is confined.
var errUnconfined = errors.New("Windows has no sandbox for commands; in WSL there is one")

// Confine confines nothing.
func Confine([]string) int { return reportError(errUnconfined) }

// confine fails: a command that should be confined is not run.
func (*running) confine([]string, sandbox.Rules) error { return errUnconfined }

// Probe fails, so that the caller asks before a command that a sandbox policy would confine.
func Probe([]string) error { return errUnconfined }

// ProbeReading fails.
func ProbeReading([]string) error { return errUnconfined }

func reportError(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}
