package responses

import (
	"encoding/json"
	"slices"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/protocol"
)

// These texts replace empty ones: the API rejects an empty message of the user, and models read an
// empty output as a tool that did not run.
const (
	emptyMessage = "(empty message)"
	emptyOutput  = "(no output)"
)

// inputItems returns the items of a prompt as the API takes them: without the members that this server
// and the reference implementation add, and without ids, which name items that the provider does
// not keep. from has the indices of each in the prompt. If the chat template of the model refuses neighbouring
// messages of the user, they are one item. If outputs of tools must be texts, their images are in a message of the user
// behind them.
func inputItems(p *core.Prompt, limits limits) (items []protocol.ResponseItem, from [][]int) {
	items, from = make([]protocol.ResponseItem, 0, len(p.Items)), make([][]int, 0, len(p.Items))
	add := func(i []int, item protocol.ResponseItemVariant) {
		items, from = append(items, protocol.ResponseItem{ResponseItemVariant: item}), append(from, i)
	}
	custom, list := map[string]bool{}, make([]sentItem, 0, len(p.Items))
	var own *protocol.Message // the last item, if it is a joined message
	for i, item := range p.Items {
		if sent := inputItem(item.ResponseItemVariant, limits, custom); sent != nil {
			list = append(list, sentItem{sent, []int{i}})
		}
	}
	if limits.textOutputs {
		list = withTextOutputs(list)
	}
	for _, next := range list {
		i, sent := next.from, next.item
		if limits.wantsReasoning && lacksReasoning(items, sent) {
			add(i, rawReasoning(noReasoning))
		}
		m, ofUser := sent.(*protocol.Message)
		if ofUser = ofUser && limits.alternating && m.Role == protocol.RoleUser; !ofUser {
			own = nil
			add(i, sent)
			continue
		}
		if own == nil {
			copied := *m
			copied.Content = slices.Clone(m.Content)
			own = &copied
			add(i, own)
			continue
		}
		own.Content = append(own.Content, m.Content...)
		from[len(from)-1] = append(from[len(from)-1], i...)
	}
	return items, from
}

// sentItem is an item as it is sent, with the indices of those of the prompt that it is made of.
type sentItem struct {
	item protocol.ResponseItemVariant
	from []int
}

// inputItem returns an item as it is sent, nil for one that is left out. custom has the ids of the
// custom calls that became functions, whose outputs change with them.
func inputItem(item protocol.ResponseItemVariant, limits limits, custom map[string]bool) protocol.ResponseItemVariant {
	switch i := item.(type) {
	case *protocol.Message:
		return inputMessage(i, limits)
	case *protocol.Reasoning:
		return inputReasoning(i, limits)
	case *protocol.FunctionCall:
		arguments := i.Arguments
		if limits.plain {
			arguments = model.ArgumentsObject(arguments)
		}
		return &protocol.FunctionCall{Name: model.FunctionName(i.FullName()), Arguments: arguments, CallID: i.CallID}
	case *protocol.CustomToolCall:
		if limits.plain {
			custom[i.CallID] = true
			return &protocol.FunctionCall{Name: model.FunctionName(i.Name), Arguments: model.InputObject(i.Input),
				CallID: i.CallID}
		}
		return &protocol.CustomToolCall{Status: i.Status, CallID: i.CallID, Name: i.Name, Input: i.Input}
	case *protocol.LocalShellCall:
		return &protocol.LocalShellCall{CallID: i.CallID, Status: i.Status, Action: i.Action}
	case *protocol.FunctionCallOutput:
		return &protocol.FunctionCallOutput{CallID: i.CallID, Output: inputOutput(i.Output)}
	case *protocol.CustomToolCallOutput:
		if custom[i.CallID] {
			return &protocol.FunctionCallOutput{CallID: i.CallID, Output: inputOutput(i.Output)}
		}
		return &protocol.CustomToolCallOutput{CallID: i.CallID, Output: inputOutput(i.Output)}
	case *protocol.Unknown:
		return inputNative(i)
	}
	return nil
}

// inputNative returns an item of the provider's own, without what the reference implementation adds to
// it. An encrypted compaction has an older name in older rollouts, which the API does not take.
func inputNative(i *protocol.Unknown) protocol.ResponseItemVariant {
	var members map[string]json.RawMessage
	if protocol.Unmarshal(i.Raw, &members) != nil {
		return i
	}
	if i.Tag != "image_generation_call" && i.Tag != "web_search_call" { // the API demands the id of these
		delete(members, "id")
	}
	delete(members, "internal_chat_message_metadata_passthrough")
	if i.Tag == "compaction_summary" {
		members["type"] = json.RawMessage(`"compaction"`)
	}
	raw, err := protocol.Marshal(members)
	if err != nil {
		return i
	}
	return &protocol.Unknown{Tag: i.Tag, Raw: raw}
}

// inputMessage leaves out an empty text of the assistant, and replaces any other.
func inputMessage(m *protocol.Message, limits limits) protocol.ResponseItemVariant {
	content := m.Content
	if len(content) == 0 || len(content) == 1 && content[0].Type != protocol.ContentInputImage && content[0].Text == "" &&
		content[0].Raw == nil {
		if m.Role == protocol.RoleAssistant {
			return nil
		}
		content = []protocol.ContentItem{{Type: protocol.ContentInputText, Text: emptyMessage}}
	}
	role := m.Role
	if limits.onlyUsers && (role == protocol.RoleSystem || role == protocol.RoleDeveloper) {
		role = protocol.RoleUser
	}
	return &protocol.Message{Role: role, Content: content, Phase: m.Phase}
}

// inputReasoning returns reasoning in the form that its provider takes back: encrypted, or the raw
// text if it came so. A replaced text is a summary.
func inputReasoning(r *protocol.Reasoning, limits limits) protocol.ResponseItemVariant {
	summary := r.Summary
	if summary == nil {
		summary = []protocol.ReasoningText{}
	}
	switch {
	case r.EncryptedContent != nil:
		return &protocol.Reasoning{Summary: summary, EncryptedContent: r.EncryptedContent}
	case limits.noRaw:
		return nil
	case len(r.Content) > 0:
		return &protocol.Reasoning{Summary: summary, Content: r.Content}
	case len(summary) > 0:
		return rawReasoning(summary[0].Text)
	}
	return nil
}

func rawReasoning(text string) *protocol.Reasoning {
	return &protocol.Reasoning{Summary: []protocol.ReasoningText{},
		Content: []protocol.ReasoningText{{Type: "reasoning_text", Text: text}}}
}

// noReasoning stands for the reasoning of calls that another model made.
const noReasoning = " "

// lacksReasoning reports whether a call follows that no reasoning precedes, neither directly nor before other calls.
func lacksReasoning(items []protocol.ResponseItem, next protocol.ResponseItemVariant) bool {
	if !isCall(next) {
		return false
	}
	for i := len(items) - 1; i >= 0; i-- {
		switch v := items[i].ResponseItemVariant.(type) {
		case *protocol.Reasoning:
			return false
		case *protocol.Message:
			if v.Role != protocol.RoleAssistant {
				return true
			}
		default:
			return !isCall(v)
		}
	}
	return true
}

func isCall(item protocol.ResponseItemVariant) bool {
	switch item.(type) {
	case *protocol.FunctionCall, *protocol.CustomToolCall, *protocol.LocalShellCall:
		return true
	}
	return false
}

func inputOutput(out protocol.ToolOutput) protocol.ToolOutput {
	if out.Parts == nil && out.Text == "" {
		out.Text = emptyOutput
	}
	return out
}
