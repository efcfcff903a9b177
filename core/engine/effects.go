package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
)

// start starts an effect. The last argument of launch is the terminal input if the effect panics or does not end.
func (a *actor) start(e core.Effect) {
	switch e := e.(type) {
	case core.ModelRequest:
		a.engine.prepare(e.Prompt.Model)
		a.launch(e.ID, a.requestModel(e),
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
		a.startServerEffect(e)
	case core.CaptureTree:
		a.launch(e.ID, a.capture(e), core.TreeCaptured{Effect: e.ID, Err: errors.New("capturing the worktree did not end")})
	case core.DeleteCheckpoints:
		a.engine.withWorktrees(func(ctx context.Context, w Checkpoints) { w.Forget(ctx, a.id, e) })
	case core.CopyCheckpoints:
		a.engine.withWorktrees(func(ctx context.Context, w Checkpoints) { w.Copy(ctx, a.id, e) })
	case core.ReadImage:
		a.launch(e.ID, a.readImage(e), core.ImageRead{Effect: e.ID, Err: errors.New("the file could not be read in time")})
	case core.Remember, core.Recall:
		a.startMemoryEffect(e)
	case core.CallAgents:
		a.launch(e.ID, a.engine.agents.call(a, e),
			core.AgentsCalled{Effect: e.ID, Failed: true, Output: "the call did not end"})
	case core.Timer:
		a.startTimer(e)
	case core.Cancel:
		if r := a.effects[e.ID]; r != nil {
			r.cancel()
		}
	case core.AnnounceTurn:
		if a.engine.parts.Announce != nil {
			a.engine.parts.Announce(a.config().Notify, a.id, e)
		}
	}
}

// recordNames appends names to the index of names. That comes before the messages: a list after the
// response shows the name, in other processes too.
func (a *actor) recordNames(effects []core.Effect) {
	for _, e := range effects {
		named, ok := e.(core.RecordName)
		if !ok || a.options.Ephemeral {
			continue
		}
		if err := a.engine.parts.Threads.Rename(a.id, a.redactedText(named.Name), time.Now()); err != nil {
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
	e.prepared[model] = true
	e.spawn(func() { e.parts.Tokens.Prepare(model) })
}

func (a *actor) requestModel(e core.ModelRequest) work {
	return func(ctx context.Context, emit func(core.Input)) core.Input {
		lead := sync.OnceFunc(func() { waitUntil(ctx, e.Answered.Add(a.engine.parts.AnswerLead)) })
		startHash, hash := a.engine.hashPrompt(e.Prompt)
		answer, err := a.engine.parts.Model.Stream(ctx, e.Prompt, func(p core.Piece) {
			lead()
			emit(core.ModelPiece{Effect: e.ID, Piece: p})
			if p.Kind != core.PieceNotice { // the request changes after a notice
				startHash()
			}
		})
		lead()
		if err != nil {
			return core.ModelFailed{Effect: e.ID, Err: modelError(err), PromptID: hash()}
		}
		return core.ModelDone{Effect: e.ID, Answer: answer, PromptID: hash()}
	}
}

// hashPrompt returns functions that start to make the hash of a prompt as it is sent, and that return it,
// or "" if the prompt cannot be encoded. It is made while the answer comes, so that neither the request nor
// the answer waits for it.
func (e *Engine) hashPrompt(p *core.Prompt) (start func(), hash func() string) {
	made := make(chan string, 1)
	start = sync.OnceFunc(func() {
		e.work.Go(func() {
			var id string
			e.catchPanic(func() {
				if rendered, err := e.parts.Model.Render(p); err == nil {
					id = rendered.ID()
				}
			})
			made <- id
		})
	})
	return start, func() string {
		start()
		return <-made
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
// changes until then if they are tracked.
func (a *actor) typeKeys(e core.WriteStdin) work {
	var keys chan string
	var over <-chan struct{}
	if r := a.effects[e.Command]; r != nil {
		keys, over = r.keys, r.over
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
			case <-over:
			case <-ctx.Done():
			}
		})
		return done
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

// writePatch ignores cancellation, because it is short and must not stop halfway.
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
