package tool

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// processes reads the process table.
func processes() ([]process, error) {
	entries, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	table := make([]process, len(entries))
	for i := range entries {
		table[i] = entryOf(&entries[i])
	}
	return table, nil
}

// processOf returns the process with a pid, zombies included.
func processOf(pid int) (process, bool) {
	entry, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(entry.Proc.P_pid) != pid {
		return process{}, false
	}
	return entryOf(entry), true
}

// zombieState is the state SZOMB of sys/proc.h.
const zombieState = 5

// entryOf converts an entry. The kernel returns no session, so another call asks for it; that one
// fails for zombies. The start is a time of day, in microseconds: if the clock is set back, later
// processes of a command look older than it, and are not found.
func entryOf(entry *unix.KinfoProc) process {
	p := process{
		pid: int(entry.Proc.P_pid), parent: int(entry.Eproc.Ppid), group: int(entry.Eproc.Pgid),
		start:  uint64(entry.Proc.P_starttime.Sec)*1e6 + uint64(entry.Proc.P_starttime.Usec),
		zombie: entry.Proc.P_stat == zombieState,
	}
	if session, err := unix.Getsid(p.pid); err == nil {
		p.session = session
	}
	return p
}

// marked reports whether a process has an entry in its environment. The kernel shows no environment
// of other users' processes, and none of programs that belong to the system, such as /bin/sleep.
func marked(p process, entry string) (carries, known bool) {
	if p.zombie {
		return false, true
	}
	arguments, err := unix.SysctlRaw("kern.procargs2", p.pid)
	return err == nil && bytes.Contains(arguments, []byte(entry)), true
}
