package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// addCalls records the calls of an answer and starts them.
func (s *step) addCalls(calls []ToolCall) {
	var started []*toolCall
	for _, call := range calls {
		call.ID = s.uniqueCallID(call.ID)
		if s.active.awaitTools == 0 { // all tools are known
			call.Name = s.offeredName(call.Name)
		}
		s.item(s.callItem(&call))
		started = append(started, &toolCall{call: call, session: strconv.FormatInt(s.state.Next-1, 10)})
	}
	s.becomeCalling(started)
	s.advance()
}

// offeredName returns the name of the tool that a model means by a name.
func (s *step) offeredName(name string) string {
	if s.reviewing() != nil {
		return toolspec.OfferedName(name, toolspec.ReviewSpecs())
	}
	return toolspec.OfferedName(name, s.callableTools())
}

// callItem returns the context item of a call.
func (s *step) callItem(call *ToolCall) protocol.ResponseItemVariant {
	if call.Custom {
		return &protocol.CustomToolCall{Status: customDone, CallID: call.ID, Name: call.Name, Input: call.Arguments}
	}
	item := &protocol.FunctionCall{Name: call.Name, Arguments: call.Arguments, CallID: call.ID, Echo: call.Echo}
	if t := s.serverTool(call.Name); t != nil {
		item.Namespace, item.Name = t.RolloutName()
	} else if b := s.builtInTool(call.Name); b != nil && b.namespace != nil {
		item.Namespace = b.namespace(s.Thread)
	}
	return item
}

// uniqueCallID replaces an id that is empty or that the thread has. Ids of reviews are always
// replaced, since their calls are not in the thread.
func (s *step) uniqueCallID(id string) string {
	if id != "" && s.reviewing() == nil && !s.context.HasCall(id) {
		return id
	}
	return fmt.Sprintf("call_%s", s.NewID())
}

// advance starts waiting calls: one after the other, or together if they only read. When all calls
// are done, it requests the model again.
func (s *step) advance() {
	t := s.active
	if s.isEnding() {
		return
	}
	busy, reading := false, true
	for _, c := range t.calls {
		if c.state == callWaiting && !s.mustAwaitTools(c) && (!busy || reading && s.canRunBeside(c)) {
			s.startCall(c)
		}
		if s.active != t || s.isEnding() {
			return
		}
		if c.state != callDone {
			busy = true
			reading = reading && c.readsOnly(s)
		}
	}
	if !busy && t.awaitTools == 0 {
		s.requestModel()
	}
}

// startCall decodes and starts a call.
func (s *step) startCall(c *toolCall) {
	c.call.Name = s.offeredName(c.call.Name)
	kind, err := s.decodeCall(c)
	if err != nil {
		s.rejectArguments(c, err)
		return
	}
	c.kind = kind
	kind.start(s, c)
}

// decodeCall returns the call as its tool decodes it, or a textCall for an unknown tool. The shell is the only tool of
// a review. Names of built-in tools that are not offered can be those of a client's tool.
func (s *step) decodeCall(c *toolCall) (callKind, error) {
	name := c.call.Name
	tool, client := s.builtInTool(name), s.clientTool(name)
	switch {
	case toolspec.IsShell(name):
		return tool.decode(s, c)
	case s.reviewing() != nil:
		return &textCall{text: fmt.Sprintf("There is no tool %q in a review. Use %s.", name, toolspec.Shell)}, nil
	case s.serverTool(name) != nil:
		return decodeServerCall(s, c)
	case tool != nil && tool.acceptsCall(s, c):
		return tool.decode(s, c)
	case client != nil:
		return decodeClientCall(c, client)
	}
	return &textCall{text: s.unknownToolText(name)}, nil
}

// canRunBeside reports whether a call that waits can start while others run that only read.
func (s *step) canRunBeside(c *toolCall) bool {
	kind, err := s.decodeCall(c)
	return err == nil && kind.readsOnly(s)
}

// runCall sets a call running, and returns the id of its effect.
func (s *step) runCall(c *toolCall) EffectID {
	c.becomeRunning(s.newEffect())
	s.active.toolEffects = append(s.active.toolEffects, c.effect)
	return c.effect
}

// effectOfCallEnded continues the turn after an effect of a call has ended.
func (s *step) effectOfCallEnded() {
	if s.isEnding() {
		s.completeOnceEnded()
		return
	}
	s.advance()
}

func (t *Thread) offersTool(name string) bool {
	return slices.ContainsFunc(t.tools(), func(tool ToolSpec) bool { return tool.Name == name })
}

func (s *step) unknownToolText(name string) string {
	var names []string
	for _, tool := range s.tools() {
		names = append(names, tool.Name)
	}
	if server, removed := s.removedTools[name]; removed {
		return fmt.Sprintf("The MCP server %q does not offer the tool %q any more. Nothing was run. Use one of: %s.",
			server, name, strings.Join(names, ", "))
	}
	return fmt.Sprintf("There is no tool %q. Use one of: %s.", name, strings.Join(names, ", "))
}

// mustAwaitTools reports whether the call can be one of a server's tool that is not known yet.
func (s *step) mustAwaitTools(c *toolCall) bool {
	if s.active.awaitTools == 0 || s.clientTool(c.call.Name) != nil {
		return false
	}
	tool := s.builtInTool(c.call.Name)
	return tool == nil || !tool.early
}
