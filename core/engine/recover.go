package engine

import (
	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
)

// recover takes a thread back to what its rollout held before a step whose lines could
// not be appended. Whoever was to be answered is refused. Where the rollout cannot be
// read either, the thread is unloaded.
func (a *actor) recover(failure core.StorageFailed, lost core.Output) {
	a.engine.Log.Error("appending to the rollout failed", zap.String("thread", a.id), zap.Error(failure.Err))
	a.refuseLost(errStorage(failure.Err), lost.Messages)
	a.cancelEffects()
	a.generation++
	contents, err := a.engine.Store.Read(a.path)
	if err == nil && a.withoutBackup == nil {
		err = contents.Backup.Err // without it the thread would be less than clients were told
	}
	if err != nil {
		a.speak(a.thread.Step(a.stamp(), failure))
		a.say([]core.Message{core.Notice{Notification: protocol.ThreadClosedNotification{ThreadID: a.id}}})
		a.letGo()
		return
	}
	held := before(contents.Lines, *lost.Lines[0].Ordinal)
	a.thread = a.thread.Again(held, contents.Next)
	a.speak(a.thread.Step(a.stamp(), failure))
	if failure.Turn != "" { // at the end of a turn, and the list is that of the disk again
		a.say([]core.Message{core.ContextChanged{All: true}})
	}
}

// before are the lines up to one that was lost, which the disk may show for a while.
func before(lines []protocol.RolloutLine, lost int64) []protocol.RolloutLine {
	for i, l := range lines {
		if l.Ordinal != nil && *l.Ordinal >= lost {
			return lines[:i]
		}
	}
	return lines
}

// refuseLost answers the callers of a step that is undone, and those that waited.
func (a *actor) refuseLost(err *protocol.Error, lost []core.Message) {
	for _, m := range lost {
		switch m := m.(type) {
		case core.Reply:
			a.engine.Outbox.Refuse(m.To, err)
		case core.Refusal:
			a.engine.Outbox.Refuse(m.To, m.Err)
		}
	}
	a.refuseWaiting(err)
}

// refuseWaiting answers those who wait for something that will not come.
func (a *actor) refuseWaiting(err *protocol.Error) {
	for _, to := range a.thread.OpenCallers() {
		a.engine.Outbox.Refuse(to, err)
	}
}

func errStorage(cause error) *protocol.Error {
	return protocol.Internal(protocol.KindStorage, "%v", cause)
}
