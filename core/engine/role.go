package engine

import (
	"fmt"

	"appserver/core"
	"appserver/protocol"
)

// roleError is the output of a call that names a role which cannot be used.
type roleError struct{ text string }

func (e *roleError) Error() string { return e.text }

// errForkedRole is the reason why an agent with the context of its parent has no role of its own.
const errForkedRole = "an agent that begins with this conversation has the agent_type of this one: " +
	"leave out agent_type, or fork_context"

// roleOf returns the role that a call names, or the zero value if it names none.
func (a *actor) roleOf(call core.AgentCall) (core.AgentRole, error) {
	switch {
	case call.Role == "":
		return core.AgentRole{}, nil
	case call.Fork:
		return core.AgentRole{}, &roleError{errForkedRole}
	}
	if find := a.config().Role; find != nil {
		if role, found := find(call.Role); found {
			return role, nil
		}
	}
	return core.AgentRole{}, &roleError{fmt.Sprintf("unknown agent_type '%s'", call.Role)}
}

// settingsOf returns the settings of an agent: those of its parent under a role. The role is stronger than the call,
// and the call than the configuration.
func settingsOf(parent core.Settings, role core.AgentRole, call core.AgentCall, rules core.AgentRules) (
	core.Settings, error) {
	s := parent
	if !call.Fork {
		setUnlessEmpty(&s.Model, rules.Model)
		setOptional(&s.Effort, rules.Effort)
	}
	setUnlessEmpty(&s.Model, call.Model)
	setOptional(&s.Effort, call.Effort)
	setUnlessEmpty(&s.Model, role.Model)
	setOptional(&s.Effort, role.Effort)
	if role.Sandbox == "" {
		return s, nil
	}
	narrowed, ok := s.Narrowed(role.Sandbox)
	if !ok && role.OfProject {
		return s, &roleError{fmt.Sprintf("the agent_type '%s' of the project, %s, asks for the sandbox %s, and this thread "+
			"has %s: choose another agent_type, or ask the user", role.Name, role.Source, role.Sandbox, s.Sandbox.Stored().Type)}
	}
	return narrowed, nil
}

func setUnlessEmpty(to *string, value string) {
	if value != "" {
		*to = value
	}
}

func setOptional(to **string, value string) {
	if value != "" {
		*to = &value
	}
}

// applyRole adds what a role says to the first line of an agent's thread. An agent has no tool that its parent lacks.
func applyRole(meta *protocol.SessionMeta, role core.AgentRole, parent *core.Thread) {
	meta.AgentTools = parent.AgentTools().Narrowed(role.Tools)
	if role.Instructions != "" {
		meta.DeveloperInstructions = &role.Instructions
	}
}

// nickname returns a name for an agent: one of its role, or any.
func nickname(id string, role core.AgentRole) string {
	if len(role.Nicknames) > 0 {
		return chosenBy(id, role.Nicknames)
	}
	return nicknameOf(id)
}
