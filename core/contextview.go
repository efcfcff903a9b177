package core

import "appserver/protocol"

// ContextItems returns the whole list of context items, for clients after a change.
func (t *Thread) ContextItems() protocol.ContextItemsNotification {
	return t.contextNotification(t.context.Notification())
}

// ContextChanges returns what changed in the list, for clients that keep it.
func (t *Thread) ContextChanges(c ContextChanged) protocol.ContextItemsNotification {
	return t.contextNotification(t.context.UpdateNotification(c.Update))
}

func (t *Thread) contextNotification(n protocol.ContextItemsNotification) protocol.ContextItemsNotification {
	n.ThreadID, n.Usage = t.state.ID, t.contextUsage()
	return n
}

// Describe prepares at most n of the items that clients can list, so that the first list is faster. It
// returns false if no item is left, and for large threads.
func (t *Thread) Describe(n int) (more bool) { return t.context.DescribeSome(n) }

// Projection returns a function that rewrites the lines of the rollout for a reader that ignores context
// edits, so that its model receives the same prompt. The function returns false for a line to leave out.
// Projection returns nil if every line stays as it is, or if ordinals do not identify lines.
func (t *Thread) Projection() func(protocol.RolloutLine) (protocol.RolloutLine, bool) {
	if t.state.Disordered {
		return nil
	}
	return t.context.Projection()
}
