package apptest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"
)

// Agent returns the text that is replaced in arguments by the id of the n-th agent, from 0, that a scripted model has
// started.
func Agent(n int) string { return fmt.Sprintf("@AGENT%d@", n) }

// SpawnCall returns a call that starts an agent with a message, which can be a script.
func SpawnCall(message string, more Object) []ToolCall {
	arguments := Object{"message": message}
	for name, value := range more {
		arguments[name] = value
	}
	return OneCall("spawn_agent", arguments)
}

// AwaitCall returns a call that waits for agents.
func AwaitCall(agents ...string) []ToolCall {
	return OneCall("wait_agent", Object{"targets": agents, "timeout_ms": 60_000})
}

// agentID matches the id in the output of a call that started an agent.
var agentID = regexp.MustCompile(`agent_id[\\]*":[\\]*"([0-9a-f-]{36})`)

// withAgents returns calls with the ids of agents that a request has.
func withAgents(calls []ToolCall, request string) []ToolCall {
	text, err := json.Marshal(calls)
	if err != nil {
		panic(err) // impossible: it was JSON
	}
	replaced := string(text)
	for n, found := range agentID.FindAllStringSubmatch(request, -1) {
		replaced = strings.ReplaceAll(replaced, Agent(n), found[1])
	}
	if err := json.Unmarshal([]byte(replaced), &calls); err != nil {
		panic(err) // impossible: it was JSON
	}
	return calls
}

// Children returns the threads that agents of a thread have, oldest first.
func (c *Client) Children(thread string) (ids []string) {
	c.T.Helper()
	var answer struct{ Data []struct{ ID string } }
	raw := c.Call("thread/list", Object{"parentThreadId": thread, "sortDirection": "asc", "limit": 100})
	require.NoError(c.T, json.Unmarshal(raw, &answer))
	for _, child := range answer.Data {
		ids = append(ids, child.ID)
	}
	return ids
}

// AwaitTurnOf waits for the end of the next turn of a thread, and returns its status.
func (c *Client) AwaitTurnOf(thread string) (status string) {
	c.T.Helper()
	for {
		m := c.UntilMethod("turn/completed")
		var p struct {
			ThreadID string
			Turn     struct{ Status string }
		}
		require.NoError(c.T, json.Unmarshal(m.Params, &p))
		if p.ThreadID == thread {
			return p.Turn.Status
		}
	}
}
