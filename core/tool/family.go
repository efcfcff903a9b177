//go:build linux

package tool

import (
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// family is all processes that belong to a root process: its descendants, the members of their
// groups and sessions, and the processes with the mark.
type family struct {
	root int
	// start is the start of the root, in clock ticks since boot. No older process belongs to the
	// family.
	start uint64
	// mark is an entry of the environment, or empty.
	mark string
	// seen holds the starts of all members so far, by pid. A member without its parent still belongs
	// to the family.
	seen map[int]uint64
}

// signal sends a signal to all members except this process, and returns the number of live ones.
// Unsure is set if a process is just being started and may be a member.
func (f *family) signal(sig unix.Signal) (alive int, unsure bool) {
	members, unsure, err := f.members()
	if err != nil && f.root != os.Getpid() {
		unix.Kill(-f.root, sig)
	}
	for _, p := range members {
		unix.Kill(p.pid, sig)
		if !p.zombie {
			alive++
		}
	}
	return alive, unsure
}

// end kills the members until none lives, at most until the deadline. If the deadline has passed
// already, on a busy machine, it still makes a few rounds.
func (f *family) end(deadline time.Time) {
	for round := 0; round < 3 || time.Now().Before(deadline); round++ {
		if alive, unsure := f.signal(unix.SIGKILL); alive == 0 && !unsure {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// members returns the processes of the family without this one. The error is that of reading the
// process table.
func (f *family) members() (found []process, unsure bool, err error) {
	table, err := processes()
	others := slices.DeleteFunc(table, func(p process) bool { return p.start < f.start || p.pid == os.Getpid() })
	if f.seen == nil {
		f.seen = map[int]uint64{f.root: f.start}
	}
	f.adopt(others, f.related)
	if f.mark != "" {
		f.adopt(others, func(p process) bool {
			carries, known := marked(p, f.mark)
			unsure = unsure || !known
			return carries
		})
		f.adopt(others, f.related)
	}
	return slices.DeleteFunc(others, func(p process) bool { return !f.has(p) }), unsure, err
}

// adopt adds processes that match a rule, and those that then belong to the family.
func (f *family) adopt(table []process, belongs func(process) bool) {
	for grown := true; grown; {
		grown = false
		for _, p := range table {
			if !f.has(p) && belongs(p) {
				f.seen[p.pid] = p.start
				grown = true
			}
		}
	}
}

func (f *family) has(p process) bool {
	start, ok := f.seen[p.pid]
	return ok && start == p.start
}

func (f *family) related(p process) bool {
	for _, number := range []int{p.parent, p.group, p.session} {
		if _, ok := f.seen[number]; ok {
			return true
		}
	}
	return false
}
