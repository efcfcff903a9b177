package engine

import (
	"context"
	"encoding/json"
	"slices"

	"go.uber.org/zap"

	"appserver/core"
)

// answerTo posts a client's answer to a request.
func (a *actor) answerTo(id uint64) func(result json.RawMessage, err error) {
	generation := a.generation
	return func(raw json.RawMessage, err error) {
		a.postResult(context.Background(), result{generation, core.ClientAnswer{Request: id, Result: raw, Err: err}})
	}
}

// isStale reports whether nothing waits for a result: the thread was reloaded, or another client
// has replied to the request.
func (a *actor) isStale(r result) bool {
	late := r.generation != a.generation
	if answer, ok := r.in.(core.ClientAnswer); ok && (late || !slices.Contains(a.thread.OpenRequests(), answer.Request)) {
		a.engine.parts.Log.Warn("answer dropped: another client was faster, or the turn has ended",
			zap.String("thread", a.id), zap.Uint64("id", answer.Request))
		return true
	}
	return late
}
