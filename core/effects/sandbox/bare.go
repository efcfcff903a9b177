//go:build linux

package sandbox

import (
	"slices"

	"golang.org/x/sys/unix"
)

// bareCalls are denied if there are no namespaces and no read-only mounts. They change what Landlock does not protect:
// the owners, modes, times and attributes of files, and the processes and shared memory of the user.
var bareCalls = []uint32{
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, setXattrAt,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, removeXattrAt, fileSetAttr, unix.SYS_FLOCK,
	unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO,
	unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_PIDFD_OPEN, unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET,
	unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETATTR, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETSCHEDULER,
	unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP,
	unix.SYS_SEMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
	unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK, unix.SYS_SOCKET,
}

// Numbers of calls that package unix does not have. They are the same on all machines.
const (
	setXattrAt    = 463
	removeXattrAt = 466
	fileSetAttr   = 469
)

// Numbers of requests that package unix does not have.
const (
	fionread = 0x541b
	fionbio  = 0x5421
	fionclex = 0x5450
	fioclex  = 0x5451
)

// terminalRequests are the requests of ioctl that shells and programs make of terminals and pipes. Others could change
// attributes of a file that is open for reading.
var terminalRequests = []uint32{
	unix.TCGETS, unix.TCSETS, unix.TCSETSW, unix.TCSETSF, unix.TIOCGWINSZ, unix.TIOCGPGRP, unix.TIOCSPGRP,
	unix.TIOCSCTTY, fionread, fionbio, fioclex, fionclex, unix.TIOCGPTN,
}

// signalCommands are commands of fcntl by which the kernel signals another process.
var signalCommands = []uint32{unix.F_SETOWN, unix.F_SETOWN_EX, unix.F_SETSIG}

// bare denies more than namespaces need.
func (p program) bare() program {
	for _, number := range slices.Concat(bareCalls, olderCalls()) {
		p = p.when(number, deny)
	}
	p = p.when(unix.SYS_IOCTL, oneOf(terminalRequests, allow, deny)...)
	p = p.when(unix.SYS_FCNTL, oneOf(signalCommands, deny, allow)...)
	// The limits of other processes.
	return p.when(unix.SYS_PRLIMIT64, load(callArgument), jump(unix.BPF_JEQ, 0, 0, 1), allow, deny)
}

// oneOf decides by the second argument of a call.
func oneOf(values []uint32, is, isNot unix.SockFilter) []unix.SockFilter {
	block := []unix.SockFilter{load(callArgument + 8)}
	for i, value := range values {
		block = append(block, jump(unix.BPF_JEQ, value, uint8(len(values)-i), 0))
	}
	return append(block, isNot, is)
}
