package engine

import "slices"

// Disconnect removes the subscriptions of a closed connection. Call it after Parts.Connected
// reports false for the connection. Threads stay loaded.
func (e *Engine) Disconnect(conn uint64) {
	e.mu.Lock()
	delete(e.watchers, conn)
	e.mu.Unlock()
	for _, a := range e.loaded() {
		select {
		case a.disconnected <- struct{}{}:
		default: // it is yet to look
		}
	}
}

func (e *Engine) hasDisconnected(conn uint64) bool {
	return e.parts.Connected != nil && !e.parts.Connected(conn)
}

// dropDisconnected ends the subscriptions of connections that have ended. A thread does so when it
// begins to run, when one ends, and refuses new ones of such: so none stays, whichever
// comes first.
func (a *actor) dropDisconnected() {
	a.subscribers = slices.DeleteFunc(slices.Clone(a.subscribers), a.engine.hasDisconnected)
	a.formerSubscribers = slices.DeleteFunc(a.formerSubscribers, a.engine.hasDisconnected)
}
