package core

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"appserver/core/excerpt"
	"appserver/protocol"
)

// clientCall is a call that the client answers: of a tool of its own, or with questions to
// the user.
type clientCall struct {
	namespace *string
	tool      string
	arguments json.RawMessage
	// questions are nil for a tool.
	questions []protocol.ToolRequestUserInputQuestion
}

// clientTool is a tool that the client runs, under the name that the model knows it by.
type clientTool struct {
	spec      ToolSpec
	namespace *string
	name      string
}

// between stands between the name of a namespace and that of a tool in it: Chat Completions
// knows no namespaces.
const between = "__"

// clientTools are the tools of a thread's client.
func clientTools(specs []protocol.DynamicToolSpec) (tools []clientTool) {
	for i := range specs {
		s := &specs[i]
		if s.Type != protocol.DynamicToolNamespace {
			tools = append(tools, clientTool{ToolSpec{s.Name, s.Description, s.InputSchema}, nil, s.Name})
			continue
		}
		for _, f := range s.Tools {
			description := f.Description
			if s.Description != "" {
				description = s.Description + ": " + description
			}
			tools = append(tools, clientTool{ToolSpec{s.Name + between + f.Name, description, f.InputSchema}, &s.Name, f.Name})
		}
	}
	return tools
}

// maxToolName is how long the name of a tool may be where it is widest allowed.
const maxToolName = 64

// CheckDynamicTools refuses tools that no model could be offered.
func CheckDynamicTools(specs []protocol.DynamicToolSpec) *protocol.Error {
	fit := regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	seen := map[string]bool{}
	for _, s := range specs {
		if s.Type == protocol.DynamicToolNamespace && !fit.MatchString(s.Name) {
			return errTool("dynamic tool namespace must match %v: %s", fit, s.Name)
		}
	}
	for _, tool := range clientTools(specs) {
		var schema map[string]json.RawMessage
		name := tool.spec.Name
		switch {
		case !fit.MatchString(tool.name):
			return errTool("dynamic tool name must match %v: %s", fit, tool.name)
		case len(name) > maxToolName:
			return errTool("dynamic tool name is longer than %d characters: %s", maxToolName, name)
		case seen[name]:
			return errTool("duplicate dynamic tool name: %s", name)
		case builtIn(name):
			return errTool("dynamic tool name is that of a built-in tool: %s", name)
		case protocol.Unmarshal(tool.spec.Parameters, &schema) != nil || schema == nil:
			return errTool("dynamic tool input schema is not supported for %s: expected an object", name)
		}
		seen[name] = true
	}
	return nil
}

func errTool(format string, args ...any) *protocol.Error {
	err := protocol.Refuse(protocol.KindInvalidParams, format, args...)
	err.Data.Field = "dynamicTools"
	return err
}

// builtIn tells whether a name is that of a tool of ours, offered or not.
func builtIn(name string) bool {
	all := Offers{Images: true, Terminals: true, Questions: true}.tools(true)
	return shellNames[name] || name == recallTool.Name || slices.ContainsFunc(all, func(t ToolSpec) bool { return t.Name == name })
}

// tools are all that the model is offered now.
func (t *Thread) tools() []ToolSpec {
	offers := t.offers
	offers.Questions = offers.Questions || t.settings.Mode == protocol.ModePlan
	tools := offers.tools(t.mayEscalate())
	if t.recalls() {
		tools = append(tools, recallTool)
	}
	for _, tool := range clientTools(t.meta.DynamicTools) {
		tools = append(tools, tool.spec)
	}
	for i := range t.serverTools {
		tools = append(tools, t.serverTools[i].ToolSpec)
	}
	return tools
}

// clientTool is the client's tool of that name, nil without one.
func (t *Thread) clientTool(name string) *clientTool {
	for _, tool := range clientTools(t.meta.DynamicTools) {
		if tool.spec.Name == name {
			return &tool
		}
	}
	return nil
}

// beginClientTool asks the client to run its tool. Arguments that are no JSON go back to
// the model, as no client could read them.
func (s *step) beginClientTool(c *toolCall, tool *clientTool) {
	arguments := json.RawMessage(cmp.Or(c.call.Arguments, "{}"))
	if !protocol.Valid(arguments) {
		s.answer(c, fmt.Sprintf("The arguments of %s could not be read: they are not JSON, or nested too deeply", c.call.Name))
		return
	}
	c.client = &clientCall{namespace: tool.namespace, tool: tool.name, arguments: arguments}
	c.item = s.openItem(&protocol.DynamicToolCallItem{
		ID: c.call.ID, Namespace: tool.namespace, Tool: tool.name, Arguments: arguments, Status: protocol.DynamicToolInProgress,
	}, s.Now)
	s.started(c.item)
	c.state, c.request = callAsking, s.NextRequest()
	s.send(s.request(c))
}

