package protocol

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// CollabAgentToolCallItem is a call by which an agent starts, informs, awaits or closes other agents.
type CollabAgentToolCallItem struct {
	// ID is the id of the call.
	ID     string `json:"id"`
	Tool   string `json:"tool" oneof:"spawnAgent sendInput resumeAgent wait closeAgent sendMessage followupTask interruptAgent listAgents"`
	Status string `json:"status" oneof:"inProgress completed failed interrupted"`
	// SenderThreadID is the thread of the agent that calls, and ReceiverThreadIDs are those of the others. The receiver
	// of a spawn is known once it has started.
	SenderThreadID    string   `json:"senderThreadId"`
	ReceiverThreadIDs []string `json:"receiverThreadIds"`
	// Prompt is the text for the receiver, or null. Model and ReasoningEffort are those of an agent that is started.
	Prompt          *string `json:"prompt"`
	Model           *string `json:"model"`
	ReasoningEffort *string `json:"reasoningEffort"`
	// AgentsStates has the state of each receiver by the id of its thread, as far as it is known.
	AgentsStates map[string]AgentState `json:"agentsStates"`
}

// ItemID returns the id.
func (i *CollabAgentToolCallItem) ItemID() string { return i.ID }

// AgentNoticeTag and AgentNoticeEnd enclose the result of an agent in a message for the agent that started it.
const AgentNoticeTag, AgentNoticeEnd = "<subagent_notification>", "</subagent_notification>"

// The tools of a CollabAgentToolCallItem.
const (
	AgentSpawns    = "spawnAgent"
	AgentGetsInput = "sendInput"
	AgentsAwaited  = "wait"
	AgentCloses    = "closeAgent"
	AgentResumes   = "resumeAgent"
)

// The kinds of a SubAgentActivityItem.
const (
	AgentActivityStarted     = "started"
	AgentActivityInteracted  = "interacted"
	AgentActivityInterrupted = "interrupted"
	AgentActivityCompleted   = "completed"
)

// MultiAgentPaths is the version in session_meta of threads whose agents have paths.
const MultiAgentPaths = "v2"

// RootAgentPath is the path of the first agent of a tree. The path of another one is that of the agent that started it,
// a slash and its name.
const RootAgentPath = "/root"

// The states of a CollabAgentToolCallItem.
const (
	AgentCallInProgress = "inProgress"
	AgentCallCompleted  = "completed"
	AgentCallFailed     = "failed"
)

// SubAgentActivityItem reports that an agent has started, got a message, was interrupted or has completed a turn.
type SubAgentActivityItem struct {
	ID            string `json:"id"`
	Kind          string `json:"kind" oneof:"started interacted interrupted completed"`
	AgentThreadID string `json:"agentThreadId"`
	// AgentPath is the place in the tree of agents, such as /root/tests.
	AgentPath string `json:"agentPath"`
	// Model and ReasoningEffort are those of an agent that has started, and null otherwise.
	Model           *string `json:"model"`
	ReasoningEffort *string `json:"reasoningEffort"`
}

// ItemID returns the id.
func (i *SubAgentActivityItem) ItemID() string { return i.ID }

// AgentState is the state of an agent.
type AgentState struct {
	Status string `json:"status" oneof:"pendingInit running interrupted completed errored shutdown notFound"`
	// Message is the last message of an agent that has completed, or the error of one that failed, or null.
	Message *string `json:"message"`
}

// The states of an agent. AgentPending is that of an agent that has not begun its first turn.
const (
	AgentPending     = "pendingInit"
	AgentRunning     = "running"
	AgentInterrupted = "interrupted"
	AgentCompleted   = "completed"
	AgentErrored     = "errored"
	AgentShutdown    = "shutdown"
	AgentNotFound    = "notFound"
)

// IsFinal reports whether the agent does nothing until it gets a message.
func (s AgentState) IsFinal() bool { return s.Status != AgentPending && s.Status != AgentRunning }

// Stored returns the form of rollouts and of tool outputs: a word, or an object with the word and the message.
func (s AgentState) Stored() json.RawMessage {
	var value any = SnakeCase(s.Status)
	if s.Status == AgentCompleted || s.Status == AgentErrored {
		value = map[string]*string{SnakeCase(s.Status): s.Message}
	}
	raw, err := Marshal(value)
	if err != nil {
		return nil // texts always encode
	}
	return raw
}

// DecodeAgentState decodes the stored form of a state. Without a word, the agent runs.
func DecodeAgentState(stored gjson.Result) AgentState {
	state := AgentState{Status: AgentRunning}
	if stored.Str != "" {
		state.Status = CamelCase(stored.Str)
	}
	stored.ForEach(func(word, message gjson.Result) bool {
		if stored.IsObject() {
			state.Status = CamelCase(word.Str)
			if message.Type == gjson.String {
				state.Message = &message.Str
			}
		}
		return false
	})
	return state
}

// AgentNotice is the result of an agent in the context of the agent that started it.
type AgentNotice struct {
	// ThreadID is the thread of the agent.
	ThreadID string
	State    AgentState
}

// ParseAgentNotice reads the text of a message with the result of an agent. It reports whether the message has one.
func ParseAgentNotice(text string) (n AgentNotice, ok bool) {
	body, found := strings.CutPrefix(text, AgentNoticeTag)
	if !found {
		return n, false
	}
	body = strings.TrimSuffix(strings.TrimSpace(body), AgentNoticeEnd)
	if !gjson.Valid(body) {
		return n, false
	}
	notice := gjson.Parse(body)
	n.ThreadID = strings.Clone(notice.Get("agent_path").Str)
	n.State = DecodeAgentState(notice.Get("status"))
	return n, n.ThreadID != ""
}
