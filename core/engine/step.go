package engine

import (
	"slices"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
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
			a.engine.agents.watch(a, m.Notification)
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
