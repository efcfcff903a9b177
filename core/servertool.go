package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tidwall/gjson"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// CallTool calls a tool of an MCP server.
type CallTool struct {
	ID     EffectID
	TurnID string
	CallID string
	Server string
	Tool   string
	// Arguments is a JSON object.
	Arguments json.RawMessage
	// Meta is added to the request, or nil.
	Meta json.RawMessage
}

// ToolProgress is a progress message of a running tool.
type ToolProgress struct {
	Effect  EffectID
	Message string
}

// ToolCalled ends a CallTool, with a result or an error.
type ToolCalled struct {
	Effect   EffectID
	Result   *ServerToolResult
	Err      error
	Duration time.Duration
	// Tools are the tools of all servers if a server has changed its list, or nil.
	Tools []ServerTool
}

// ServerToolsChanged replaces the tools of servers while the thread is loaded. The next request offers them.
type ServerToolsChanged struct{ Tools []ServerTool }

func (CallTool) effect() {}

func (in ToolProgress) apply(s *step) { s.toolProgress(in) }
func (in ToolCalled) apply(s *step)   { s.toolCalled(in) }

func (in ServerToolsChanged) apply(s *step) { s.setServerTools(in.Tools, s.searched.window) }

func callTool() builtInTool {
	return builtInTool{
		name:    toolspec.CallTool,
		spec:    func(*Thread) ToolSpec { return toolspec.CallSpec },
		offered: (*Thread).searchesTools,
		decode:  decodeServerCall, asks: true,
	}
}

// serverCall is a call of a server's tool.
type serverCall struct {
	tool      toolspec.ServerTool
	arguments json.RawMessage
}

// decodeServerCall decodes a call of a server's tool, direct or by call_tool.
func decodeServerCall(s *step, c *toolCall) (callKind, error) {
	tool, inner := s.calledServerTool(c)
	if tool == nil {
		name, _, err := toolspec.ParseNamedCall(c.call.Arguments)
		if err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("there is no tool %q of an MCP server; find it with %s", name, toolspec.ToolSearch)
	}
	arguments, err := tool.ParseCall(inner)
	if err != nil {
		return nil, errors.New("they must be a JSON object")
	}
	return &serverCall{*tool, arguments}, nil
}

func (k *serverCall) readsOnly(*step) bool { return k.tool.Harmless() && !k.tool.Serial }

func (k *serverCall) start(s *step, c *toolCall) {
	switch c.verdict(s.serverVerdict(k)) {
	case toolspec.Run:
		k.run(s, c)
	case toolspec.Ask:
		s.requestApproval(c, k)
	default:
		k.end(s, c, nil, "MCP tool call requires approval, and the approval policy never asks the user")
	}
}

// serverVerdict decides on a call of a server's tool. An approval for the session comes first.
func (s *step) serverVerdict(c *serverCall) toolspec.Verdict {
	if s.allowed[c.tool.Key()] {
		return toolspec.Run
	}
	return s.rules().ServerTool(&c.tool)
}

func (k *serverCall) run(s *step, c *toolCall) {
	k.updateItem(s, c)
	s.effect(CallTool{
		ID:        s.runCall(c),
		TurnID:    s.active.id,
		CallID:    c.call.ID,
		Server:    k.tool.Server,
		Tool:      k.tool.Tool,
		Arguments: k.arguments,
	})
}

func (k *serverCall) accept(s *step, c *toolCall) { k.run(s, c) }

func (k *serverCall) decline(s *step, c *toolCall, reason string) { k.end(s, c, nil, reason) }

func (k *serverCall) abort(s *step, c *toolCall) { k.decline(s, c, abortedOutputText) }

func (k *serverCall) show(s *step, c *toolCall) { k.updateItem(s, c) }

func (k *serverCall) waitFlag() string { return protocol.FlagWaitingOnApproval }

// answer applies the decision on a call.
func (k *serverCall) answer(s *step, c *toolCall, in ClientAnswer) {
	answer, remark := elicitation(in)
	if remark != "" {
		s.warn([]string{remark})
	}
	if answer.Action == protocol.ElicitAccept {
		switch gjson.GetBytes(answer.Meta, "persist").Str {
		case "always":
			s.warn([]string{"Rules for tools are not supported: " + c.call.Name + " is accepted for this session. " +
				"To accept it always, set its approval_mode to \"approve\" in config.toml."})
			s.rememberApproval(k.tool.Key())
		case "session":
			s.rememberApproval(k.tool.Key())
		}
		s.acceptCall(c, k)
		return
	}
	verb := map[string]string{protocol.ElicitDecline: "rejected", protocol.ElicitCancel: "cancelled"}[answer.Action]
	k.decline(s, c, "user "+verb+" MCP tool call")
	s.notifyStatus()
	s.advance()
}

