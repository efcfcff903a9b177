package listen

import (
	"slices"
	"sync"
)

const (
	// maxHandshakes is the number of connections that are no clients yet. Anyone can open them.
	maxHandshakes = 128
	// maxClients is the number of clients of a listener.
	maxClients = 1024
)

// handshakes are the connections that are no clients yet, oldest first.
type handshakes struct {
	mu   sync.Mutex
	open []*timeoutConn
}

// begin adds a connection. If there are too many, it closes the oldest: a client needs milliseconds, and whoever keeps
// connections open cannot keep clients out.
func (h *handshakes) begin(c *timeoutConn) {
	h.mu.Lock()
	h.open = append(h.open, c)
	var oldest *timeoutConn
	if len(h.open) > maxHandshakes {
		oldest = h.open[0]
	}
	h.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close()
	}
}

// end removes a connection that is closed, or a client's. h is nil for a connection that was dialed.
func (h *handshakes) end(c *timeoutConn) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := slices.Index(h.open, c); i >= 0 {
		h.open = slices.Delete(h.open, i, i+1)
	}
}
