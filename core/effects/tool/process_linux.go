package tool

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// processes reads the process table. It skips processes that end meanwhile.
func processes() ([]process, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var table []process
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := processOf(pid); ok {
				table = append(table, p)
			}
		}
	}
	return table, nil
}

// processOf returns the process with a pid, zombies included.
func processOf(pid int) (process, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, false
	}
	return parseStat(string(stat))
}

// parseStat parses /proc/PID/stat, see proc(5): pid (name) state parent group session …, and the
// start in field 22. The name may contain any characters.
func parseStat(stat string) (process, bool) {
	begin, end := strings.Index(stat, " ("), strings.LastIndex(stat, ") ")
	if begin < 0 || end < begin {
		return process{}, false
	}
	fields := strings.Fields(stat[end+2:])
	if len(fields) < 20 {
		return process{}, false
	}
	p := process{zombie: fields[0] == "Z" || fields[0] == "X"}
	var err error
	number := func(field string) int {
		n, wrong := strconv.Atoi(field)
		if wrong != nil {
			err = wrong
		}
		return n
	}
	p.pid, p.parent, p.group, p.session = number(stat[:begin]), number(fields[1]), number(fields[2]), number(fields[3])
	p.start = uint64(number(fields[19]))
	return p, err == nil
}

// kernelThreads is the process whose children are kernel threads.
const kernelThreads = 2

// marked reports whether a process has an entry in its environment. Known is false for a process
// that is just being started: the kernel sets its environment and its arguments last, both at once.
func marked(p process, entry string) (carries, known bool) {
	if p.zombie || p.parent == kernelThreads {
		return false, true
	}
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.pid))
	if err == nil && len(environ) == 0 {
		arguments, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
		if err == nil && len(arguments) == 0 {
			return false, false
		}
		environ, _ = os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.pid))
	}
	return bytes.Contains(environ, []byte(entry)), true
}
