package history

import "slices"

// RefuseEncrypted takes the encrypted content before a line out of requests to a provider, which could not read it.
func (h *History) RefuseEncrypted(ordinal int64, provider string) {
	refused := map[string]int64{provider: ordinal} // copies of the history share the former map
	for other, before := range h.refused {
		if other != provider {
			refused[other] = before
		}
	}
	h.refused = refused
	h.formsDue, h.announced.stale, h.usage = true, true, nil
}

// isRefused reports whether an item is encrypted, and its provider could not read it.
func (h *History) isRefused(c *Item) bool {
	if c.ordinal >= h.refused[h.modelOf(c).Provider] {
		return false
	}
	return c.encrypted || c.native && c.price > 0 && slices.Contains(h.encrypted, c.ordinal)
}

// SendsEncrypted reports whether the next request has encrypted content.
func (h *History) SendsEncrypted() bool {
	if h.sentCompaction != 0 {
		return true
	}
	for i := range h.Shown() {
		if h.Item(i).encrypted && h.InPrompt(i) {
			return true
		}
	}
	return false
}
