package core

import "appserver/protocol"

// sent is the item as the model is sent it: with the text that a replace gave it.
func (c *contextItem) sent() protocol.ResponseItem {
	if c.fate.text == nil {
		return c.Item()
	}
	return protocol.ResponseItem{ResponseItemVariant: replaced(c.decoded().ResponseItemVariant, *c.fate.text)}
}

// replaceable tells whether an item can be given another text.
func (c *contextItem) replaceable() bool {
	switch c.decoded().ResponseItemVariant.(type) {
	case *protocol.FunctionCallOutput, *protocol.CustomToolCallOutput, *protocol.Reasoning:
		return true
	}
	return false
}

// replaced is an output or a reasoning with another text; other items stay as they
// are. What only the provider could read of a reasoning goes.
func replaced(item protocol.ResponseItemVariant, text string) protocol.ResponseItemVariant {
	switch v := item.(type) {
	case *protocol.FunctionCallOutput:
		return &protocol.FunctionCallOutput{ID: v.ID, CallID: v.CallID, Output: protocol.ToolOutput{Text: text}, TurnRef: v.TurnRef}
	case *protocol.CustomToolCallOutput:
		return &protocol.CustomToolCallOutput{ID: v.ID, CallID: v.CallID, Output: protocol.ToolOutput{Text: text}, TurnRef: v.TurnRef}
	case *protocol.Reasoning:
		return &protocol.Reasoning{ID: v.ID, Summary: []protocol.ReasoningText{{Type: "summary_text", Text: text}}, TurnRef: v.TurnRef}
	}
	return item
}
