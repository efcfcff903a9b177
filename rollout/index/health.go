package index

import (
	"sync"

	"appserver/protocol"
)

// health is what Diagnose tells. It has a lock of its own, which nobody holds while they read
// or write anything.
type health struct {
	mu       sync.Mutex
	state    string
	sessions *int64
	progress *protocol.IndexProgress
	reason   *string
}

// Diagnose tells how the index is. It waits for nothing, and opens nothing.
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

// enter changes the state.
func (h *health) setState(state string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if state == protocol.IndexReady {
		h.reason = nil
	}
	h.state = state
}

// fail notes what keeps the index from being used.
func (h *health) setFailed(err error) {
	text := err.Error()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state, h.reason = protocol.IndexUnavailable, &text
}

// reach notes how many files of a sweep were read.
func (h *health) setProgress(done, total int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.progress = &protocol.IndexProgress{Done: done, Total: total}
}

// countLocked counts what the index knows. Where that fails, so will the next list, which
// tells why.
func (ix *Index) countLocked() {
	var n int64
	if ix.db == nil || ix.db.Read.QueryRow("SELECT count(*) FROM sessions").Scan(&n) != nil {
		return
	}
	ix.health.mu.Lock()
	defer ix.health.mu.Unlock()
	ix.health.sessions = &n
}
