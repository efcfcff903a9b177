package engine

import (
	"errors"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
)

// isIdle reports whether the store may suspend the thread's journal. Describing items reads it.
func (a *actor) isIdle() bool {
	return a.thread != nil && a.describeDue == nil && len(a.effects) == 0 && a.thread.ActiveTurn() == "" &&
		len(a.thread.OpenRequests()) == 0
}

// reopenJournal opens the journal again if the store has suspended it. It reloads the thread if another
// program has changed the rollout, and closes the thread if the rollout is gone or has another
// writer. It returns an error if a file cannot be opened now; the thread stays unchanged then.
func (a *actor) reopenJournal() error {
	err := a.journal.Resume()
	if err == nil {
		return nil
	}
	if errors.Is(err, rollout.ErrChanged) {
		err = a.loadAnew(err)
	}
	if err == nil || rollout.IsTransient(err) {
		return err
	}
	a.engine.parts.Log.Warn("the thread is closed, because its rollout is gone or has another writer",
		zap.String("thread", a.id), zap.Error(err))
	a.notify(statusNotLoaded(a.id))
	a.notify(protocol.ThreadClosedNotification{ThreadID: a.id})
	a.closeThread()
	return nil
}

// loadAnew reloads an idle thread from its rollout. Its subscribers stay.
func (a *actor) loadAnew(cause error) error {
	failure := a.beforeStep()
	failure.Err = cause
	builder := a.engine.builder(a.id)
	builder.settings = a.thread.Settings()
	log, contents, err := a.engine.parts.Threads.Open(a.at, builder)
	if err != nil {
		return err
	}
	if err := log.Append(nil, true); err != nil {
		return errors.Join(err, log.Close())
	}
	_ = a.journal.Close() // the store has closed its files
	a.closeLineReader()
	a.journal, a.lineReader, a.withoutBackup = log, builder.lineReader, contents.Backup.Err
	a.generation++
	a.thread = a.thread.Again(builder.loading, contents.Next)
	a.deliver(a.thread.Step(a.engine.stamp(), failure))
	a.send([]core.Message{core.ContextReplaced()})
	a.continueTurn()
	return nil
}

// continueTurn continues a turn that another program has left resumable, unless the thread cannot run turns.
func (a *actor) continueTurn() {
	if !a.thread.Resumable() {
		return
	}
	if env, noTurns := a.resumedEnv(a.thread.Settings()); !noTurns {
		a.step(core.ContinueTurn{Env: env})
	}
}
