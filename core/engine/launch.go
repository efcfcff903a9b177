package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"appserver/core"
)

// running is an effect in progress. Keys passes input to the terminal of a command, and is nil for
// other effects.
type running struct {
	cancel func()
	keys   chan string
	// over is closed after the thread has got the end of the effect.
	over chan struct{}
}

// work is an effect. It passes its pieces to emit and returns its terminal input.
type work func(ctx context.Context, emit func(core.Input)) core.Input

// after returns a channel that gets a value when d has passed after the end of ctx.
func after(ctx context.Context, d time.Duration) <-chan time.Time {
	fired := make(chan time.Time, 1)
	context.AfterFunc(ctx, func() { time.AfterFunc(d, func() { fired <- time.Time{} }) })
	return fired
}

// cancelGrace is the time that a cancelled effect has to end.
const cancelGrace = 2 * time.Second

// endOfEffect is a terminal input. The actor removes the effect before it applies the input.
type endOfEffect struct {
	core.Input
	id core.EffectID
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

// typeTime is the time that a command has to read earlier input.
const typeTime = 2 * time.Second

// launch runs an effect. Its terminal input is posted exactly once: the result of do, or givenUp if
// do panics or outlasts its cancellation.
func (a *actor) launch(id core.EffectID, do work, givenUp core.Input) {
	ctx, cancel := context.WithCancel(context.Background())
	generation := a.generation
	over := make(chan struct{})
	a.effects[id] = &running{cancel: cancel, over: over}
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
		close(over)
	})
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

func (a *actor) postTerminal(id core.EffectID, r result) {
	a.postResult(context.Background(), result{r.generation, endOfEffect{r.in, id}})
}

func (a *actor) cancelEffects() {
	for _, r := range a.effects {
		r.cancel()
	}
	a.effects = map[core.EffectID]*running{}
}
