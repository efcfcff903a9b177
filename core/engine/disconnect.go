package engine

import "slices"

// Disconnect removes the subscriptions of a closed connection. Call it after Clients.Connected
// reports false for the connection. Threads stay loaded.
func (e *Engine) Disconnect(conn uint64) {
	e.mu.Lock()
	delete(e.watchers, conn)
	e.mu.Unlock()
	for _, a := range e.actors() {
		select {
		case a.disconnected <- struct{}{}:
		default: // a token is pending
		}
	}
}

// dropDisconnected removes the subscriptions of closed connections. A thread does so when it starts
// and after each disconnect, and rejects new subscriptions of closed connections. So none stays in
// any order of events.
func (a *actor) dropDisconnected() {
	a.subscribers = slices.DeleteFunc(slices.Clone(a.subscribers), a.engine.hasDisconnected)
	a.formerSubscribers = slices.DeleteFunc(a.formerSubscribers, a.engine.hasDisconnected)
}
