package engine

import (
	"go.uber.org/zap"

	"appserver/core"
)

// TakeOver records the end of a turn that a dead server left under way. It does nothing if the thread is
// loaded here, and returns before it is done.
func (e *Engine) TakeOver(id string) {
	_, err := e.post(id, true, request{urgent: true, do: func(*actor) {}, absent: (*actor).takeOver})
	if err != nil {
		e.parts.Log.Info("a thread of a dead server cannot be taken now", zap.String("thread", id), zap.Error(err))
	}
}

func (a *actor) takeOver() {
	if _, err := a.openLog("", true); err != nil { // another server may be faster
		a.engine.parts.Log.Info("a thread of a dead server is not taken", zap.String("thread", a.id), zap.Error(err))
		return
	}
	a.step(core.CloseInterrupted{})
	if a.thread != nil {
		a.unload()
	}
}
