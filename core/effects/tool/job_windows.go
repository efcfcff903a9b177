package tool

import (
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// newJob returns a job that ends its processes when the handle is closed. No other process inherits it.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION of winnt.h.
type accounting struct {
	userTime, kernelTime, periodUserTime, periodKernelTime int64
	pageFaults, total, active, terminated                  uint32
}

const jobAccounting = 1 // JobObjectBasicAccountingInformation

// active returns the number of processes in a job, or 0 if it is not known.
func active(job windows.Handle) uint32 {
	var info accounting
	_ = windows.QueryInformationJobObject(job, jobAccounting, uintptr(unsafe.Pointer(&info)),
		uint32(unsafe.Sizeof(info)), nil)
	return info.active
}

// endJob kills the processes of a job and waits until none is left, at most until the deadline. If the
// deadline has passed already, on a busy machine, it still makes a few rounds.
func endJob(job windows.Handle, deadline time.Time) {
	for round := 0; round < 3 || time.Now().Before(deadline); round++ {
		windows.TerminateJobObject(job, killedCode)
		if active(job) == 0 {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}
