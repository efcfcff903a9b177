package core

import (
	"appserver/core/pure/history"
	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// Prompt returns the thread's next model request.
func (t *Thread) Prompt() *Prompt {
	p := t.request()
	p.Items = t.context.Prompt()
	return p
}

// request returns a model request without its items.
func (t *Thread) request() *Prompt {
	p := &Prompt{
		ThreadID: t.state.ID, SessionID: t.sessionID(), Provider: t.state.Settings.Provider, Model: t.state.Settings.Model,
		Summary: t.state.Settings.Summary, Verbosity: t.capabilities.Verbosity,
		Instructions: t.systemPrompt(),
		Tools:        t.tools(),
		WebSearch:    t.webSearch(),
		NoImages:     t.capabilities.NoImages,
	}
	if !t.capabilities.NoThinking {
		protocol.Override(&p.Effort, t.state.Settings.Effort)
	}
	protocol.Override(&p.ServiceTier, t.state.Settings.ServiceTier)
	if !t.isIdle() {
		p.OutputSchema = t.active.schema
	}
	return p
}

// systemPrompt returns the instructions from the client's thread/resume, or from its thread/start, or the server's own.
// The instructions of MCP servers follow. They change only with the tools, which begin each request too. Everything
// else that can change within a thread is in notices, because the system prompt begins each request.
func (t *Thread) systemPrompt() string {
	prompt, developer := BaseInstructions, ""
	if b := t.state.Meta.BaseInstructions; b != nil && b.Text != "" {
		prompt = b.Text
	}
	protocol.Override(&prompt, t.base)
	protocol.Override(&developer, t.state.Meta.DeveloperInstructions)
	protocol.Override(&developer, t.developer)
	if developer != "" {
		prompt += "\n\n" + developer
	}
	if t.serverInstructions != "" && !t.capabilities.NoTools {
		prompt += "\n\n" + t.serverInstructions
	}
	return prompt
}

// primeTokens begin the answer of a model. OpenAI documents the figure.
const primeTokens = 3

// overheadTokens returns the cost of the system prompt and the tools, in tokens before the scale. It is
// counted again only after it changed.
func (t *Thread) overheadTokens() history.Tokens {
	p := t.request()
	now := overhead{t.state.Settings.Model, p.Instructions, t.capabilities, t.recalls(), t.overhead.tokens}
	if t.overhead == now && now.tokens.All > 0 {
		return now.tokens
	}
	now.tokens = t.context.Count(p.Instructions).Plus(history.LatinTokens(primeTokens))
	for _, tool := range p.Tools {
		now.tokens = now.tokens.Plus(t.toolTokens(&tool))
	}
	t.overhead = now
	return now.tokens
}

// toolTokens returns the cost of a tool in a request, in tokens before the scale.
func (t *Thread) toolTokens(tool *ToolSpec) history.Tokens {
	return t.context.Count(tool.Name + " " + tool.Description + " " + string(tool.Parameters))
}

// addedByTrim returns the cost of the tool recall if a trim or a compaction now would add it to requests. See recalls.
func (t *Thread) addedByTrim() int64 {
	if t.recalls() || !t.economizes {
		return 0
	}
	now := t.overheadTokens()
	return t.context.FixedTokens(now.Plus(t.toolTokens(&toolspec.RecallSpec))) - t.context.FixedTokens(now)
}

// counted returns the cost of a request that was made when the history had n items, in tokens before the scale, or
// none if it has images, whose cost is a guess.
func (t *Thread) counted(n int) history.Tokens {
	tokens, certain := t.context.CountBelow(n)
	if !certain {
		return history.Tokens{}
	}
	return t.overheadTokens().Plus(tokens)
}

// contextUsage returns the cost of the context.
func (t *Thread) contextUsage() protocol.ContextUsage {
	u := t.context.Usage(t.overheadTokens())
	u.ModelContextWindow = t.state.Usage.ModelContextWindow
	return u
}

// PromptTokens returns the cost of the next model request.
func (t *Thread) PromptTokens() int64 { return t.contextUsage().PromptTokens }

// setOptions sets the options of the thread and of its history.
func (t *Thread) setOptions(o Options) {
	t.options = o
	t.context.Configure(history.Options{Tokenizer: o.Tokens, Preview: itemLines, ShowsCall: func(tool string) bool {
		return toolspec.IsShell(tool) || tool == toolspec.ApplyPatch || toolspec.IsAgentTool(tool)
	}})
}
