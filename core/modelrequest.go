package core

import (
	"strings"

	"appserver/core/pure/history"
	"appserver/protocol"
)

// modelRequest is an active model request, with the open items of its answer.
type modelRequest struct {
	effect EffectID
	// revision and items identify the context for which the request was built.
	revision  int64
	items     int
	message   *openMessage
	reasoning *openReasoning
	searches  []openSearch // started searches of the provider
	// summary is set for a request for a summary. answer is its text.
	summary bool
	answer  strings.Builder
}

// takeSearch removes a search that has begun.
func (m *modelRequest) takeSearch(id string) (openSearch, bool) {
	for i, o := range m.searches {
		if o.id == id {
			m.searches = append(m.searches[:i], m.searches[i+1:]...)
			return o, true
		}
	}
	return openSearch{}, false
}

// requestModel sends the next model request, after an automatic compaction if one is due.
func (s *step) requestModel() {
	t := s.active
	if t.compaction != nil { // a retry of its request
		s.askSummary()
		return
	}
	r := s.reviewing()
	if r == nil {
		s.addAgentNotices()
		s.addMails()
		s.appendDefinitions()
		s.economize()
	}
	if r == nil && s.compactIfNeeded() {
		return
	}
	id := s.newEffect()
	s.becomeRequesting(&modelRequest{effect: id, revision: s.context.Revision(), items: s.context.Len()})
	t.modelEffects = append(t.modelEffects, id)
	answered := t.notBefore.Add(-s.options.CompletedFloor)
	if r != nil {
		s.sendReviewRequest(r, ModelRequest{ID: id, TurnID: t.id, Answered: answered})
		return
	}
	p := s.Prompt()
	s.warnOfLimits(p)
	s.sendRequest(protocol.StoredRequest{Kind: protocol.RequestTurn},
		ModelRequest{ID: id, TurnID: t.id, Prompt: p, Answered: answered})
}

// sendReviewRequest asks the reviewer.
func (s *step) sendReviewRequest(r *review, e ModelRequest) {
	e.Prompt = s.reviewRequest(r)
	added := r.items[r.recorded:]
	r.recorded = len(r.items)
	s.sendRequest(protocol.StoredRequest{Kind: protocol.RequestReview, Added: added}, e)
}

// activeRequest returns the model request of the effect, or nil if it was cancelled.
func (s *step) activeRequest(id EffectID) *modelRequest {
	if s.isIdle() || s.active.request == nil || s.active.request.effect != id {
		return nil
	}
	return s.active.request
}

// endRequest removes the effect and returns its model request, or nil if it was cancelled. It can
// complete the turn.
func (s *step) endRequest(id EffectID) *modelRequest {
	m := s.activeRequest(id)
	if !s.endModelEffect(id) {
		return nil
	}
	if m == nil {
		s.completeOnceEnded()
	}
	return m
}

// isDraftRequest reports whether the effect summarises for a draft of a compaction.
func (s *step) isDraftRequest(id EffectID) bool { return s.draft.waits() && s.draft.request == id }

// uncountedLimit bounds the bytes of items that are counted within a turn. They take some
// milliseconds.
const uncountedLimit = 256 << 10

// countedInput returns the server's own count of a request that was answered. It is empty if the
// context changed, or if counting would delay the turn's end.
func (s *step) countedInput(m *modelRequest) history.Tokens {
	if s.active.review != nil || m.revision != s.context.Revision() || s.context.Uncounted() > uncountedLimit {
		return history.Tokens{}
	}
	return s.counted(m.items)
}

// failRequest fails the turn. A compaction continues without the model. A request that was too long
// is sent again after a compaction.
func (s *step) failRequest(err *ModelError) {
	switch {
	case s.active.compaction != nil:
		s.summarizeWithoutModel(err.Message)
	case s.active.review == nil && s.wasTooLong(err) && s.compactToTarget(s.fittingTarget(err)):
	default:
		s.finishTurn(protocol.TurnFailed, turnError(err.Message, err))
	}
}

// turnError returns the error of a turn whose model request failed.
func turnError(message string, err *ModelError) *protocol.TurnError {
	info := err.Info
	return &protocol.TurnError{Message: message, CodexErrorInfo: &info, AdditionalDetails: protocol.OrNil(err.Details)}
}

// wasTooLong reports whether a request was refused because it does not fit. Words that are not known count if they
// name a number of tokens that is above the window.
func (s *step) wasTooLong(err *ModelError) bool {
	if err.Info.Kind == protocol.ErrorContextWindowExceeded {
		return true
	}
	window := s.active.env.Provider.ContextWindow
	return window != nil && err.Info.Kind == protocol.ErrorOther && err.MostTokens > *window
}

// fittingTarget returns the size of the next request after one that was too long. A window that the provider states
// counts for the rest of the turn.
func (s *step) fittingTarget(err *ModelError) int64 {
	target, window := s.PromptTokens(), s.active.env.Provider.ContextWindow
	if err.Window > 0 && (window == nil || err.Window < *window) {
		s.active.env.Provider.ContextWindow = &err.Window
		s.active.env.Compaction.Within(err.Window)
		target = min(target, err.Window)
	}
	return target * 6 / 10
}

// AwaitTools waits a moment for servers that are connecting.
type AwaitTools struct{ ID EffectID }

func (AwaitTools) effect() {}

// ToolsKnown ends an AwaitTools with the tools of all servers.
type ToolsKnown struct {
	Effect EffectID
	Tools  []ServerTool
}

func (in ToolsKnown) apply(s *step) { s.toolsKnown(in) }

func (s *step) toolsKnown(in ToolsKnown) {
	if !s.endModelEffect(in.Effect) {
		return
	}
	s.setServerTools(in.Tools, s.active.env.Provider.ContextWindow)
	switch {
	case s.isEnding():
		s.completeOnceEnded()
	case s.active.awaitTools == in.Effect:
		s.active.awaitTools = 0
		s.advance()
	default:
		s.requestModelWhenReady()
	}
}

func (s *step) requestModelWhenReady() {
	if len(s.active.modelEffects) == 0 {
		s.requestModel()
	}
}

// firstModelRequest sends the first request of a turn, once the tools of servers and the found
// memories are known.
func (s *step) firstModelRequest() {
	if s.active.env.ToolsPending {
		id := s.newEffect()
		s.active.modelEffects = append(s.active.modelEffects, id)
		s.effect(AwaitTools{ID: id})
	}
	s.requestModelWhenReady()
}
