package core_test

import (
	"encoding/json"
	"fmt"

	"appserver/protocol"

	"github.com/tidwall/gjson"
)

// This file has the model of the next request.

// inPrompt reports whether the next request has the item itself.
func (m *contextModel) inPrompt(i modelItem) bool {
	switch {
	case !i.kept(), m.isAside(i):
		return false
	case i.isCall():
		return i.callID != "" && i.sound
	case i.isOutput():
		return m.called(i) && i.sound
	}
	return i.kind == "message" || i.kind == "reasoning" && !i.sealed && m.isOfDestination(i) && m.goesBack(i)
}

// isOfDestination reports whether the model of the next request made the item.
func (m *contextModel) isOfDestination(i modelItem) bool {
	return m.sentTo == "" || i.maker == "" || i.maker == m.sentTo
}

// goesBack reports whether the prompt has the answer of the reasoning, with a part that needs it.
func (m *contextModel) goesBack(reasoning modelItem) bool {
	for _, i := range m.items[reasoning.place+1:] {
		switch {
		case i.isOutput(), i.kind == "message" && i.role == "user":
			return false
		case i.carries:
			return m.inPrompt(i)
		}
	}
	return false
}

// called reports whether the prompt has the call of an output.
func (m *contextModel) called(output modelItem) bool {
	return output.call >= 0 && m.items[output.call].kept() && m.items[output.call].sound
}

// prompt returns the items of the next request. Outputs follow the last of the calls that belong
// together.
func (m *contextModel) prompt() []string {
	sent, open := []string{}, []string{}
	for _, place := range m.inOrder() {
		i := m.items[place]
		if i.isCall() {
			if m.inPrompt(i) {
				sent, open = append(sent, i.body), append(open, m.outputOf(i))
			}
			continue
		}
		if m.remains(i) && !m.isAside(i) {
			sent, open = append(sent, open...), nil
		}
		if m.inPrompt(i) && !i.isOutput() {
			sent = append(sent, i.sentBody())
		}
	}
	return append(sent, open...)
}

// sentBody returns the item in the form of the next request. Reasoning with another text has it as a summary.
func (i *modelItem) sentBody() string {
	if i.kind != "reasoning" || !i.replaced {
		return i.body
	}
	return canonical(encode(protocol.ResponseItem{ResponseItemVariant: &protocol.Reasoning{
		ID:      gjson.Get(i.body, "id").Str,
		Summary: []protocol.ReasoningText{{Type: "summary_text", Text: i.text}},
	}}))
}

// remains reports whether a plain reader finds the item, or a replacement.
func (m *contextModel) remains(i modelItem) bool {
	if i.isOutput() {
		return !i.hidden && m.called(i)
	}
	return i.kept()
}

// outputOf returns the output of a call in the prompt.
func (m *contextModel) outputOf(call modelItem) string {
	if call.output < 0 {
		return answer(call, "aborted")
	}
	switch o := m.items[call.output]; {
	case !o.kept():
		note := ""
		if o.note != "" {
			note = "; " + o.note
		}
		return answer(call, fmt.Sprintf("[output excluded from context: %d tokens%s]", o.says, note))
	case !o.sound:
		return answer(call, "aborted")
	case o.replaced:
		return withOutput(o.body, o.text)
	default:
		return o.body
	}
}

func answer(call modelItem, text string) string {
	kind := "function_call_output"
	if call.kind == "custom_tool_call" {
		kind = "custom_tool_call_output"
	}
	return canonical(encode(map[string]string{"type": kind, "call_id": call.callID, "output": text}))
}

func withOutput(body, text string) string {
	var members map[string]any
	if json.Unmarshal([]byte(body), &members) != nil {
		return body
	}
	members["output"] = text
	return canonical(encode(members))
}
