package rollout

import (
	"slices"
	"sync"
)

// idleLogs holds the logs whose file descriptors may be closed. The goroutine of a log must
// not use the log while it is in this list.
type idleLogs struct {
	mu   sync.Mutex
	logs []suspender
}

// suspender closes its file descriptors and reports whether it closed any.
type suspender interface{ suspend() bool }

func (i *idleLogs) add(l suspender) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.logs = append(i.logs, l)
}

func (i *idleLogs) remove(l suspender) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.logs = slices.DeleteFunc(i.logs, func(other suspender) bool { return other == l })
}

// suspend closes the file descriptors of all idle logs. It reports whether any were closed.
func (i *idleLogs) suspend() (freed bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, l := range i.logs {
		freed = l.suspend() || freed
	}
	return freed
}