// clientRequest is the request for a call that the client answers.
func (s *step) clientRequest(c *toolCall) Request {
	if c.client.questions != nil {
		return Request{ID: c.request, Method: protocol.MethodUserInput, Params: protocol.ToolRequestUserInputParams{
			ThreadID: s.id, TurnID: s.active.id, ItemID: c.call.ID, Questions: c.client.questions, IsBlocking: s.settings.Mode == protocol.ModePlan,
		}}
	}
	return Request{ID: c.request, Method: protocol.MethodToolCall, Params: protocol.DynamicToolCallParams{
		ThreadID: s.id, TurnID: s.active.id, CallID: c.call.ID, Namespace: c.client.namespace, Tool: c.client.tool, Arguments: c.client.arguments,
	}}
}

// clientAnswered takes the client's answer to a call, and goes on with the turn.
func (s *step) clientAnswered(c *toolCall, in ClientAnswer) {
	if c.client.questions != nil {
		s.userAnswered(c, in)
		s.notifyStatus()
	} else {
		s.toolAnswered(c, in)
	}
	s.advance()
}

// toolAnswered gives the model what came of the client's tool. An answer that makes no
// sense is a failure of the tool.
func (s *step) toolAnswered(c *toolCall, in ClientAnswer) {
	var answer protocol.DynamicToolCallResponse
	problem := ""
	if in.Err != nil {
		problem = fmt.Sprintf("The client could not run %s: %v", c.client.tool, in.Err)
	} else if err := protocol.DecodeParams(in.Result, &answer); err != nil {
		problem = fmt.Sprintf("The client's answer for %s could not be read: %v", c.client.tool, err)
	}
	if problem != "" {
		s.warn([]string{problem})
		answer = protocol.DynamicToolCallResponse{ContentItems: []protocol.DynamicToolContent{{DynamicToolContentVariant: &protocol.DynamicToolText{Text: problem}}}}
	}
	s.endClientTool(c, answer)
	s.answerWith(c, modelOutput(answer.ContentItems))
}

func (s *step) endClientTool(c *toolCall, answer protocol.DynamicToolCallResponse) {
	item := *c.item.ThreadItemVariant.(*protocol.DynamicToolCallItem)
	item.Status, item.Success, item.ContentItems = protocol.DynamicToolFailed, &answer.Success, answer.ContentItems
	if answer.Success {
		item.Status = protocol.DynamicToolCompleted
	}
	item.DurationMs = new(max(s.Now.UnixMilli()-*c.item.StartedAtMs, 0)) // the clock may have been set back
	c.item.ThreadItemVariant = &item
	s.completed(c.item, nil)
}

// maxClientOutput bounds a text of a client's tool that the model gets, in bytes, as what
// commands put out is bounded: the context has to hold it.
const maxClientOutput = 40_000

// modelOutput is a tool's output as the model gets it: texts alone as one, else part by
// part. What is too long is cut in the middle; people are shown all of it.
func modelOutput(contents []protocol.DynamicToolContent) protocol.ToolOutput {
	var parts []protocol.ContentItem
	texts := true
	for _, content := range contents {
		part := protocol.ContentItem{Type: protocol.ContentInputText}
		switch v := content.DynamicToolContentVariant.(type) {
		case *protocol.DynamicToolText:
			part.Text = cutText(v.Text)
		case *protocol.DynamicToolImage:
			part = protocol.ContentItem{Type: protocol.ContentInputImage, ImageURL: v.ImageURL}
			texts = false
		default:
			part.Text = "[audio: it cannot be sent to the model]"
		}
		parts = append(parts, part)
	}
	if !texts {
		return protocol.ToolOutput{Parts: parts}
	}
	lines := make([]string, len(parts))
	for i, part := range parts {
		lines[i] = part.Text
	}
	return protocol.ToolOutput{Text: cutText(strings.Join(lines, "\n"))}
}

func cutText(text string) string {
	kept := excerpt.Text{Limit: maxClientOutput}
	kept.Write(strings.ToValidUTF8(text, "\ufffd"))
	return kept.String()
}

// abandonClient ends a call that the client has not answered.
func (s *step) abandonClient(c *toolCall) {
	if c.client.questions == nil {
		s.endClientTool(c, protocol.DynamicToolCallResponse{})
	}
	s.answer(c, abortedOutputText)
}
