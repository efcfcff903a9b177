package core

import (
	"appserver/protocol"
)

// Prompt is the thread's next model request: a pure function of its state.
func (t *Thread) Prompt() *Prompt {
	p := &Prompt{
		ThreadID: t.id, Provider: t.settings.Provider, Model: t.settings.Model,
		Instructions: t.systemPrompt(), Items: t.promptItems(),
		Tools: []ToolSpec{shellTool, planTool},
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
	if developer != "" {
		prompt += "\n\n" + developer
	}
	return prompt
}

// promptItems is the history with each output right after the calls it belongs to.
// A call without an output gets one that says so. An output without a call, and
// whatever has no id to be paired by, is left out.
func (t *Thread) promptItems() []protocol.ResponseItem {
	outputs := t.outputs()
	items := make([]protocol.ResponseItem, 0, len(t.history))
	var open []protocol.ResponseItem // calls that wait for their outputs
	answer := func() {
		for _, call := range open {
			items = append(items, outputFor(call, outputs))
		}
		open = open[:0]
	}
	for i := range t.history {
		item := t.history[i].Item()
		role, id := pairing(item)
		if role != aCall {
			answer()
		}
		if role == aCall && id != "" {
			open = append(open, item)
		}
		if role == unpaired || role == aCall && id != "" {
			items = append(items, item)
		}
	}
	answer()
	return items
}

// pairRole is the part that an item has in a pair of a call and its output.
type pairRole int

const (
	unpaired pairRole = iota
	aCall
	anOutput
)

func pairing(item protocol.ResponseItem) (role pairRole, id string) {
	switch v := item.ResponseItemVariant.(type) {
	case *protocol.FunctionCall:
		return aCall, v.CallID
	case *protocol.CustomToolCall:
		return aCall, v.CallID
	case *protocol.LocalShellCall:
		return aCall, v.CallID
	case *protocol.FunctionCallOutput:
		return anOutput, v.CallID
	case *protocol.CustomToolCallOutput:
		return anOutput, v.CallID
	}
	return unpaired, ""
}

// outputs are the outputs in the history, by the id of their call; the first counts.
func (t *Thread) outputs() map[string]protocol.ResponseItem {
	outputs := map[string]protocol.ResponseItem{}
	for i := range t.history {
		item := t.history[i].Item()
		role, id := pairing(item)
		if _, seen := outputs[id]; role == anOutput && !seen {
			outputs[id] = item
		}
	}
	return outputs
}

func outputFor(call protocol.ResponseItem, outputs map[string]protocol.ResponseItem) protocol.ResponseItem {
	_, id := pairing(call)
	if output, ok := outputs[id]; ok {
		return output
	}
	if _, custom := call.ResponseItemVariant.(*protocol.CustomToolCall); custom {
		return protocol.ResponseItem{ResponseItemVariant: &protocol.CustomToolCallOutput{CallID: id, Output: protocol.ToolOutput{Text: "aborted"}}}
	}
	return protocol.ResponseItem{ResponseItemVariant: &protocol.FunctionCallOutput{CallID: id, Output: protocol.ToolOutput{Text: "aborted"}}}
}
