package digest

import (
	"cmp"

	"appserver/core/pure/history"
	"appserver/protocol"
)

// AgentResult returns the line of a message that has the result of an agent: the name of the agent, or the id of its
// thread without one, and its last message from the first telling line on, or what became of it. It reports whether
// the item is such a message.
func AgentResult(item protocol.ResponseItem, name string) (line string, ok bool) {
	notice, ok := protocol.ParseAgentNotice(history.TextOf(item))
	if !ok {
		return "", false
	}
	return "Result of " + cmp.Or(name, notice.ThreadID) + ": " + agentOutcome(notice.State), true
}

// agentOutcome returns the last message of an agent, or what became of the agent.
func agentOutcome(state protocol.AgentState) string {
	message := ""
	if state.Message != nil {
		message = fromTellingLine(*state.Message)
	}
	switch {
	case state.Status == protocol.AgentErrored && message != "":
		return "failed: " + message
	case state.Status == protocol.AgentErrored:
		return "failed"
	case state.Status == protocol.AgentCompleted:
		return cmp.Or(message, "no message")
	case state.Status == protocol.AgentShutdown:
		return "closed"
	}
	return cmp.Or(message, state.Status)
}
