package engine

import (
	"errors"
	"math"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout/store"
)

// recover reloads a thread after an append has failed, without the failed step. Requests of the
// step are rejected. If the rollout is unreadable as well, or the journal is lost, the thread is
// unloaded. With whole, all lines are read, because the snapshot may be the cause.
func (a *actor) recover(failure core.StorageFailed, lost core.Output, whole bool) {
	a.engine.parts.Log.Error("the rollout failed", zap.String("thread", a.id), zap.Error(failure.Err))
	a.refuseLost(errStorage(failure.Err), lost.Messages)
	a.cancelEffects()
	a.generation++
	builder := builderUntil(firstOrdinal(lost.Lines), a.id, a.thread.Settings())
	builder.fromStart = whole
	var gone *store.LostError
	if errors.As(failure.Err, &gone) {
		a.closeFailed(failure)
		return
	}
	contents, lineReader, err := a.engine.parts.Threads.Load(a.at, builder)
	if err == nil {
		a.closeLineReader()
		a.lineReader = lineReader
	}
	if err == nil && a.withoutBackup == nil {
		err = contents.Backup.Err // without its backup the thread lacks items that clients know
	}
	if err != nil {
		a.closeFailed(failure)
		return
	}
	a.thread = a.thread.Again(builder.loading, contents.Next)
	a.deliver(a.thread.Step(a.engine.stamp(), failure))
	if failure.Turn != "" || len(lost.Lines) == 0 { // clients get the list from the disk again
		a.send([]core.Message{core.ContextReplaced()})
	}
}

// firstOrdinal returns the smallest ordinal of lines, or the largest integer without lines.
func firstOrdinal(lines []protocol.RolloutLine) int64 {
	if len(lines) == 0 {
		return math.MaxInt64
	}
	return *lines[0].Ordinal
}

// closeLineReader closes the reader of evicted lines.
func (a *actor) closeLineReader() {
	if a.lineReader == nil {
		return
	}
	if err := a.lineReader.Close(); err != nil {
		a.engine.parts.Log.Warn("closing the rollout failed", zap.String("thread", a.id), zap.Error(err))
	}
	a.lineReader = nil
}

// refuseLost rejects the requests of an undone step, and the waiting ones.
func (a *actor) refuseLost(err *protocol.Error, lost []core.Message) {
	for _, m := range lost {
		switch m := m.(type) {
		case core.Reply:
			a.engine.parts.Outbox.Refuse(m.To, err)
		case core.Refusal:
			a.engine.parts.Outbox.Refuse(m.To, m.Err)
		}
	}
	a.refuseWaiting(err)
}

// refuseWaiting rejects the requests that wait for a result that will not come.
func (a *actor) refuseWaiting(err *protocol.Error) {
	for _, to := range a.thread.OpenCallers() {
		a.engine.parts.Outbox.Refuse(to, err)
	}
}
