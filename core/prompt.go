package core

import (
	"fmt"

	"appserver/protocol"
)

// Prompt is the thread's next model request: a pure function of its state.
func (t *Thread) Prompt() *Prompt {
	p := t.request()
	p.Items = t.promptItems()
	return p
}

// NextPrompt is the request of a turn that begins now in this world, up to the user's
// words, and what it costs in tokens. While a turn runs it is the thread's own.
func (t *Thread) NextPrompt(w World) (p *Prompt, tokens int64) {
	if t.active == nil {
		t.goBy(w)
		t.learn(w.Tools)
	}
	p, tokens = t.Prompt(), t.PromptTokens()
	if t.active != nil {
		return p, tokens
	}
	for _, m := range t.news(w) {
		p.Items = append(p.Items, protocol.ResponseItem{ResponseItemVariant: m})
		tokens += t.scaled(t.count(content{text: m.Content[0].Text}))
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

// tools are all that the model is offered.
func (o Offers) tools(escalation bool) []ToolSpec {
	tools := []ToolSpec{shellTool(escalation), patchTool, planTool}
	if o.Terminals {
		tools = append(tools, execTool(escalation), typeTool)
	}
	if o.Images {
		tools = append(tools, imageTool)
	}
	if o.Questions {
		tools = append(tools, askTool)
	}
	return tools
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

// promptItems are the items that the model is sent, each output right after the calls
// it belongs to. A call whose output is left out, or has not come, gets one that says
// so. An output without a call, and whatever has no id to be paired by, is left out.
func (t *Thread) promptItems() []protocol.ResponseItem {
	items := make([]protocol.ResponseItem, 0, len(t.items))
	var open []int // calls that wait for their outputs
	answer := func() {
		for _, call := range open {
			items = append(items, t.outputOf(call))
		}
		open = open[:0]
	}
	for i := range t.inOrder() {
		c := &t.items[i]
		if c.role != unpaired && c.kept() {
			c.Item()
		}
		if c.role != aCall && c.aside == 0 && t.remains(i) {
			answer()
		}
		if c.role == anOutput || !t.inPrompt(i) {
			continue
		}
		if c.role == aCall {
			open = append(open, i)
		}
		items = append(items, c.sent())
	}
	answer()
	return items
}

// outputOf is the output of a call in the prompt, or what stands in its place.
func (h *history) outputOf(call int) protocol.ResponseItem {
	c := &h.items[call]
	if c.pair == none {
		return output(c, "aborted")
	}
	switch o := &h.items[c.pair]; {
	case !o.kept():
		return output(c, placeholder(o.fate.says))
	case !o.sound():
		return output(c, "aborted")
	default:
		return o.sent()
	}
}

// placeholder stands in the place of an output that was taken out.
func placeholder(tokens int32) string {
	return fmt.Sprintf("[output excluded from context: %d tokens]", tokens)
}

// output answers a call with a text.
func output(call *contextItem, text string) protocol.ResponseItem {
	if _, custom := call.Item().ResponseItemVariant.(*protocol.CustomToolCall); custom {
		return protocol.ResponseItem{ResponseItemVariant: &protocol.CustomToolCallOutput{CallID: call.callID, Output: protocol.ToolOutput{Text: text}}}
	}
	return protocol.ResponseItem{ResponseItemVariant: &protocol.FunctionCallOutput{CallID: call.callID, Output: protocol.ToolOutput{Text: text}}}
}

// pairRole is the part that an item has in a pair of a call and its output.
type pairRole int

const (
	unpaired pairRole = iota
	aCall
	anOutput
)
