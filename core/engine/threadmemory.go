package engine

import (
	"context"
	"errors"

	"appserver/core"
)

// startMemoryEffect starts an effect on the memory. Summaries are stored even if the thread is unloaded
// meanwhile.
func (a *actor) startMemoryEffect(e core.Effect) {
	switch e := e.(type) {
	case core.Recall:
		a.launch(e.ID, func(ctx context.Context, _ func(core.Input)) core.Input {
			found := a.engine.parts.Memory.Recall(ctx, e)
			found.Effect = e.ID
			return found
		}, core.Recalled{Effect: e.ID, Err: errors.New("the search did not end")})
	case core.Remember:
		generation, redact, redactor := a.generation, a.textRedactor(), a.config().Redactor
		a.engine.work.Go(func() {
			ctx, cancel := a.engine.untilClosed()
			defer cancel()
			kept := a.guard(ctx, func(ctx context.Context, _ func(core.Input)) core.Input {
				e.Spans = redactedSpans(redactor, e.Spans)
				kept := a.engine.parts.Memory.Remember(ctx, a.id, e, redact)
				kept.Effect = e.ID
				return kept
			}, core.Remembered{Effect: e.ID, Err: errors.New("the summary failed")}, nil)
			a.postResult(ctx, result{generation, kept})
		})
	}
}

// memoryRules returns the rules of the thread's configuration.
func (a *actor) memoryRules() core.MemoryRules { return a.engine.memoryRules(a.config()) }
