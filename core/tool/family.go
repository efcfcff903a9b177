//go:build linux

package tool

import (
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// family is everything that belongs to a process: its descendants, the members of
// their groups and sessions, and what carries the mark.
type family struct {
	root int
	// start is the root's start, in clock ticks since boot. Nothing older belongs.
	start uint64
	// mark is an entry of the environment; "" for none.
	mark string
	// seen are the starts of all members so far, by number: what has lost its
	// parent still belongs.
	seen map[int]uint64
}

// signal sends a signal to all members but this process and tells how many of them
// live. Unsure is set where a process may be one and could not be told, for it is
// just being started.
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

// end kills the members until none lives, but not beyond the deadline. On a machine
// so busy that it has passed already, a few rounds are made all the same.
func (f *family) end(deadline time.Time) {
	for round := 0; round < 3 || time.Now().Before(deadline); round++ {
		if alive, unsure := f.signal(unix.SIGKILL); alive == 0 && !unsure {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// members are the processes that belong, without this one. The error is that of
// reading the process table.
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

// adopt adds processes that belong by a rule, and those that then do, too.
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
