package core

// OfferAs has the thread offer the tools that another one offers: no line tells them, so a
// loaded thread has those of the world that it is resumed in.
func (t *Thread) OfferAs(other *Thread) {
	t.offers, t.serverTools, t.memory = other.offers, other.serverTools, other.memory
}
