package engine

import (
	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
)

// catchPanic is that which made do panic, in the midst of what the log is told.
func (e *Engine) catchPanic(do func(), fields ...zap.Field) (fault *protocol.Error) {
	defer func() {
		if p := recover(); p != nil {
			e.Log.Error("the server has a fault", append(fields, zap.Any("panic", p), zap.Stack("stack"))...)
			fault = protocol.Internal(protocol.KindInternal, "the server has a fault, of which its log tells more: %v", p)
		}
	}()
	do()
	return nil
}

// runRecovered does something of the thread, which may be for a caller. Where that panics, nothing of
// the step counts, as where the disk fails, and other threads know nothing of it.
func (a *actor) runRecovered(to *protocol.Caller, do func()) {
	of := zap.String("thread", a.id)
	a.journal.SetIdle(false)
	fault := a.engine.catchPanic(do, of)
	if fault == nil {
		return
	}
	if to != nil {
		a.engine.Outbox.Refuse(*to, fault) // of no effect where it was answered
	}
	a.describeDue = nil // what is done there may be what panics
	if a.thread == nil {
		return
	}
	mend := func() {
		failure := a.beforeStep()
		failure.Err = fault
		a.recover(failure, core.Output{})
	}
	if a.engine.catchPanic(mend, of) != nil {
		a.closeBroken()
	}
}

// closeBroken unloads a thread that failed to reload.
func (a *actor) closeBroken() {
	a.send([]core.Message{core.Notice{Notification: protocol.ThreadClosedNotification{ThreadID: a.id}}})
	a.thread = nil // which cannot be asked who waits for it
	a.closeThread()
}
