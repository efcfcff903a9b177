package metrics

import (
	"syscall"
	"time"
)

// processorTime returns the processor time of this process.
func processorTime() (time.Duration, error) {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0, err
	}
	var created, exited, kernel, user syscall.Filetime
	err = syscall.GetProcessTimes(self, &created, &exited, &kernel, &user)
	return duration(kernel) + duration(user), err
}

// duration converts a length of time, which has units of 100 ns.
func duration(t syscall.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
