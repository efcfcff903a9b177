package host

// Connections returns the number of connections with state.
func (h *Host) Connections() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.connections)
}
