package core

import "appserver/core/pure/toolspec"

// builtInTool is a tool of the server.
type builtInTool struct {
	name string
	// namespace returns the namespace of the tool in rollouts, or is nil without one.
	namespace func(t *Thread) string
	// spec returns the specification in the next request.
	spec func(t *Thread) ToolSpec
	// offered reports whether the next request has the tool, or is nil if each has.
	offered func(t *Thread) bool
	// accepts reports whether a call is one of the tool, or is nil if each call is one while the tool is offered.
	accepts func(s *step, c *toolCall) bool
	// decode decodes the arguments of a call. It changes nothing, because a call can be decoded several times before it
	// starts.
	decode func(s *step, c *toolCall) (callKind, error)
	// asks is set if calls can ask the client. A turn that waits for such an answer is resumable.
	asks bool
	// early is set if calls of a resumed turn start before the tools of servers are known.
	early bool
}

// builtInTool returns the built-in tool with the name, or nil. The shell has several names.
func (t *Thread) builtInTool(name string) *builtInTool {
	if toolspec.IsShell(name) && name != toolspec.ExecCommand {
		name = toolspec.Shell
	}
	for i := range t.builtInTools {
		if t.builtInTools[i].name == name {
			return &t.builtInTools[i]
		}
	}
	return nil
}

// isOffered reports whether the next request has the tool.
func (b *builtInTool) isOffered(t *Thread) bool {
	return b.isPermitted(t) && (b.offered == nil || b.offered(t))
}

// isPermitted reports whether the role of the agent has the tool.
func (b *builtInTool) isPermitted(t *Thread) bool {
	name := toolspec.RoleTool(b.name)
	return name == "" || t.mayUse(name)
}

func (b *builtInTool) acceptsCall(s *step, c *toolCall) bool {
	if b.accepts != nil {
		return b.isPermitted(s.Thread) && b.accepts(s, c)
	}
	return b.isOffered(s.Thread)
}

// textCall is a call that is completed with a text: of an unknown tool, or of one that is not available.
type textCall struct {
	text  string
	reads bool
}

func (k *textCall) start(s *step, c *toolCall) { s.completeCall(c, k.text) }

func (k *textCall) readsOnly(*step) bool { return k.reads }
