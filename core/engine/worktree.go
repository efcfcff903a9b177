package engine

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"appserver/core"
)

// restoreTime limits a revert of files, which blocks the thread.
const restoreTime = 5 * time.Minute

func (a *actor) tracking() core.Tracking {
	if a.engine.parts.Worktrees == nil {
		return core.Tracking{}
	}
	return a.config().Tracking
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
	begin := sync.OnceFunc(func() { close(begun) })
	go func() {
		var t *core.Tracked
		fault := a.engine.catchPanic(func() {
			t = a.track(ctx, e.Track, nil, func() {
				begin()
				select {
				case <-ended:
				case <-time.After(e.Watch):
				}
			})
		}, zap.String("thread", a.id))
		if fault != nil {
			begin() // the command runs in any case
			t = &core.Tracked{Err: fault}
		}
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
func (e *Engine) withWorktrees(do func(ctx context.Context, w Checkpoints)) {
	if e.parts.Worktrees == nil {
		return
	}
	e.spawn(func() {
		ctx, cancel := e.untilClosed()
		defer cancel()
		do(ctx, e.parts.Worktrees)
	})
}

// forgetTime limits the deletion of the checkpoints of a deleted thread.
const forgetTime = 10 * time.Second

// forgetThread deletes the checkpoints and the files of a deleted thread.
func (e *Engine) forgetThread(id string) {
	if e.parts.Servers != nil {
		e.parts.Servers.Forget(id)
	}
	if e.parts.Worktrees == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), forgetTime)
	defer cancel()
	e.parts.Worktrees.ForgetThread(ctx, id)
}
