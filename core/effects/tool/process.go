//go:build linux || darwin

package tool

// process is an entry of the process table.
type process struct {
	pid, parent, group, session int
	// start is in units of the platform; with pid, it identifies a process for all time.
	start  uint64
	zombie bool
}

// startOf returns the start of an existing process, or 0 if the table cannot be read.
func startOf(pid int) uint64 {
	p, _ := processOf(pid)
	return p.start
}
