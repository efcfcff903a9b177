package core

import "appserver/protocol"

// Prompt returns the thread's next model request.
func (t *Thread) Prompt() *Prompt {
	p := t.request()
	p.Items = t.context.Prompt()
	return p
}

// NextPrompt returns the request of a turn that starts now, without the user's input, and its cost in
// tokens. While a turn is active it returns the next request of that turn.
func (t *Thread) NextPrompt(w TurnEnv) (p *Prompt, tokens int64) {
	if t.active == nil {
		t.applyEnv(w)
		t.setServerTools(w.Tools)
	}
	p, tokens = t.Prompt(), t.PromptTokens()
	if t.active != nil {
		return p, tokens
	}
	for _, m := range t.newNotices(w) {
		p.Items = append(p.Items, protocol.ResponseItem{ResponseItemVariant: m})
		tokens += t.context.Scaled(t.context.Count(m.Content[0].Text))
	}
	return p, tokens
}

// request returns a model request without its items.
func (t *Thread) request() *Prompt {
	p := &Prompt{
		ThreadID: t.state.ID, SessionID: t.sessionID(), Provider: t.state.Settings.Provider, Model: t.state.Settings.Model,
		Summary: t.state.Settings.Summary, Verbosity: t.capabilities.Verbosity,
		Instructions: t.systemPrompt(),
		Tools:        t.tools(),
		WebSearch:    t.webSearch(),
	}
	protocol.Override(&p.Effort, t.state.Settings.Effort)
	protocol.Override(&p.ServiceTier, t.state.Settings.ServiceTier)
	if t.active != nil {
		p.OutputSchema = t.active.schema
	}
	return p
}

// systemPrompt returns the instructions from the client's thread/resume, else from its thread/start,
// else the server's own.
func (t *Thread) systemPrompt() string {
	prompt, developer := BaseInstructions, ""
	if b := t.state.Meta.BaseInstructions; b != nil && b.Text != "" {
		prompt = b.Text
	}
	protocol.Override(&prompt, t.base)
	protocol.Override(&developer, t.state.Meta.DeveloperInstructions)
	protocol.Override(&developer, t.developer)
	for _, more := range []string{developer, modeText(t.state.Settings), t.capabilities.Skills} {
		if more != "" {
			prompt += "\n\n" + more
		}
	}
	return prompt
}
