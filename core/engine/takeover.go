package engine

import (
	"go.uber.org/zap"

	"appserver/core"
)

// TakeOver records the end of a turn that a dead server left under way, unless the turn waits for an answer
// only. It does nothing if the thread is loaded here, and returns before it is done.
func (e *Engine) TakeOver(id string) {
	_, err := e.post(id, true, request{urgent: true, do: func(*actor) {}, absent: (*actor).takeOver})
	if err != nil {
		e.parts.Log.Info("a thread of a dead server cannot be taken now", zap.String("thread", id), zap.Error(err))
	}
}

func (a *actor) takeOver() { a.endStoredTurn(core.CloseInterrupted{}) }

// endStoredTurn records the end of the last turn of a stored thread.
func (a *actor) endStoredTurn(in core.CloseInterrupted) {
	if _, err := a.openThread("", true); err != nil { // another server may be faster
		a.engine.parts.Log.Info("the turn of a thread is not ended", zap.String("thread", a.id), zap.Error(err))
		return
	}
	a.step(in)
	if a.thread != nil {
		a.unload()
	}
}
