package core

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// clientCall is a call of a tool that the client runs.
type clientCall struct {
	namespace *string
	tool      string
	arguments json.RawMessage
}

// decodeClientCall decodes a call of a client's tool. Arguments that are no JSON are the model's error, since no client
// could decode them.
func decodeClientCall(c *toolCall, tool *toolspec.ClientTool) (callKind, error) {
	arguments := json.RawMessage(cmp.Or(strings.TrimSpace(c.call.Arguments), "{}"))
	if !protocol.Valid(arguments) {
		return nil, errors.New("they are not JSON, or nested too deeply")
	}
	arguments = toolspec.Conform(tool.Schema.Original, tool.Schema.Restore(arguments))
	return &clientCall{tool.Namespace, tool.Tool, arguments}, nil
}

func (k *clientCall) readsOnly(*step) bool { return false }

// start asks the client to run its tool.
func (k *clientCall) start(s *step, c *toolCall) {
	c.item = s.newItem(&protocol.DynamicToolCallItem{
		ID: c.call.ID, Namespace: k.namespace, Tool: k.tool, Arguments: k.arguments,
		Status: protocol.DynamicToolInProgress,
	}, s.Now)
	s.notifyStarted(c.item)
	s.beginAsking(c, k)
	s.send(k.request(s.Thread, c))
}

func (k *clientCall) request(t *Thread, c *toolCall) Request {
	return Request{ID: c.request, Method: protocol.MethodToolCall, Params: protocol.DynamicToolCallParams{
		ThreadID: t.state.ID, TurnID: t.active.id, CallID: c.call.ID, Namespace: k.namespace, Tool: k.tool,
		Arguments: k.arguments,
	}}
}

func (k *clientCall) waitFlag() string { return "" }

// answer completes the call with the client's result. An invalid result counts as failure
// of the tool.
func (k *clientCall) answer(s *step, c *toolCall, in ClientAnswer) {
	var answer protocol.DynamicToolCallResponse
	problem := ""
	if in.Err != nil {
		problem = fmt.Sprintf("The client could not run %s: %v", k.tool, in.Err)
	} else if err := protocol.DecodeParams(in.Result, &answer); err != nil {
		problem = fmt.Sprintf("The client's answer for %s is invalid: %v", k.tool, err)
	}
	if problem != "" {
		s.warn([]string{problem})
		answer = protocol.DynamicToolCallResponse{
			ContentItems: []protocol.DynamicToolContent{{DynamicToolContentVariant: &protocol.DynamicToolText{Text: problem}}},
		}
	}
	k.end(s, c, answer)
	s.completeCallWith(c, toolspec.ClientOutput(answer.ContentItems))
	s.advance()
}

func (k *clientCall) end(s *step, c *toolCall, answer protocol.DynamicToolCallResponse) {
	item := *c.item.ThreadItemVariant.(*protocol.DynamicToolCallItem)
	item.Status, item.Success, item.ContentItems = protocol.DynamicToolFailed, &answer.Success, answer.ContentItems
	if answer.Success {
		item.Status = protocol.DynamicToolCompleted
	}
	item.DurationMs = new(max(s.Now.UnixMilli()-*c.item.StartedAtMs, 0)) // the clock can be set back
	c.item.ThreadItemVariant = &item
	s.completeItem(c.item, nil)
}

func (k *clientCall) abort(s *step, c *toolCall) {
	k.end(s, c, protocol.DynamicToolCallResponse{})
	s.completeCall(c, abortedOutputText)
}
