package core

// OfferAs has the thread offer the tools that another one offers: no line tells them, so a
// loaded thread has those of the world that it is resumed in.
func (t *Thread) OfferAs(other *Thread) {
	t.capabilities, t.serverTools, t.memory = other.capabilities, other.serverTools, other.memory
}

// Window is the context window of the turn under way, in tokens; nil where it is not known,
// and without a turn.
func (t *Thread) Window() *int64 {
	if t.active == nil {
		return nil
	}
	return t.active.env.Provider.ContextWindow
}
