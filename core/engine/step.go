package engine

import (
	"slices"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout/store"
)

// sendTo sends messages about an unloaded thread.
func (a *actor) sendTo(subscribers []uint64, messages []core.Message) {
	a.subscribers = subscribers
	a.send(messages)
	a.subscribers = nil
}

// broadcast notifies all clients, and waits for congested ones.
func (e *Engine) broadcast(n protocol.Notification) {
	if e.parts.Clients.All == nil {
		return
	}
	for _, conn := range e.parts.Clients.All() {
		e.awaitRoom(conn)
		e.parts.Outbox.Notify(conn, n)
	}
}

// commit applies an input to the state and appends its lines. It appends nothing if the step has found the thread in
// a wrong state.
func (a *actor) commit(in core.Input) (core.Output, error) {
	out := a.thread.Step(a.engine.stamp(), in)
	if out.Fault != nil {
		a.engine.parts.Log.Error("a thread is in a wrong state", zap.String("thread", a.id), zap.Error(out.Fault))
		return out, errFault
	}
	if err := a.readError(); err != nil || len(out.Lines) == 0 {
		return out, err
	}
	lines := a.redacted(out.Lines)
	err := a.journal.Append(lines, out.Sync)
	if err == nil {
		a.evictLines(out.Lines, lines)
	}
	return out, err
}

func (a *actor) send(messages []core.Message) {
	if slices.ContainsFunc(messages, startsTurn) {
		a.endOwnTurn()
	}
	out := a.engine.parts.Outbox
	for _, m := range messages {
		switch m := m.(type) {
		case core.Reply:
			out.Reply(m.To, m.Result)
		case core.Refusal:
			out.Refuse(m.To, m.Err)
		case core.ContextChanged:
			a.broadcastContext(m)
		case core.Notice:
			a.notify(m.Notification)
		case core.Request:
			for _, conn := range a.subscribers {
				if m.Only == 0 || m.Only == conn {
					out.Ask(conn, m.ID, m.Method, m.Params, a.answerTo(m.ID))
				}
			}
		}
	}
}

// deliver sends the messages of a step whose lines are durable, and starts its effects.
func (a *actor) deliver(out core.Output) {
	a.publish()
	a.recordNames(out.Effects)
	a.send(out.Messages)
	for _, e := range out.Effects {
		a.start(e)
	}
}

// step runs one input: state, disk, messages, effects, in this order.
func (a *actor) step(in core.Input) {
	before := a.beforeStep()
	out, err := a.commit(in)
	if err != nil {
		before.Err = err
		a.recover(before, out, false)
		return
	}
	a.deliver(out)
	if err := a.readError(); err != nil {
		before = a.beforeStep()
		before.Err = err
		a.recover(before, core.Output{}, false)
	}
}

// close unloads the thread. closeJournal closes its journal, in one of the ways of [store.Journal].
func (a *actor) close(closeJournal func() error) {
	a.ready.Store(false)
	a.turn.Store(nil)
	a.current.Store(nil)
	a.unanswered.Store(nil)
	a.cancelEffects()
	a.generation++
	if a.thread != nil {
		a.refuseWaiting(protocol.Refuse(protocol.KindThreadNotLoaded, "thread %s was unloaded before the request completed",
			a.id))
	}
	if err := closeJournal(); err != nil {
		a.engine.parts.Log.Error("closing the rollout failed", zap.String("thread", a.id), zap.Error(err))
		a.send([]core.Message{core.Notice{Notification: protocol.WarningNotification{ThreadID: &a.id, Message: err.Error()}}})
	}
	a.closeLineReader()
	a.closeServers()
	a.journal, a.thread, a.scope, a.subscribers, a.formerSubscribers, a.at, a.withoutBackup = ephemeral{}, nil, nil, nil,
		nil, store.Ref{}, nil
}

// closeThread unloads the thread and closes its journal as it is.
func (a *actor) closeThread() { a.close(a.journal.Close) }

// closeBroken unloads a thread that failed to reload.
func (a *actor) closeBroken() {
	a.send([]core.Message{core.Notice{Notification: protocol.ThreadClosedNotification{ThreadID: a.id}}})
	a.thread = nil // its list of waiting requests may be broken
	a.closeThread()
}
