package core

import (
	"fmt"

	"appserver/core/pure/history"
	"appserver/protocol"
)

// cutTo returns the window to which the provider cut the prompt of an answered request, in tokens, or 0 if the report
// shows no cut.
func (s *step) cutTo(u *protocol.TokenUsageBreakdown, counted history.Tokens) int64 {
	model := s.state.Settings.Model
	if s.fillsWindow(u) && s.context.Scaled(counted) >= u.InputTokens {
		return u.InputTokens // a smaller count learns from the report
	}
	if !s.context.IsCut(model, counted.All, u) {
		return 0
	}
	return s.context.CutAt(model, u.InputTokens)
}

// fillsWindow reports whether the provider has read exactly as many tokens as its window holds. A whole prompt leaves
// room for an answer, and other providers refuse one that does not. A prompt that is mostly cached was not cut.
func (s *step) fillsWindow(u *protocol.TokenUsageBreakdown) bool {
	if s.isIdle() || u.CachedInputTokens > u.InputTokens/2 {
		return false
	}
	p := &s.active.env.Provider
	return p.ContextWindow != nil && !p.WindowConfigured && *p.ContextWindow == u.InputTokens
}

// warnOfCut warns that the provider cut the prompt.
func (s *step) warnOfCut(reported, counted int64) {
	request := fmt.Sprintf("a request of about %d", counted)
	if counted <= reported {
		request = "the request, which is all that its window holds"
	}
	s.warnOnce([]string{fmt.Sprintf("The model did not get the whole conversation: provider %s reports %d tokens for "+
		"%s, so it cut the prompt. Start it with a larger context window (Ollama: OLLAMA_CONTEXT_LENGTH, "+
		"or num_ctx in the Modelfile; others: their setting for the context length), and set model_context_window to it. "+
		"Until then the context is compacted to fit.", s.state.Settings.Provider, reported, request)})
}

// applyWindow applies the window that the provider reports after an answer, or 0, from the next request on.
func (s *step) applyWindow(reported int64) {
	env := &s.active.env
	if reported > 0 && !env.Provider.WindowConfigured {
		env.Provider.ContextWindow = &reported
		env.Compaction.Within(reported)
	}
}

// applyCutWindow compacts earlier if the provider cut a prompt to less than the known window. A window that the tools
// alone fill is no goal.
func (s *step) applyCutWindow() {
	env := &s.active.env
	cut := s.context.CutWindow()
	if cut == 0 || env.Provider.ContextWindow != nil && *env.Provider.ContextWindow <= cut {
		return
	}
	rules := env.Compaction
	rules.Within(cut)
	if rules.Target > s.context.FixedTokens(s.overheadTokens()) {
		env.Compaction = rules
	}
}
