//go:build linux || darwin

package tool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// reportFile is the descriptor of a supervisor's report: the wait status of the command as a
// number, or the reason why it did not start.
const reportFile = 3

// report runs a supervisor and writes its result to the report.
func report(run func() (string, error)) int {
	file := os.NewFile(reportFile, "report")
	unix.CloseOnExec(reportFile)
	status, err := run()
	if err != nil {
		status = err.Error()
	}
	if _, err := io.WriteString(file, status); err != nil {
		return 1
	}
	return 0
}

// supervised returns the grace period and the program of a supervisor's arguments.
func supervised(args []string) (grace time.Duration, program string, err error) {
	if len(args) < 2 {
		return 0, "", errors.New("cannot supervise: want a grace period and a command")
	}
	if grace, err = time.ParseDuration(args[0]); err != nil {
		return 0, "", fmt.Errorf("cannot supervise: %w", err)
	}
	program, err = lookPath(args[1], "", os.Environ())
	return grace, program, err
}
