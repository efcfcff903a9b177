//go:build linux || darwin

package tool

import (
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// processTree is all processes that belong to a root process: its descendants, the members of their
// groups and sessions, and the processes with the mark.
type processTree struct {
	root int
	// start is the start of the root. No older process belongs to the
	// tree.
	start uint64
	// mark is an entry of the environment, or empty.
	mark string
	// seen holds the starts of all members so far, by pid. A member without its parent still belongs
	// to the tree.
	seen map[int]uint64
}

// signal sends a signal to all members except this process, and returns the number of live ones.
// Unsure is set if a process is just being started and may be a member.
func (t *processTree) signal(sig unix.Signal) (alive int, unsure bool) {
	members, unsure, err := t.members()
	if err != nil && t.root != os.Getpid() {
		unix.Kill(-t.root, sig)
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
func (t *processTree) end(deadline time.Time) {
	for round := 0; round < 3 || time.Now().Before(deadline); round++ {
		if alive, unsure := t.signal(unix.SIGKILL); alive == 0 && !unsure {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// members returns the processes of the tree without this one. It returns an error if the process
// table cannot be read.
func (t *processTree) members() (found []process, unsure bool, err error) {
	table, err := processes()
	others := slices.DeleteFunc(table, func(p process) bool { return p.start < t.start || p.pid == os.Getpid() })
	if t.seen == nil {
		t.seen = map[int]uint64{t.root: t.start}
	}
	t.add(others, t.related)
	if t.mark != "" {
		t.add(others, func(p process) bool {
			carries, known := marked(p, t.mark)
			unsure = unsure || !known
			return carries
		})
		t.add(others, t.related)
	}
	return slices.DeleteFunc(others, func(p process) bool { return !t.has(p) }), unsure, err
}

// add adds processes that match a rule. It repeats until no other process belongs to the tree.
func (t *processTree) add(table []process, belongs func(process) bool) {
	for grown := true; grown; {
		grown = false
		for _, p := range table {
			if !t.has(p) && belongs(p) {
				t.seen[p.pid] = p.start
				grown = true
			}
		}
	}
}

func (t *processTree) has(p process) bool {
	start, ok := t.seen[p.pid]
	return ok && start == p.start
}

func (t *processTree) related(p process) bool {
	for _, number := range []int{p.parent, p.group, p.session} {
		if _, ok := t.seen[number]; ok {
			return true
		}
	}
	return false
}
