//go:build unix

package metrics

import (
	"syscall"
	"time"
)

// processorTime returns the processor time of this process.
func processorTime() (time.Duration, error) {
	var usage syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), err
}
