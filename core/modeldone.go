package core

import (
	"appserver/core/pure/history"
	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// ModelDone ends a ModelRequest with the rest of the answer.
type ModelDone struct {
	Effect EffectID
	Answer Answer
	// PromptID is the hash of the request, as [RenderedPrompt.ID] returns it, or "".
	PromptID string
}

func (in ModelDone) apply(s *step) { s.modelDone(in) }

// ModelFailed ends a ModelRequest with an error.
type ModelFailed struct {
	Effect EffectID
	Err    *ModelError
	// PromptID has the meaning of ModelDone.
	PromptID string
}

func (in ModelFailed) apply(s *step) { s.modelFailed(in) }

// TimerFired ends a Timer.
type TimerFired struct{ Effect EffectID }

func (in TimerFired) apply(s *step) { s.timerFired(in) }

func (s *step) modelDone(in ModelDone) {
	sent := s.endSent(in.Effect, in.PromptID, in.Answer.Usage)
	if s.isDraftRequest(in.Effect) {
		s.draftDone(sent, in)
		return
	}
	if s.activeRequest(in.Effect) == nil {
		s.keepCancelled(sent)
	}
	m := s.endRequest(in.Effect)
	if m == nil {
		return
	}
	if m.summary {
		s.summaryDone(m, sent, in)
		return
	}
	s.active.attempts, s.active.compactions = attempts{}, 0
	counted := history.Tokens{}
	if in.Answer.Usage != nil {
		counted = s.countedInput(m)
	}
	s.completeReasoning(m, nil)
	s.completeMessage(m, in.Answer.Echo, "")
	s.applyWindow(in.Answer.ContextWindow)
	s.addUsage(in.Answer.Usage, counted, sent)
	s.applyCutWindow()
	s.out.Sync = true
	if in.Answer.Cut != "" {
		s.warn([]string{"The model's answer is not whole: " + in.Answer.Cut})
	}
	if len(in.Answer.Calls) == 0 && s.hasTask() {
		s.requestModelWhenReady()
		return
	}
	if len(in.Answer.Calls) == 0 {
		s.endReview()
		s.finishTurn(protocol.TurnCompleted, nil)
		return
	}
	if in.Answer.Usage != nil {
		s.notifyUsage(s.active.id)
	}
	s.active.refill.addAnswer(in.Answer.Calls)
	s.addCalls(normalizedCalls(in.Answer))
}

// normalizedCalls returns the calls of an answer with the arguments that the model meant. The arguments of an answer
// that was cut off are not repaired, because they may lack their end.
func normalizedCalls(a Answer) []ToolCall {
	for i := range a.Calls {
		call := &a.Calls[i]
		if call.Cut = a.Cut != ""; !call.Cut && !call.Custom {
			call.Arguments = toolspec.Normalized(call.Arguments)
		}
	}
	return a.Calls
}

// modelFailed retries the request or fails the turn. The partial answer is dropped.
func (s *step) modelFailed(in ModelFailed) {
	sent := s.endSent(in.Effect, in.PromptID, nil)
	if s.isDraftRequest(in.Effect) {
		s.recordUnanswered(sent, in.Err.Message)
		s.draftWithoutModel(in.Err.Message)
		return
	}
	if s.activeRequest(in.Effect) == nil {
		s.keepCancelled(sent)
	} else {
		s.recordUnanswered(sent, in.Err.Message)
	}
	m := s.endRequest(in.Effect)
	if m == nil {
		return
	}
	if !s.dropEncrypted(in.Err) && !s.retry(in.Err) {
		s.failRequest(s.explained(in.Err))
	}
}

func (s *step) timerFired(in TimerFired) {
	switch t := s.active; {
	case s.isIdle(), in.Effect == 0:
	case t.timer == in.Effect:
		t.timer = 0
		s.completeOnceEnded()
	case t.retry == in.Effect:
		s.requestModel()
	default:
		if !s.mailTimerFired(in.Effect) {
			s.waitTimerFired(in.Effect)
		}
	}
}
