package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
)

// cancelGrace is the time that a cancelled effect has to end.
const cancelGrace = 2 * time.Second

// typeTime is the time that a command has to read earlier input.
const typeTime = 2 * time.Second

// running is an effect in progress. Keys passes input to the terminal of a command, and is nil for
// other effects.
type running struct {
	cancel func()
	keys   chan string
}

func (a *actor) start(e core.Effect) {
	switch e := e.(type) {
	case core.ModelRequest:
		a.engine.prepare(e.Prompt.Model)
		a.launch(e.ID, a.sample(e),
			core.ModelFailed{Effect: e.ID, Err: &core.ModelError{Message: "the model request did not end",
				Info: protocol.CodexErrorInfo{Kind: protocol.ErrorOther}}})
	case core.RunTool:
		keys := make(chan string)
		a.launch(e.ID, a.runTool(e, keys),
			core.ToolDone{Effect: e.ID, Result: core.ToolResult{Failure: "the command did not end"}})
		a.effects[e.ID].keys = keys
	case core.WriteStdin:
		a.launch(e.ID, a.typeKeys(e), core.StdinWritten{Effect: e.ID, Err: errors.New("the command does not read its input")})
	case core.PlanPatch:
		a.launch(e.ID, a.planPatch(e),
			core.PatchPlanned{Effect: e.ID, Err: errors.New("the files could not be read in time")})
	case core.WritePatch:
		a.launch(e.ID, a.writePatch(e),
			core.PatchWritten{Effect: e.ID, Err: errors.New("the write did not end; files may have changed")})
	case core.CallTool, core.AwaitTools, core.AnswerServer:
		a.startOfServers(e)
	case core.CaptureTree:
		a.launch(e.ID, a.capture(e), core.TreeCaptured{Effect: e.ID, Err: errors.New("capturing the worktree did not end")})
	case core.DeleteCheckpoints:
		a.engine.withWorktrees(func(ctx context.Context, w Worktrees) { w.Forget(ctx, a.id, e.Points) })
	case core.CopyCheckpoints:
		a.engine.withWorktrees(func(ctx context.Context, w Worktrees) { w.Copy(ctx, a.id, e) })
	case core.ReadImage:
		a.launch(e.ID, a.readImage(e), core.ImageRead{Effect: e.ID, Err: errors.New("the file could not be read in time")})
	case core.Remember, core.Recall:
		a.startOfMemory(e)
	case core.Timer:
		a.startTimer(e)
	case core.Cancel:
		if r := a.effects[e.ID]; r != nil {
			r.cancel()
		}
	case core.AnnounceTurn:
		if a.engine.parts.Announce != nil {
			a.engine.parts.Announce(a.scope, a.id, e)
		}
	case core.RecordName:
		if a.options.Ephemeral {
			return
		}
		if err := a.engine.parts.Store.AppendName(a.id, a.redactedText(e.Name), time.Now()); err != nil {
			a.engine.parts.Log.Warn("the name of the thread could not be indexed", zap.String("thread", a.id), zap.Error(err))
		}
	}
}

// prepare loads the tokenizer of a model, so that the end of the turn does not wait for it.
func (e *Engine) prepare(model string) {
	if e.parts.Tokens == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.prepared[model] {
		return
	}
	if e.prepared == nil {
		e.prepared = map[string]bool{}
	}
	e.prepared[model] = true
	e.work.Go(func() { e.parts.Tokens.Prepare(model) })
}

// work is an effect. It passes its pieces to emit and returns its terminal input.
type work func(ctx context.Context, emit func(core.Input)) core.Input

// launch runs an effect. Its terminal input is posted exactly once: the result of do, or givenUp if
// do panics or outlasts its cancellation.
func (a *actor) launch(id core.EffectID, do work, givenUp core.Input) {
	ctx, cancel := context.WithCancel(context.Background())
	generation := a.generation
	a.effects[id] = &running{cancel: cancel}
	ended := make(chan core.Input, 1)
	go func() {
		defer cancel()
		ended <- a.guard(ctx, do, givenUp, func(in core.Input) {
			a.postResult(ctx, result{generation, in})
		})
	}()
	a.engine.work.Go(func() {
		terminal := givenUp
		select {
		case terminal = <-ended:
		case <-after(ctx, cancelGrace):
			a.engine.parts.Log.Error("an effect outlasted its cancellation", zap.String("thread", a.id),
				zap.Uint64("effect", uint64(id)),
				zap.Duration("limit", cancelGrace), zap.String("instead", fmt.Sprintf("%T", givenUp)))
		}
		a.postTerminal(id, result{generation, terminal})
	})
}

// after returns a channel that gets a value when d has passed after the end of ctx.
func after(ctx context.Context, d time.Duration) <-chan time.Time {
	fired := make(chan time.Time, 1)
	context.AfterFunc(ctx, func() { time.AfterFunc(d, func() { fired <- time.Time{} }) })
	return fired
}

func (a *actor) guard(ctx context.Context, do work, givenUp core.Input, emit func(core.Input)) (terminal core.Input) {
	defer func() {
		if p := recover(); p != nil {
			a.engine.parts.Log.Error("an effect panicked", zap.Any("panic", p), zap.Stack("stack"))
			terminal = givenUp
		}
	}()
	return do(ctx, emit)
}

