package tool

import (
	"time"

	"golang.org/x/sys/unix"
)

// getTermios is the request for the settings of a terminal.
const getTermios = unix.TIOCGETA

// awaitExit waits until a child has exited, and leaves it a zombie. It does not use waitid, which
// also returns when the child is stopped here.
func awaitExit(pid int) {
	queue, err := unix.Kqueue()
	if err != nil {
		pollExit(pid)
		return
	}
	defer unix.Close(queue)
	unix.CloseOnExec(queue)
	exit := make([]unix.Kevent_t, 1)
	unix.SetKevent(&exit[0], pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	exit[0].Fflags = unix.NOTE_EXIT
	for {
		// An error is ESRCH, because the child is a zombie already.
		if _, err := unix.Kevent(queue, exit, make([]unix.Kevent_t, 1), nil); err != unix.EINTR {
			return
		}
	}
}

// pollExit replaces awaitExit for a process without free descriptors.
func pollExit(pid int) {
	for {
		if p, ok := processOf(pid); !ok || p.zombie {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
