package host

// Connections is how many connections something is known of.
func (h *Host) Connections() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.connections)
}
