package engine

import (
	"context"
	"errors"
	"time"

	"appserver/core"
	"appserver/protocol"
)

// Worktrees captures worktrees as checkpoints of threads and reports file changes.
type Worktrees interface {
	// Capture stores the state of a worktree as a checkpoint.
	Capture(ctx context.Context, thread string, e core.CaptureTree) (protocol.StoredTree, error)
	// Track runs do and returns the file changes: those of absolute paths, or of the whole worktree
	// without paths. It runs do even if tracking fails. After the end of ctx it compares for a
	// moment longer. It returns nil if ctx ended before do.
	Track(ctx context.Context, thread string, t core.Track, paths []string, do func()) *core.Tracked
	// Diff returns the diff of changes.
	Diff(ctx context.Context, changes []protocol.WorktreeChanges) (core.FileDiff, error)
	// Compare returns the differences between two states. Nil is the current one.
	Compare(ctx context.Context, from, to []protocol.StoredTree) (core.FileDiff, error)
	// Restore reverts all of the changes or none, and stores the state before as a checkpoint. It
	// fails with core.ErrConflict if a file has changed since. With dry it changes nothing.
	Restore(ctx context.Context, thread, id string, changes []protocol.WorktreeChanges, dry bool) (*core.Restored, error)
	// Copy copies existing checkpoints to another thread.
	Copy(ctx context.Context, thread string, e core.CopyCheckpoints)
	// Forget deletes checkpoints.
	Forget(ctx context.Context, thread string, points []protocol.StoredCheckpoint)
	// ForgetThread deletes the checkpoints of a thread.
	ForgetThread(ctx context.Context, thread string)
}

// restoreTime limits a revert of files, which blocks the thread.
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

// track runs an effect and returns its file changes if they are tracked.
func (a *actor) track(ctx context.Context, t *core.Track, paths []string, do func()) *core.Tracked {
	if t == nil || a.engine.parts.Worktrees == nil {
		do()
		return nil
	}
	return a.engine.parts.Worktrees.Track(ctx, a.id, *t, paths, do)
}

// runWatched runs a background command and reports its file changes, with its end or before.
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
		case <-ctx.Done(): // the end of the command reports the changes
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

// withWorktrees runs do in the background; no thread waits for it.
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

// forgetTime limits the deletion of the checkpoints of a deleted thread.
const forgetTime = 10 * time.Second

// forgetFiles deletes the checkpoints of a deleted thread.
func (e *Engine) forgetFiles(id string) {
	if e.parts.Worktrees == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), forgetTime)
	defer cancel()
	e.parts.Worktrees.ForgetThread(ctx, id)
}

// answerOf computes a response outside of the goroutine of the thread.
type answerOf func(ctx context.Context) (any, error)

// workOn replies with a result from a loaded or stored thread. It calls find in the goroutine of
// the thread, and the returned function outside of it.
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

// errCheckpointsOff is the error of requests that need checkpoints.
func errCheckpointsOff() *protocol.Error {
	return protocol.Refuse(protocol.KindCheckpointsOff,
		"checkpoints are off; set checkpoints.enabled in config.toml to get them for new turns")
}

// worktreeError adds the kind to an error of a worktree.
func worktreeError(err error) error {
	var ready *protocol.Error
	if err == nil || errors.As(err, &ready) {
		return err
	}
	return protocol.Internal(protocol.KindWorktree, "%v", err)
}
