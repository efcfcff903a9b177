package engine

import (
	"context"
	"errors"
	"time"

	"appserver/core"
	"appserver/protocol"
)

// Worktrees keeps what the files of worktrees hold, and tells what has changed. Threads are
// named by their ids.
type Worktrees interface {
	// Capture keeps the state of a worktree as a checkpoint.
	Capture(ctx context.Context, thread string, e core.CaptureTree) (protocol.StoredTree, error)
	// Track tells what do changes: of the paths, absolute ones, or of the whole worktree
	// where there are none. It does it whatever else fails. When ctx ends, it has a moment
	// left to look; it is nil where ctx ended before do, and nothing was to be told of a command.
	Track(ctx context.Context, thread string, t core.Track, paths []string, do func()) *core.Tracked
	// Diff is the diff of changes.
	Diff(ctx context.Context, changes []protocol.WorktreeChanges) (core.FileDiff, error)
	// Compare is what differs between two states; nil is the one now.
	Compare(ctx context.Context, from, to []protocol.StoredTree) (core.FileDiff, error)
	// Restore takes changes back, all or none, and keeps the state before under an id. Where
	// a file holds anything else than it did behind the changes, it fails with what
	// core.ErrConflict makes. With dry it changes nothing.
	Restore(ctx context.Context, thread, id string, changes []protocol.WorktreeChanges, dry bool) (*core.Restored, error)
	// Copy keeps checkpoints for another thread, as far as they are there.
	Copy(ctx context.Context, thread string, e core.CopyCheckpoints)
	// Forget lets checkpoints go.
	Forget(ctx context.Context, thread string, points []protocol.StoredCheckpoint)
	// ForgetThread lets all go that is kept of a thread.
	ForgetThread(ctx context.Context, thread string)
}

// restoreTime bounds a revert of files, for which the thread waits.
const restoreTime = 5 * time.Minute

func (a *actor) tracking() core.Tracking {
	if a.engine.parts.Worktrees == nil {
		return core.Tracking{}
	}
	return a.engine.parts.Setup.Tracking(a.scope)
}

func (a *actor) capture(e core.CaptureTree) work {
	return func(ctx context.Context, _ func(core.Input)) core.Input {
		tree, err := a.engine.parts.Worktrees.Capture(ctx, a.id, e)
		return core.TreeCaptured{Effect: e.ID, Tree: tree, Err: err}
	}
}

// track does what an effect does, and tells what it changed where that is wanted.
func (a *actor) track(ctx context.Context, t *core.Track, paths []string, do func()) *core.Tracked {
	if t == nil || a.engine.parts.Worktrees == nil {
		do()
		return nil
	}
	return a.engine.parts.Worktrees.Track(ctx, a.id, *t, paths, do)
}

// runWatched runs a command that stays, and tells what it changes while it is watched: with
// its end, or before.
func (a *actor) runWatched(ctx context.Context, e core.RunTool, keys <-chan string, emit func(core.Input)) core.Input {
	begun, ended, tracked := make(chan struct{}), make(chan struct{}), make(chan *core.Tracked, 1)
	go func() {
		t := a.track(ctx, e.Track, nil, func() {
			close(begun)
			select {
			case <-ended:
			case <-time.After(e.Watch):
			}
		})
		select {
		case <-ended:
		case <-ctx.Done(): // its end tells, too
		default:
			emit(core.FilesChanged{Effect: e.ID, Tracked: t})
			t = nil
		}
		tracked <- t
	}()
	<-begun
	result := a.engine.parts.Tools.Run(ctx, e.Command, keys,
		func(pid string) { emit(core.ToolStarted{Effect: e.ID, ProcessID: pid}) },
		func(text string) { emit(core.ToolOutput{Effect: e.ID, Text: text}) })
	close(ended)
	return core.ToolDone{Effect: e.ID, Result: result, Tracked: <-tracked}
}

// withWorktrees does what nothing of a thread waits for.
func (e *Engine) withWorktrees(do func(ctx context.Context, w Worktrees)) {
	if e.parts.Worktrees == nil {
		return
	}
	ctx, cancel := e.untilClosed()
	e.work.Go(func() {
		defer cancel()
		do(ctx, e.parts.Worktrees)
	})
}

// forgetTime bounds the forgetting of a thread that was deleted.
const forgetTime = 10 * time.Second

// forgetFiles lets go of what is kept of a thread that is gone.
func (e *Engine) forgetFiles(id string) {
	if e.parts.Worktrees == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), forgetTime)
	defer cancel()
	e.parts.Worktrees.ForgetThread(ctx, id)
}

// answerOf is an answer that takes time, of what was found in a thread.
type answerOf func(ctx context.Context) (any, error)

// workOn answers with what is made of a thread, loaded or stored. What find looks at is the
// thread's, so it runs in the thread's turn; what it gives runs beside.
func (e *Engine) workOn(to protocol.Caller, id string, find func(*core.Thread) (answerOf, error)) error {
	if err := checkID("invalid thread id", id); err != nil {
		return err
	}
	beside := func(found answerOf, err error) (any, error) {
		if err != nil {
			return nil, err
		}
		ctx, cancel := e.untilClosed()
		defer cancel()
		return found(ctx)
	}
	stored := func() (any, error) { return beside(e.findStored(id, find)) }
	loaded := func(a *actor) {
		found, err := find(a.thread)
		if err == nil {
			err = e.background(to, func() (any, error) { return beside(found, nil) })
		}
		if err != nil {
			e.parts.Outbox.Refuse(to, withCode(err))
		}
	}
	posted, err := e.post(id, false, request{to: to, do: loaded, absent: func(*actor) { e.answer(to, stored) }})
	if err != nil || posted {
		return err
	}
	return e.background(to, stored)
}

func (e *Engine) findStored(id string, find func(*core.Thread) (answerOf, error)) (answerOf, error) {
	t, err := e.loadStored(id)
	if err != nil {
		return nil, notLoaded(id, err)
	}
	defer t.close()
	found, err := find(t.Thread)
	if unread := t.lineReader.Err(); unread != nil {
		return nil, unread
	}
	return found, err
}

// errCheckpointsOff refuses what takes checkpoints.
func errCheckpointsOff() *protocol.Error {
	return protocol.Refuse(protocol.KindCheckpointsOff, "checkpoints are off: set checkpoints.enabled in config.toml for those of turns to come")
}

// worktreeError gives an error of a worktree its kind.
func worktreeError(err error) error {
	var ready *protocol.Error
	if err == nil || errors.As(err, &ready) {
		return err
	}
	return protocol.Internal(protocol.KindWorktree, "%v", err)
}
