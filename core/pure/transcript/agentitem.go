package transcript

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// The types of items about agents in item_completed events.
const (
	AgentCallType     = "CollabAgentToolCall"
	AgentActivityType = "SubAgentActivity"
)

type storedAgentCall struct {
	Type              string                     `json:"type"`
	ID                string                     `json:"id"`
	Tool              string                     `json:"tool"`
	Status            string                     `json:"status"`
	SenderThreadID    string                     `json:"sender_thread_id"`
	ReceiverThreadIDs []string                   `json:"receiver_thread_ids"`
	Prompt            *string                    `json:"prompt,omitempty"`
	Model             *string                    `json:"model,omitempty"`
	ReasoningEffort   *string                    `json:"reasoning_effort,omitempty"`
	AgentsStates      map[string]json.RawMessage `json:"agents_states"`
}

type storedAgentActivity struct {
	Type            string  `json:"type"`
	ID              string  `json:"id"`
	Kind            string  `json:"kind"`
	AgentThreadID   string  `json:"agent_thread_id"`
	AgentPath       string  `json:"agent_path"`
	Model           *string `json:"model"`
	ReasoningEffort *string `json:"reasoning_effort"`
}

func encodeAgentCall(v *protocol.CollabAgentToolCallItem) storedAgentCall {
	states := make(map[string]json.RawMessage, len(v.AgentsStates))
	for id, state := range v.AgentsStates {
		states[id] = state.Stored()
	}
	return storedAgentCall{AgentCallType, v.ID, protocol.SnakeCase(v.Tool), protocol.SnakeCase(v.Status),
		v.SenderThreadID, orEmpty(v.ReceiverThreadIDs), v.Prompt, v.Model, v.ReasoningEffort, states}
}

func encodeAgentActivity(v *protocol.SubAgentActivityItem) storedAgentActivity {
	return storedAgentActivity{AgentActivityType, v.ID, v.Kind, v.AgentThreadID, v.AgentPath, v.Model, v.ReasoningEffort}
}

func decodeAgentCall(in gjson.Result) *protocol.CollabAgentToolCallItem {
	item := &protocol.CollabAgentToolCallItem{
		ID: in.Get("id").Str, Tool: protocol.CamelCase(in.Get("tool").Str),
		Status: protocol.CamelCase(in.Get("status").Str), SenderThreadID: in.Get("sender_thread_id").Str,
		ReceiverThreadIDs: []string{}, Prompt: optionalText(in.Get("prompt")), Model: optionalText(in.Get("model")),
		ReasoningEffort: optionalText(in.Get("reasoning_effort")), AgentsStates: map[string]protocol.AgentState{},
	}
	for _, id := range in.Get("receiver_thread_ids").Array() {
		item.ReceiverThreadIDs = append(item.ReceiverThreadIDs, id.Str)
	}
	for id, state := range in.Get("agents_states").Map() {
		item.AgentsStates[id] = protocol.DecodeAgentState(state)
	}
	return item
}

func decodeAgentActivity(in gjson.Result) *protocol.SubAgentActivityItem {
	return &protocol.SubAgentActivityItem{ID: in.Get("id").Str, Kind: in.Get("kind").Str,
		AgentThreadID: in.Get("agent_thread_id").Str, AgentPath: in.Get("agent_path").Str,
		Model: optionalText(in.Get("model")), ReasoningEffort: optionalText(in.Get("reasoning_effort"))}
}

// optionalText returns a text, or nil for another value.
func optionalText(value gjson.Result) *string {
	if value.Type != gjson.String {
		return nil
	}
	return &value.Str
}
