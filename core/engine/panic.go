package engine

import (
	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
)

// catchPanic runs do; a panic is logged and returned as an internal error.
func (e *Engine) catchPanic(do func(), fields ...zap.Field) (fault *protocol.Error) {
	defer func() {
		if p := recover(); p != nil {
			e.parts.Log.Error("recovered from a panic", append(fields, zap.Any("panic", p), zap.Stack("stack"))...)
			fault = protocol.Internal(protocol.KindInternal, "internal error; details are in the server's log")
		}
	}()
	do()
	return nil
}

// runRecovered runs do, a part of the thread's work. After a panic it reloads the thread, because
// the state may be half changed. The caller, if there is one, gets an internal error. Other threads
// continue.
func (a *actor) runRecovered(to *protocol.Caller, do func()) {
	of := zap.String("thread", a.id)
	a.journal.SetIdle(false)
	fault := a.engine.catchPanic(do, of)
	if fault == nil {
		return
	}
	if to != nil {
		a.engine.parts.Outbox.Refuse(*to, fault) // no effect after a response
	}
	a.describeDue = nil // describing may be the cause of the panic
	if a.thread == nil {
		return
	}
	reload := func() {
		failure := a.beforeStep()
		failure.Err = fault
		a.recover(failure, core.Output{})
	}
	if a.engine.catchPanic(reload, of) != nil {
		a.closeBroken()
	}
}

// closeBroken unloads a thread that failed to reload.
func (a *actor) closeBroken() {
	a.send([]core.Message{core.Notice{Notification: protocol.ThreadClosedNotification{ThreadID: a.id}}})
	a.thread = nil // its list of waiting requests may be broken
	a.closeThread()
}