// updateItem does the same as updateCommandItem, for tools of servers.
func (k *serverCall) updateItem(s *step, c *toolCall) *protocol.McpToolCallItem {
	if c.item == nil {
		c.item = s.newItem(&protocol.McpToolCallItem{ID: c.call.ID, Server: k.tool.Server, Tool: k.tool.Tool,
			Status: protocol.McpCallInProgress, Arguments: k.arguments, ReadOnlyHint: k.tool.ReadOnly}, s.Now)
		s.notifyStarted(c.item)
	}
	item := *c.item.ThreadItemVariant.(*protocol.McpToolCallItem)
	c.item.ThreadItemVariant = &item
	return &item
}

func (s *step) toolProgress(in ToolProgress) {
	if c, _ := runningCallOf[*serverCall](s, in.Effect); c != nil && in.Message != "" {
		s.notify(protocol.McpToolCallProgressNotification{
			ThreadID: s.state.ID,
			TurnID:   s.active.id,
			ItemID:   c.call.ID,
			Message:  in.Message,
		})
	}
}

func (s *step) toolCalled(in ToolCalled) {
	c, k := endedCall[*serverCall](s, in.Effect)
	if c == nil {
		return
	}
	if in.Tools != nil {
		s.setServerTools(in.Tools, s.searched.window)
	}
	k.updateItem(s, c).DurationMs = new(in.Duration.Milliseconds())
	reason := ""
	switch {
	case s.isEnding() && in.Err != nil:
		reason = abortedOutputText
	case in.Err != nil:
		reason = in.Err.Error()
	}
	k.end(s, c, in.Result, reason)
	s.effectOfCallEnded()
}

// end completes a call and its item. reason is the error if there is no result.
func (k *serverCall) end(s *step, c *toolCall, r *ServerToolResult, reason string) {
	item := k.updateItem(s, c)
	item.Status = protocol.McpCallFailed
	if item.DurationMs == nil { // the tool was not called
		item.DurationMs = new(int64(0))
	}
	if r == nil {
		item.Error = &protocol.McpToolCallError{Message: reason}
	} else {
		item.Result = &protocol.McpToolCallResult{Content: orEmpty(r.Content), StructuredContent: r.Structured, Meta: r.Meta}
		if !r.Failed {
			item.Status = protocol.McpCallCompleted
		}
	}
	s.completeItem(c.item, nil)
	s.completeCallWith(c, r.Output(reason, *item.DurationMs))
}

// request returns the approval request, in the form of a question of the server.
func (k *serverCall) request(t *Thread, c *toolCall) Request {
	tool := &k.tool
	meta := map[string]any{"codex_approval_kind": "mcp_tool_call", "persist": []string{"session"}, "tool_name": tool.Tool,
		"tool_params": k.arguments, "tool_params_display": displayParams(k.arguments)}
	if tool.Description != "" {
		meta["tool_description"] = tool.Description
	}
	if tool.Annotations != nil {
		meta["tool_annotations"] = tool.Annotations
	}
	raw, _ := protocol.Marshal(meta) // decoded JSON can be encoded
	return t.questionRequest(&openQuestion{request: c.request, turnID: &t.active.id, ServerQuestion: ServerQuestion{
		Server: tool.Server, Mode: "form", Meta: raw, Schema: json.RawMessage(`{"type":"object","properties":{}}`),
		Message: "Allow the " + tool.Server + " MCP server to run tool \"" + tool.Tool + "\"?",
	}})
}

type displayedParam struct {
	Name        string          `json:"name"`
	Value       json.RawMessage `json:"value"`
	DisplayName string          `json:"display_name"`
}

// displayParams lists the arguments for user interfaces.
func displayParams(arguments json.RawMessage) []displayedParam {
	list := []displayedParam{}
	gjson.ParseBytes(arguments).ForEach(func(name, value gjson.Result) bool {
		list = append(list, displayedParam{name.Str, json.RawMessage(value.Raw), name.Str})
		return true
	})
	return list
}
