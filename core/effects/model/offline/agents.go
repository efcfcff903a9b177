package offline

import (
	"fmt"
	"strings"

	"appserver/core"
	"appserver/protocol"
)

// agentMark stands for the id of an agent in the arguments of a call, by the number of the agent.
const agentMark = "{{agent %d}}"

// withAgents replaces marks by the ids of the agents that the thread has started, of which the first is agent 1.
func withAgents(arguments string, p *core.Prompt) string {
	if !strings.Contains(arguments, "{{agent ") {
		return arguments
	}
	started := 0
	for _, item := range p.Items {
		output, ok := item.ResponseItemVariant.(*protocol.FunctionCallOutput)
		if !ok {
			continue
		}
		var agent struct {
			ID string `json:"agent_id"`
		}
		if protocol.Unmarshal([]byte(output.Output.String()), &agent) == nil && agent.ID != "" {
			started++
			arguments = strings.ReplaceAll(arguments, fmt.Sprintf(agentMark, started), agent.ID)
		}
	}
	return arguments
}
