package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

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

// decodeServerCall decodes the arguments of a server's tool. It returns false for other tools and
// for invalid arguments.
func (s *step) decodeServerCall(c *toolCall) bool {
	if tool, inner := s.calledServerTool(c); c.server == nil && tool != nil && s.reviewing() == nil {
		if arguments, err := tool.ParseCall(inner); err == nil {
			c.server = &serverCall{*tool, arguments}
		}
	}
	return c.server != nil
}

func (s *step) startServerCall(c *toolCall) {
	if !s.decodeServerCall(c) {
		s.rejectArguments(c, s.wrongServerCall(c))
		return
	}
	switch s.verdictOf(c, s.serverVerdict(c.server)) {
	case toolspec.Run:
		s.callServer(c)
	case toolspec.Ask:
		s.requestApproval(c)
	default:
		s.endServerCall(c, nil, "MCP tool call requires approval, and the approval policy never asks the user")
	}
}

// wrongServerCall returns the reason why a call has no tool or no valid arguments.
func (s *step) wrongServerCall(c *toolCall) error {
	if tool, _ := s.calledServerTool(c); tool != nil {
		return errors.New("they must be a JSON object")
	}
	name, _, err := toolspec.ParseNamedCall(c.call.Arguments)
	if err != nil {
		return err
	}
	return fmt.Errorf("there is no tool %q of an MCP server; find it with %s", name, toolspec.ToolSearch)
}

// serverVerdict decides on a call of a server's tool. An approval for the session comes first.
func (s *step) serverVerdict(c *serverCall) toolspec.Verdict {
	if s.allowed[c.tool.Key()] {
		return toolspec.Run
	}
	return s.rules().ServerTool(&c.tool)
}

func (s *step) callServer(c *toolCall) {
	s.updateServerItem(c)
	c.state, c.effect = callRunning, s.newEffect()
	s.active.toolEffects = append(s.active.toolEffects, c.effect)
	s.effect(CallTool{
		ID:        c.effect,
		TurnID:    s.active.id,
		CallID:    c.call.ID,
		Server:    c.server.tool.Server,
		Tool:      c.server.tool.Tool,
		Arguments: c.server.arguments,
	})
}

// updateServerItem does the same as updateCommandItem, for tools of servers.
func (s *step) updateServerItem(c *toolCall) *protocol.McpToolCallItem {
	if c.item == nil {
		c.item = s.newItem(&protocol.McpToolCallItem{ID: c.call.ID, Server: c.server.tool.Server, Tool: c.server.tool.Tool,
			Status: protocol.McpCallInProgress, Arguments: c.server.arguments, ReadOnlyHint: c.server.tool.ReadOnly}, s.Now)
		s.notifyStarted(c.item)
	}
	item := *c.item.ThreadItemVariant.(*protocol.McpToolCallItem)
	c.item.ThreadItemVariant = &item
	return &item
}

func (s *step) toolProgress(in ToolProgress) {
	if c := s.runningCall(in.Effect); c != nil && in.Message != "" {
		s.notify(protocol.McpToolCallProgressNotification{
			ThreadID: s.state.ID,
			TurnID:   s.active.id,
			ItemID:   c.call.ID,
			Message:  in.Message,
		})
	}
}

func (s *step) toolCalled(in ToolCalled) {
	c := s.runningCall(in.Effect)
	if c == nil || !removeEffect(&s.active.toolEffects, in.Effect) {
		return
	}
	if in.Tools != nil {
		s.setServerTools(in.Tools, s.searched.window)
	}
	s.updateServerItem(c).DurationMs = new(in.Duration.Milliseconds())
	reason := ""
	switch {
	case s.active.outcome != nil && in.Err != nil:
		reason = abortedOutputText
	case in.Err != nil:
		reason = in.Err.Error()
	}
	s.endServerCall(c, in.Result, reason)
	if s.active.outcome != nil {
		s.completeWhenIdle()
		return
	}
	s.advance()
}

// endServerCall completes a call and its item. reason is the error if there is no result.
func (s *step) endServerCall(c *toolCall, r *ServerToolResult, reason string) {
	item := s.updateServerItem(c)
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
