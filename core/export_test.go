package core

import "slices"

// OfferAs copies the offered tools of another thread. They are not in the rollout: a resumed thread
// has those of its environment.
func (t *Thread) OfferAs(other *Thread) {
	t.capabilities, t.serverTools, t.memory = other.capabilities, other.serverTools, other.memory
	t.economizes = other.economizes
}

// Window returns the context window of the active turn, in tokens, or nil.
func (t *Thread) Window() *int64 {
	if t.isIdle() {
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

// Transitions returns the changes of the turn's state within a step, each as "from → to".
func (o Output) Transitions() (changes []string) {
	for _, c := range o.transitions {
		changes = append(changes, string(c.from)+" → "+string(c.to))
	}
	return changes
}

// TurnTransitions returns the states of a turn, and all changes that the machine permits.
func TurnTransitions() (states, changes []string) {
	pending := []turnState{turnIdle}
	for len(pending) > 0 {
		from := pending[0]
		pending = pending[1:]
		if slices.Contains(states, string(from)) {
			continue
		}
		states, pending = append(states, string(from)), append(pending, from.next()...)
		for _, to := range from.next() {
			changes = append(changes, string(from)+" → "+string(to))
		}
	}
	return states, changes
}