// postResult posts an input to the thread. It blocks while the thread accepts none, and drops the
// input when ctx ends.
func (a *actor) postResult(ctx context.Context, r result) {
	select {
	case a.results <- r:
	case <-ctx.Done():
	case <-a.gone:
	}
}

// endOfEffect is a terminal input. The actor removes the effect before it applies the input.
type endOfEffect struct {
	core.Input
	id core.EffectID
}

func (a *actor) postTerminal(id core.EffectID, r result) {
	a.postResult(context.Background(), result{r.generation, endOfEffect{r.in, id}})
}

func (a *actor) sample(e core.ModelRequest) work {
	return func(ctx context.Context, emit func(core.Input)) core.Input {
		lead := sync.OnceFunc(func() { waitUntil(ctx, e.Answered.Add(a.engine.parts.AnswerLead)) })
		answer, err := a.engine.parts.Model.Stream(ctx, e.Prompt, func(p core.Piece) {
			lead()
			emit(core.ModelPiece{Effect: e.ID, Piece: p})
		})
		lead()
		if err != nil {
			return core.ModelFailed{Effect: e.ID, Err: modelError(err)}
		}
		return core.ModelDone{Effect: e.ID, Answer: answer}
	}
}

// waitUntil waits until a time or the end of ctx.
func waitUntil(ctx context.Context, at time.Time) {
	wait := time.Until(at)
	if wait <= 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func modelError(err error) *core.ModelError {
	var m *core.ModelError
	if errors.As(err, &m) {
		return m
	}
	return &core.ModelError{Message: fmt.Sprintf("the model request failed: %v", err),
		Info: protocol.CodexErrorInfo{Kind: protocol.ErrorOther}}
}

func (a *actor) runTool(e core.RunTool, keys <-chan string) work {
	return func(ctx context.Context, emit func(core.Input)) core.Input {
		if e.Command.Stays && e.Track != nil {
			return a.runWatched(ctx, e, keys, emit)
		}
		done := core.ToolDone{Effect: e.ID}
		done.Tracked = a.track(ctx, e.Track, nil, func() {
			done.Result = a.engine.parts.Tools.Run(ctx, e.Command, keys,
				func(pid string) { emit(core.ToolStarted{Effect: e.ID, ProcessID: pid}) },
				func(text string) { emit(core.ToolOutput{Effect: e.ID, Text: text}) })
		})
		return done
	}
}

// typeKeys writes to the terminal of a command, unless the command ends first. It reports file
// changes if they are tracked.
func (a *actor) typeKeys(e core.WriteStdin) work {
	var keys chan string
	if r := a.effects[e.Command]; r != nil {
		keys = r.keys
	}
	return func(ctx context.Context, _ func(core.Input)) core.Input {
		done := core.StdinWritten{Effect: e.ID}
		done.Tracked = a.track(ctx, e.Track, nil, func() {
			if e.Text != "" {
				done.Err = handOver(ctx, keys, e.Text)
			}
			if e.Track == nil || done.Err != nil {
				return
			}
			select {
			case <-time.After(e.Watch):
			case <-ctx.Done():
			}
		})
		return done
	}
}

func handOver(ctx context.Context, keys chan<- string, text string) error {
	ctx, cancel := context.WithTimeout(ctx, typeTime)
	defer cancel()
	select {
	case keys <- text:
		return nil
	case <-ctx.Done():
		return errors.New("the command no longer reads input")
	}
}

func (a *actor) planPatch(e core.PlanPatch) work {
	return func(context.Context, func(core.Input)) core.Input { return a.engine.parts.Patches.Plan(e) }
}

func (a *actor) readImage(e core.ReadImage) work {
	return func(context.Context, func(core.Input)) core.Input {
		url, err := a.engine.parts.Image(e.Path, e.Confined)
		return core.ImageRead{Effect: e.ID, URL: url, Err: err}
	}
}

// writePatch is not cancelled, because it is short and must not stop halfway.
func (a *actor) writePatch(e core.WritePatch) work {
	return func(ctx context.Context, _ func(core.Input)) core.Input {
		var done core.PatchWritten
		tracked := a.track(ctx, e.Track, e.Paths(), func() { done = a.engine.parts.Patches.Write(e) })
		done.Tracked = tracked
		return done
	}
}

func (a *actor) startTimer(e core.Timer) {
	generation := a.generation
	if e.Spread && a.engine.parts.Spread != nil {
		e.Delay = a.engine.parts.Spread(e.Delay)
	}
	timer := time.AfterFunc(e.Delay, func() { a.postTerminal(e.ID, result{generation, core.TimerFired{Effect: e.ID}}) })
	a.effects[e.ID] = &running{cancel: func() {
		if timer.Stop() {
			delete(a.effects, e.ID)
		}
	}}
}

func (a *actor) cancelEffects() {
	for _, r := range a.effects {
		r.cancel()
	}
	a.effects = map[core.EffectID]*running{}
}
