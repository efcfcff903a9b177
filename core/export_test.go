package core

// OfferAs copies the offered tools of another thread. They are not in the rollout: a resumed thread
// has those of its environment.
func (t *Thread) OfferAs(other *Thread) {
	t.capabilities, t.serverTools, t.memory = other.capabilities, other.serverTools, other.memory
	t.economizes = other.economizes
}

// Window returns the context window of the active turn, in tokens, or nil.
func (t *Thread) Window() *int64 {
	if t.active == nil {
		return nil
	}
	return t.active.env.Provider.ContextWindow
}

// UndoRedo returns the revisions of the edits to undo and to redo next, or 0.
func (t *Thread) UndoRedo() (undo, redo int64) {
	if e := t.context.Undoable(); e != nil {
		undo = e.Revision
	}
	if e := t.context.Redoable(); e != nil {
		redo = e.Revision
	}
	return undo, redo
}
