package tool

import "golang.org/x/sys/unix"

// getTermios is the request for the settings of a terminal.
const getTermios = unix.TCGETS

// awaitExit waits until a child has exited, and leaves it a zombie.
func awaitExit(pid int) {
	for {
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			return
		}
	}
}
