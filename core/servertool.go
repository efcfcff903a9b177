package core

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// ServerTool is a tool of an MCP server, as turns know it.
type ServerTool struct {
	// ToolSpec has the name that the model calls it by.
	ToolSpec
	// Server and Tool are the names that it has there.
	Server, Tool string
	// Namespace is what the name begins with that the server's tools have in common, "" for
	// names that have no such part.
	Namespace string
	// ReadOnly, Destructive and OpenWorld are what the server says of it, nil where it
	// says nothing. Annotations is all of that as the server wrote it, nil for nothing.
	ReadOnly, Destructive, OpenWorld *bool
	Annotations                      json.RawMessage
	// Approval is one of the Approve constants.
	Approval string
}

// When the user is asked before a tool of a server is called: as the server's hints and
// the approval policy say, always, or never.
const (
	ApproveByHints = "auto"
	ApprovePrompt  = "prompt"
	ApproveAlways  = "approve"
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
	// Meta is what the caller adds to the request, nil for nothing.
	Meta json.RawMessage
}

// AwaitTools waits, for a moment, for servers that are being connected to.
type AwaitTools struct{ ID EffectID }

// ToolsKnown ends an AwaitTools with the tools that there are.
type ToolsKnown struct {
	Effect EffectID
	Tools  []ServerTool
}

// ToolProgress is what a tool of a server says while it works.
type ToolProgress struct {
	Effect  EffectID
	Message string
}

// ToolCalled ends a CallTool: with a result, or with why there is none.
type ToolCalled struct {
	Effect   EffectID
	Result   *ServerToolResult
	Err      error
	Duration time.Duration
}

// ServerToolResult is what a tool of a server gave. Content and Structured are bounded.
type ServerToolResult struct {
	Content    []json.RawMessage
	Structured json.RawMessage // nil for none
	Meta       json.RawMessage // nil for none
	// Failed is set where the tool says that it failed.
	Failed bool
	// FailedWritten is set if the server wrote isError, be it true or false.
	FailedWritten bool
}

// IsError is the result's member isError as the server wrote it, or nil.
func (r *ServerToolResult) IsError() *bool {
	if !r.Failed && !r.FailedWritten {
		return nil
	}
	return &r.Failed
}

func (CallTool) effect()              {}
func (AwaitTools) effect()            {}
func (in ToolsKnown) apply(s *step)   { s.toolsKnown(in) }
func (in ToolProgress) apply(s *step) { s.toolProgress(in) }
func (in ToolCalled) apply(s *step)   { s.toolCalled(in) }

// serverCall is a call of a tool of a server.
type serverCall struct {
	tool      ServerTool
	arguments json.RawMessage
}

func (c *serverCall) key() string { return "mcp\x00" + c.tool.Server + "\x00" + c.tool.Tool }

// names are the namespace, and the name in it, that rollouts keep: as the reference
// implementation calls tools of servers.
func (t *ServerTool) names() (namespace, name string) {
	if rest, ok := strings.CutPrefix(t.Name, t.Namespace+"__"); ok && t.Namespace != "" {
		return t.Namespace, rest
	}
	return "", t.Name
}

// learn takes the tools that servers have now. The client's own of the same name comes first.
func (t *Thread) learn(tools []ServerTool) {
	t.serverTools = slices.DeleteFunc(slices.Clone(tools), func(tool ServerTool) bool { return t.clientTool(tool.Name) != nil })
	t.overhead.tokens = 0
}

func (t *Thread) serverTool(name string) *ServerTool {
	for i := range t.serverTools {
		if t.serverTools[i].Name == name {
			return &t.serverTools[i]
		}
	}
	return nil
}

// firstSample begins the turn's first model request, once it is known what tools there are
// and what the model is to be reminded of.
func (s *step) firstSample() {
	if s.active.world.ToolsPending {
		id := s.newEffect()
		s.active.samples = append(s.active.samples, id)
		s.effect(AwaitTools{ID: id})
	}
	s.sampleWhenReady()
}

func (s *step) sampleWhenReady() {
	if len(s.active.samples) == 0 {
		s.sample()
	}
}

func (s *step) toolsKnown(in ToolsKnown) {
	if s.active == nil || !ended(&s.active.samples, in.Effect) {
		return
	}
	s.learn(in.Tools)
	if s.active.outcome != nil {
		s.finishWhenDone()
		return
	}
	s.sampleWhenReady()
}

// prepareServerCall reads a call of a tool of a server. It is false for other tools and
// for arguments that are no object.
func (s *step) prepareServerCall(c *toolCall) bool {
	if tool := s.serverTool(c.call.Name); c.server == nil && tool != nil && s.reviewing() == nil {
		arguments := strings.TrimSpace(c.call.Arguments)
		if arguments == "" {
			arguments = "{}"
		}
		if protocol.Valid([]byte(arguments)) && arguments[0] == '{' {
			c.server = &serverCall{*tool, json.RawMessage(arguments)}
		}
	}
	return c.server != nil
}

func (s *step) beginServerCall(c *toolCall) {
	if !s.prepareServerCall(c) {
		s.answer(c, fmt.Sprintf("The arguments of %s could not be read: they are to be a JSON object.", c.call.Name))
		return
	}
	switch s.serverVerdict(c.server) {
	case run:
		s.callServer(c)
	case ask:
		s.ask(c)
	default:
		s.endServerCall(c, nil, "MCP tool call requires approval, and the approval policy never asks the user")
	}
}

// serverVerdict decides by configuration, hints and policy. A server says what it likes
// of its tools: who does not trust it sets its approval mode to prompt.
func (s *step) serverVerdict(c *serverCall) verdict {
	policy, mode := s.settings.ApprovalPolicy, c.tool.Approval
	switch {
	case mode == ApproveAlways, s.allowed[c.key()]:
		return run
	case mode != ApprovePrompt && c.tool.harmless():
		return run
	case policy.Mode == protocol.ApprovalNever && mode != ApprovePrompt && unconfined(s.settings.Sandbox):
		return run
	case !elicits(policy):
		return forbid
	}
	return ask
}

