package core

import "appserver/protocol"

// Prompt is the thread's next model request: a pure function of its state.
func (t *Thread) Prompt() *Prompt {
	p := t.request()
	p.Items = t.context.Prompt()
	return p
}

// NextPrompt is the request of a turn that begins now in this world, up to the user's
// words, and what it costs in tokens. While a turn runs it is the thread's own.
func (t *Thread) NextPrompt(w World) (p *Prompt, tokens int64) {
	if t.active == nil {
		t.applyEnv(w)
		t.learn(w.Tools)
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

// request is a model request without its items.
func (t *Thread) request() *Prompt {
	p := &Prompt{
		ThreadID: t.id, SessionID: t.sessionID(), Provider: t.settings.Provider, Model: t.settings.Model,
		Summary: t.settings.Summary, Verbosity: t.offers.Verbosity,
		Instructions: t.systemPrompt(),
		Tools:        t.tools(),
		WebSearch:    t.webSearch(),
	}
	set(&p.Effort, t.settings.Effort)
	set(&p.ServiceTier, t.settings.ServiceTier)
	if t.active != nil {
		p.OutputSchema = t.active.schema
	}
	return p
}

// systemPrompt is made of what the client gave when it resumed the thread, else when
// it began it, else of this server's own.
func (t *Thread) systemPrompt() string {
	prompt, developer := BaseInstructions, ""
	if b := t.meta.BaseInstructions; b != nil && b.Text != "" {
		prompt = b.Text
	}
	set(&prompt, t.base)
	set(&developer, t.meta.DeveloperInstructions)
	set(&developer, t.developer)
	for _, more := range []string{developer, t.settings.modeText(), t.offers.Skills} {
		if more != "" {
			prompt += "\n\n" + more
		}
	}
	return prompt
}
