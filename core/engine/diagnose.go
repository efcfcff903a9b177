package engine

import "appserver/protocol"

// Diagnose returns the state of the threads and of the index. It does not wait.
func (e *Engine) Diagnose() (threads protocol.ThreadDiagnostics, index protocol.IndexDiagnostics) {
	for _, a := range e.loaded() {
		if !a.ready.Load() {
			continue
		}
		threads.Loaded++
		if id := a.turn.Load(); id != nil && *id != "" {
			threads.InTurns++
		}
	}
	if e.parts.Index == nil {
		return threads, protocol.IndexDiagnostics{State: protocol.IndexOff}
	}
	return threads, e.parts.Index.Diagnose()
}
