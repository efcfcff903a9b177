package engine

import "slices"

// Leave ends what a connection had to do with threads, which go on without it: it is
// called once Parts.Connected denies the connection.
func (e *Engine) Leave(conn uint64) {
	e.mu.Lock()
	delete(e.watchers, conn)
	e.mu.Unlock()
	for _, a := range e.loaded() {
		select {
		case a.deserted <- struct{}{}:
		default: // it is yet to look
		}
	}
}

func (e *Engine) isGone(conn uint64) bool { return e.Connected != nil && !e.Connected(conn) }

// dismiss ends the subscriptions of connections that have ended. A thread does so when it
// begins to run, when one ends, and refuses new ones of such: so none stays, whichever
// comes first.
func (a *actor) dismiss() {
	a.subscribers = slices.DeleteFunc(slices.Clone(a.subscribers), a.engine.isGone)
	a.left = slices.DeleteFunc(a.left, a.engine.isGone)
}
