package core

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"appserver/core/toolspec"
	"appserver/protocol"
)

// clientCall is a call that the client answers: of its own tool, or with questions to the user.
type clientCall struct {
	namespace *string
	tool      string
	arguments json.RawMessage
	// questions is nil for a tool.
	questions []protocol.ToolRequestUserInputQuestion
}

// tools returns the tools of the next request.
func (t *Thread) tools() []ToolSpec {
	tools := t.selection().Specs()
	for _, tool := range toolspec.ClientTools(t.state.Meta.DynamicTools) {
		tools = append(tools, tool.Spec)
	}
	for i := range t.serverTools {
		tools = append(tools, t.serverTools[i].Spec)
	}
	return tools
}

// selection selects the built-in tools of the next request.
func (t *Thread) selection() toolspec.Selection {
	return toolspec.Selection{
		Escalation: t.mayEscalate(), Terminals: t.capabilities.Terminals, Images: t.capabilities.Images,
		Questions: t.capabilities.Questions || t.state.Settings.Mode == protocol.ModePlan, Recall: t.recalls(),
	}
}

// mayEscalate reports whether the model may ask to run a command outside of the sandbox.
func (t *Thread) mayEscalate() bool {
	return toolspec.AsksOutside(t.state.Settings.ApprovalPolicy) && !toolspec.Unconfined(t.state.Settings.Sandbox)
}

// clientTool returns the client's tool with the name, or nil.
func (t *Thread) clientTool(name string) *toolspec.ClientTool {
	for _, tool := range toolspec.ClientTools(t.state.Meta.DynamicTools) {
		if tool.Name == name {
			return &tool
		}
	}
	return nil
}

// startClientTool asks the client to run its tool. Arguments that are no JSON are the model's
// error, since no client could decode them.
func (s *step) startClientTool(c *toolCall, tool *toolspec.ClientTool) {
	arguments := json.RawMessage(cmp.Or(c.call.Arguments, "{}"))
	if !protocol.Valid(arguments) {
		s.rejectArguments(c, errors.New("they are not JSON, or nested too deeply"))
		return
	}
	c.client = &clientCall{namespace: tool.Namespace, tool: tool.Tool, arguments: arguments}
	c.item = s.newItem(&protocol.DynamicToolCallItem{
		ID: c.call.ID, Namespace: tool.Namespace, Tool: tool.Tool, Arguments: arguments,
		Status: protocol.DynamicToolInProgress,
	}, s.Now)
	s.notifyStarted(c.item)
	c.state, c.request = callAsking, s.NextRequest()
	s.send(s.requestFor(c))
}

// clientRequest returns the request for a call that the client answers.
func (s *step) clientRequest(c *toolCall) Request {
	if c.client.questions != nil {
		return Request{ID: c.request, Method: protocol.MethodUserInput, Params: protocol.ToolRequestUserInputParams{
			ThreadID: s.state.ID, TurnID: s.active.id, ItemID: c.call.ID, Questions: c.client.questions,
			IsBlocking: s.state.Settings.Mode == protocol.ModePlan,
		}}
	}
	return Request{ID: c.request, Method: protocol.MethodToolCall, Params: protocol.DynamicToolCallParams{
		ThreadID: s.state.ID, TurnID: s.active.id, CallID: c.call.ID, Namespace: c.client.namespace, Tool: c.client.tool,
		Arguments: c.client.arguments,
	}}
}

// clientAnswered applies the answer and advances the turn.
func (s *step) clientAnswered(c *toolCall, in ClientAnswer) {
	if c.client.questions != nil {
		s.userAnswered(c, in)
		s.notifyStatus()
	} else {
		s.clientToolAnswered(c, in)
	}
	s.advance()
}

// clientToolAnswered completes a call with the client's result. An invalid result counts as failure
// of the tool.
func (s *step) clientToolAnswered(c *toolCall, in ClientAnswer) {
	var answer protocol.DynamicToolCallResponse
	problem := ""
	if in.Err != nil {
		problem = fmt.Sprintf("The client could not run %s: %v", c.client.tool, in.Err)
	} else if err := protocol.DecodeParams(in.Result, &answer); err != nil {
		problem = fmt.Sprintf("The client's answer for %s is invalid: %v", c.client.tool, err)
	}
	if problem != "" {
		s.warn([]string{problem})
		answer = protocol.DynamicToolCallResponse{
			ContentItems: []protocol.DynamicToolContent{{DynamicToolContentVariant: &protocol.DynamicToolText{Text: problem}}},
		}
	}
	s.endClientTool(c, answer)
	s.completeCallWith(c, toolspec.ClientOutput(answer.ContentItems))
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