// harmless tells whether the server says that the tool changes nothing that matters.
func (t *ServerTool) harmless() bool {
	is := func(hint *bool, value bool) bool { return hint != nil && *hint == value }
	switch {
	case is(t.Destructive, true):
		return false
	case is(t.ReadOnly, true):
		return true
	}
	return is(t.Destructive, false) && is(t.OpenWorld, false)
}

func (s *step) callServer(c *toolCall) {
	s.showServerCall(c)
	c.state, c.effect = callRunning, s.newEffect()
	s.active.commands = append(s.active.commands, c.effect)
	s.effect(CallTool{ID: c.effect, TurnID: s.active.id, CallID: c.call.ID, Server: c.server.tool.Server, Tool: c.server.tool.Tool, Arguments: c.server.arguments})
}

// showServerCall is show for tools of servers.
func (s *step) showServerCall(c *toolCall) *protocol.McpToolCallItem {
	if c.item == nil {
		c.item = s.openItem(&protocol.McpToolCallItem{ID: c.call.ID, Server: c.server.tool.Server, Tool: c.server.tool.Tool,
			Status: protocol.McpCallInProgress, Arguments: c.server.arguments, ReadOnlyHint: c.server.tool.ReadOnly}, s.Now)
		s.started(c.item)
	}
	item := *c.item.ThreadItemVariant.(*protocol.McpToolCallItem)
	c.item.ThreadItemVariant = &item
	return &item
}

func (s *step) toolProgress(in ToolProgress) {
	if c := s.running(in.Effect); c != nil && in.Message != "" {
		s.notify(protocol.McpToolCallProgressNotification{ThreadID: s.id, TurnID: s.active.id, ItemID: c.call.ID, Message: in.Message})
	}
}

func (s *step) toolCalled(in ToolCalled) {
	c := s.running(in.Effect)
	if c == nil || !ended(&s.active.commands, in.Effect) {
		return
	}
	s.showServerCall(c).DurationMs = new(in.Duration.Milliseconds())
	reason := ""
	switch {
	case s.active.outcome != nil && in.Err != nil:
		reason = abortedOutputText
	case in.Err != nil:
		reason = in.Err.Error()
	}
	s.endServerCall(c, in.Result, reason)
	if s.active.outcome != nil {
		s.finishWhenDone()
		return
	}
	s.advance()
}

// endServerCall completes the item of a call, and answers it. Without a result, reason
// says why.
func (s *step) endServerCall(c *toolCall, r *ServerToolResult, reason string) {
	item := s.showServerCall(c)
	item.Status = protocol.McpCallFailed
	if item.DurationMs == nil { // it was not called
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
	s.completed(c.item, nil)
	s.answerWith(c, r.output(reason, *item.DurationMs))
}

// Limits of what the model is given of a result: bytes of text, and images. A part of it counts
// as some bytes more than it has.
const (
	serverTextLimit  = 40_000
	serverPartCost   = 16
	serverImageLimit = 4
)

// output is a result as the model reads it: its structured form, else its content.
func (r *ServerToolResult) output(reason string, ms int64) protocol.ToolOutput {
	head := fmt.Sprintf("Wall time: %.4f seconds\nOutput:", float64(ms)/1000)
	switch {
	case r == nil:
		return protocol.ToolOutput{Text: head + "\n" + reason}
	case r.Structured != nil:
		return protocol.ToolOutput{Text: head + "\n" + CutMiddle(string(r.Structured), serverTextLimit)}
	}
	parts := []protocol.ContentItem{{Type: protocol.ContentInputText, Text: head}}
	left, images, dropped := serverTextLimit, 0, 0
	for _, block := range r.Content {
		part := partOf(block)
		if part.Type == protocol.ContentInputImage && images < serverImageLimit {
			images++
			parts = append(parts, part)
			continue
		}
		if part.Type == protocol.ContentInputImage {
			part = protocol.ContentItem{Type: protocol.ContentInputText, Text: "[an image is left out: there are more than the model is sent]"}
		}
		if left <= 0 {
			dropped++
			continue
		}
		part.Text = CutMiddle(part.Text, left)
		left -= len(part.Text) + serverPartCost
		parts = append(parts, part)
	}
	if dropped > 0 {
		parts = append(parts, protocol.ContentItem{Type: protocol.ContentInputText, Text: fmt.Sprintf("[%d more parts of the result are left out]", dropped)})
	}
	return protocol.ToolOutput{Parts: parts}
}

// partOf is a content block as the model is given it: of text and images what they hold,
// of others the block as it is written.
func partOf(block json.RawMessage) protocol.ContentItem {
	in := gjson.ParseBytes(block)
	switch in.Get("type").Str {
	case "text":
		return protocol.ContentItem{Type: protocol.ContentInputText, Text: in.Get("text").Str}
	case "image":
		return protocol.ContentItem{Type: protocol.ContentInputImage, ImageURL: "data:" + in.Get("mimeType").Str + ";base64," + in.Get("data").Str}
	}
	return protocol.ContentItem{Type: protocol.ContentInputText, Text: string(block)}
}

// CutMiddle is a text of at most about limit bytes, with a mark for what is left out.
func CutMiddle(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head := strings.ToValidUTF8(text[:limit/2], "")
	tail := strings.ToValidUTF8(text[len(text)-limit/2:], "")
	return fmt.Sprintf("%s\n[... %d bytes are left out here ...]\n%s", head, len(text)-len(head)-len(tail), tail)
}
