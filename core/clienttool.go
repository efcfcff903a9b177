package core

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// startClientTool asks the client to run its tool. Arguments that are no JSON are the model's
// error, since no client could decode them.
func (s *step) startClientTool(c *toolCall, tool *toolspec.ClientTool) {
	arguments := json.RawMessage(cmp.Or(strings.TrimSpace(c.call.Arguments), "{}"))
	if !protocol.Valid(arguments) {
		s.rejectArguments(c, errors.New("they are not JSON, or nested too deeply"))
		return
	}
	arguments = toolspec.Conform(tool.Schema.Original, tool.Schema.Restore(arguments))
	c.client = &clientCall{namespace: tool.Namespace, tool: tool.Tool, arguments: arguments}
	c.item = s.newItem(&protocol.DynamicToolCallItem{
		ID: c.call.ID, Namespace: tool.Namespace, Tool: tool.Tool, Arguments: arguments,
		Status: protocol.DynamicToolInProgress,
	}, s.Now)
	s.notifyStarted(c.item)
	s.beginAsking(c)
	s.send(s.requestFor(c))
}

// clientRequest returns the request for a call that the client answers.
func (t *Thread) clientRequest(c *toolCall) Request {
	if c.client.questions != nil {
		return Request{ID: c.request, Method: protocol.MethodUserInput, Params: protocol.ToolRequestUserInputParams{
			ThreadID: t.state.ID, TurnID: t.active.id, ItemID: c.call.ID, Questions: c.client.questions,
			IsBlocking: t.state.Settings.Mode == protocol.ModePlan,
		}}
	}
	return Request{ID: c.request, Method: protocol.MethodToolCall, Params: protocol.DynamicToolCallParams{
		ThreadID: t.state.ID, TurnID: t.active.id, CallID: c.call.ID, Namespace: c.client.namespace, Tool: c.client.tool,
		Arguments: c.client.arguments,
	}}
}

func (s *step) endClientTool(c *toolCall, answer protocol.DynamicToolCallResponse) {
	item := *c.item.ThreadItemVariant.(*protocol.DynamicToolCallItem)
	item.Status, item.Success, item.ContentItems = protocol.DynamicToolFailed, &answer.Success, answer.ContentItems
	if answer.Success {
		item.Status = protocol.DynamicToolCompleted
	}
	item.DurationMs = new(max(s.Now.UnixMilli()-*c.item.StartedAtMs, 0)) // the clock can be set back
	c.item.ThreadItemVariant = &item
	s.completeItem(c.item, nil)
}

func (s *step) abortClientCall(c *toolCall) {
	if c.client.questions == nil {
		s.endClientTool(c, protocol.DynamicToolCallResponse{})
	}
	s.completeCall(c, abortedOutputText)
}

// askQuestions sends the model's questions to the clients.
func (s *step) askQuestions(c *toolCall) {
	questions, err := toolspec.ParseQuestions(c.call.Arguments)
	if err != nil {
		s.rejectArguments(c, err)
		return
	}
	c.client = &clientCall{questions: questions}
	s.beginAsking(c)
	s.notifyStatus()
	s.send(s.requestFor(c))
}
