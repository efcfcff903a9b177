package history

import (
	"strings"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// agentNotice returns the result of an agent that a message has.
func agentNotice(item protocol.ResponseItem) (protocol.AgentNotice, bool) {
	m, ok := item.ResponseItemVariant.(*protocol.Message)
	if !ok || m.Role != protocol.RoleUser {
		return protocol.AgentNotice{}, false
	}
	return protocol.ParseAgentNotice(TextOf(item))
}

// The output of a call that starts an agent names the agent. It is short.
const (
	maxSpawnOutput = 1 << 10 // bytes
	// maxNamesRead bounds the outputs that are read for a name.
	maxNamesRead = 1000
)

// agentName returns the name of an agent by the id of its thread: from the output of the call that started it, also if
// that is not sent any more. It returns "" without such an output.
func (h *History) agentName(id string) string {
	read := 0
	for place := h.items.Len() - 1; place >= 0 && read < maxNamesRead; place-- {
		c := h.Item(place)
		if c.role != output || c.size > maxSpawnOutput {
			continue
		}
		read++
		if text := ContentText(c.Decode()); strings.Contains(text, id) {
			if spawned := gjson.Parse(text); spawned.Get("agent_id").Str == id && gjson.Valid(text) {
				return strings.Clone(spawned.Get("nickname").Str)
			}
		}
	}
	return ""
}
