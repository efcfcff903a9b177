package index

import (
	"sync"

	"appserver/protocol"
)

// health is the state for Diagnose. Its mutex is never held during reads or writes, so
// Diagnose does not block.
type health struct {
	mu       sync.Mutex
	state    string
	sessions *int64
	progress *protocol.IndexProgress
	reason   *string
}

// Diagnose returns the state of the index. It neither waits nor opens the file.
func (ix *Index) Diagnose() protocol.IndexDiagnostics {
	h := &ix.health
	h.mu.Lock()
	defer h.mu.Unlock()
	d := protocol.IndexDiagnostics{State: h.state, Path: &ix.options.Path, Sessions: h.sessions, Reason: h.reason}
	if d.State == "" {
		d.State = protocol.IndexClosed
	}
	if d.State == protocol.IndexBuilding {
		d.Progress = h.progress
	}
	return d
}

// setState changes the state.
func (h *health) setState(state string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if state == protocol.IndexReady {
		h.reason = nil
	}
	h.state = state
}

// setFailed records the error that makes the index unusable.
func (h *health) setFailed(err error) {
	text := err.Error()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state, h.reason = protocol.IndexUnavailable, &text
}

// setProgress records how many files of a sweep were read.
func (h *health) setProgress(done, total int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.progress = &protocol.IndexProgress{Done: done, Total: total}
}

// countLocked counts the sessions. It ignores errors, because the next list reports them.
func (ix *Index) countLocked() {
	var n int64
	if ix.db == nil || ix.db.Read.QueryRow("SELECT count(*) FROM sessions").Scan(&n) != nil {
		return
	}
	ix.health.mu.Lock()
	defer ix.health.mu.Unlock()
	ix.health.sessions = &n
}
