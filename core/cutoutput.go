package core

import (
	"appserver/core/pure/history"
	"appserver/core/pure/toolspec"
	"appserver/core/pure/transcript"
	"appserver/protocol"
)

// isCut reports whether an item is an output of which the model has a part only.
func (t *Thread) isCut(place int) bool {
	c := t.context.Item(place)
	return c.IsOutput() && toolspec.IsCut(c.Text())
}

// wholeText returns the text of an item. For an output that was cut for the model it is the text that clients see, if
// that is longer.
func (t *Thread) wholeText(place int) string {
	c := t.context.Item(place)
	text := history.ContentText(c.Decode())
	if !t.isCut(place) {
		return text
	}
	if event, found := t.transcript.LastItem(transcript.None, c.CallID()); found {
		if shown := shownOutput(t.transcript.ItemAt(t.transcript.Event(event)).ThreadItem()); len(shown) > len(text) {
			return shown
		}
	}
	return text
}

// shownOutput returns the text of an output that clients see, or "".
func shownOutput(item protocol.ThreadItem) string {
	switch v := item.ThreadItemVariant.(type) {
	case *protocol.CommandExecutionItem:
		if v.AggregatedOutput != nil {
			return *v.AggregatedOutput
		}
	case *protocol.McpToolCallItem:
		if v.Result != nil {
			return serverText(v.Result)
		}
	case *protocol.DynamicToolCallItem:
		return outputText(toolspec.ClientOutput(v.ContentItems))
	}
	return ""
}

// serverText returns the text of a result of an MCP server.
func serverText(r *protocol.McpToolCallResult) string {
	result := toolspec.ServerResult{Content: r.Content, Structured: r.StructuredContent}
	return outputText(result.Output("", 0))
}

// outputText returns the texts of an output.
func outputText(output protocol.ToolOutput) string {
	return history.ContentText(protocol.ResponseItem{ResponseItemVariant: &protocol.FunctionCallOutput{Output: output}})
}
