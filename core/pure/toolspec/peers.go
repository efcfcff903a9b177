package toolspec

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"appserver/protocol"
)

// The tools for agents with paths that the others lack.
const (
	SendMessage    = "send_message"
	FollowupTask   = "followup_task"
	ListAgents     = "list_agents"
	InterruptAgent = "interrupt_agent"
)

// AllTurns is the number of turns of a fork that begins with all of them.
const AllTurns = -1

const (
	peerTarget = `"target":{"type":"string",` +
		`"description":"The name of an agent that you started, the path of any agent, or its id."}`
	peerMessage = `"message":{"type":"string"}`
)

// PeerSpecs returns the tools for agents with paths.
func PeerSpecs() []Spec {
	return []Spec{spawnPeerSpec, sendMessageSpec, followupSpec, waitPeersSpec, listAgentsSpec, interruptSpec}
}

var spawnPeerSpec = Spec{
	Name: SpawnAgent,
	Description: "Starts another agent with a task of its own, in the same working directory, and returns its path at " +
		"once: your path and task_name. It begins with this conversation, or with less of it by fork_turns. Its last " +
		"message comes to you when it ends. Give each agent a task that is complete in itself, and files that no other " +
		"agent writes.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"task_name":{"type":"string","description":"Lower-case letters, digits and underscores."},` +
		`"message":{"type":"string","description":"The task."},` +
		`"fork_turns":{"type":"string",` +
		`"description":"all (the default), none, or the number of the last turns that the agent begins with."},` +
		`"model":{"type":"string","description":"Another model, only if the user names one."},` +
		`"reasoning_effort":{"type":"string"}},"required":["task_name","message"],"additionalProperties":false}`),
}

var sendMessageSpec = Spec{
	Name: SendMessage,
	Description: "Gives an agent a message. It reads the message with its next request, and one that is done does not " +
		"begin to work.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` + peerTarget + `,` + peerMessage +
		`},"required":["target","message"],"additionalProperties":false}`),
}

var followupSpec = Spec{
	Name: FollowupTask,
	Description: "Gives an agent another task. An agent that is done begins to work again, with all that it knows. One " +
		"that works reads the task with its next request.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` + peerTarget + `,` + peerMessage +
		`},"required":["target","message"],"additionalProperties":false}`),
}

var waitPeersSpec = Spec{
	Name: WaitAgent,
	Description: "Waits for the next message of any agent, such as its answer, or of the user. Messages come to you " +
		"without waiting as well: wait only if nothing else is left to do.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"timeout_ms":{"type":"integer","description":"10000 to 3600000, by default 30000."}},` +
		`"additionalProperties":false}`),
}

var listAgentsSpec = Spec{
	Name:        ListAgents,
	Description: "Lists the agents of this conversation, with their paths and states.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"path_prefix":{"type":"string","description":"Only the agents at or below this path."}},` +
		`"additionalProperties":false}`),
}

var interruptSpec = Spec{
	Name:        InterruptAgent,
	Description: "Ends the work of an agent, and returns its state before. It can get messages and tasks afterwards.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` + peerTarget +
		`},"required":["target"],"additionalProperties":false}`),
}

// ParsePeerCall decodes the arguments of a tool for agents with paths.
func ParsePeerCall(tool, arguments string) (AgentCall, error) {
	a, err := readMembers(arguments)
	if err != nil {
		return AgentCall{}, err
	}
	c := AgentCall{Tool: tool, ByPath: true}
	switch tool {
	case SpawnAgent:
		c.Name, c.Input, c.Turns = a.text("task_name"), a.agentInput(), a.forkTurns()
		c.Model, c.Effort = a.text("model"), a.text("reasoning_effort")
	case SendMessage, FollowupTask:
		c.Targets, c.Input = []string{a.text("target")}, a.agentInput()
	case WaitAgent:
		c.Wait = a.agentWait()
	case ListAgents:
		c.Prefix = strings.TrimSuffix(a.text("path_prefix"), "/")
	case InterruptAgent:
		c.Targets = []string{a.text("target")}
	}
	return c, a.err
}

// forkTurns returns the number of turns of a fork, or a number below AllTurns for another value.
func (m *members) forkTurns() int {
	switch text := strings.ToLower(strings.TrimSpace(m.id("fork_turns"))); text {
	case "", "all":
		return AllTurns
	case "none":
		return 0
	default:
		n, err := strconv.Atoi(text)
		if err != nil || n <= 0 {
			return AllTurns - 1
		}
		return n
	}
}

// peerProblem returns why a call cannot be run, in the words of the reference implementation, or "".
func (c *AgentCall) peerProblem() string {
	sends := slices.Contains([]string{SpawnAgent, SendMessage, FollowupTask}, c.Tool)
	switch {
	case sends && c.Text() == "":
		return "Empty message can't be sent to an agent"
	case c.Tool != SpawnAgent:
		return ""
	case c.Name == "" || strings.Trim(c.Name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "":
		return "agent_name must use only lowercase letters, digits, and underscores"
	case "/"+c.Name == protocol.RootAgentPath:
		return "agent_name `root` is reserved"
	case c.Turns < AllTurns:
		return "fork_turns must be `none`, `all`, or a positive integer string"
	}
	return ""
}
