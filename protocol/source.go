package protocol

import (
	"bytes"
	"encoding/json"

	"github.com/tidwall/gjson"
)

// The kinds of clients that begin threads, as rollouts name them. SourceMCP is "appServer"
// on the wire. Other kinds are {"custom": KIND}.
const (
	SourceVSCode = "vscode"
	SourceCLI    = "cli"
	SourceExec   = "exec"
	SourceMCP    = "mcp"
)

// StoredSource returns the source of session_meta for a kind of client.
func StoredSource(kind string) json.RawMessage {
	var source any = kind
	switch kind {
	case SourceVSCode, SourceCLI, SourceExec, SourceMCP:
	default:
		source = map[string]string{"custom": kind}
	}
	raw, err := Marshal(source)
	if err != nil {
		return nil // texts always encode
	}
	return raw
}

// SourceView returns the wire form of a stored source. A missing source is vscode.
func SourceView(stored json.RawMessage) json.RawMessage {
	switch {
	case len(stored) == 0:
		return json.RawMessage(`"vscode"`)
	case bytes.Equal(stored, []byte(`"mcp"`)):
		return json.RawMessage(`"appServer"`)
	}
	if agent := gjson.GetBytes(stored, "subagent"); agent.Exists() {
		return json.RawMessage(`{"subAgent":` + agent.Raw + `}`)
	}
	return stored
}

// ThreadSourceAgent is the source of threads that an agent started.
const ThreadSourceAgent = "subagent"

// Spawn describes the agent that a thread is, and its parent thread.
type Spawn struct {
	ParentThreadID *string `json:"parent_thread_id"`
	// Depth is the number of its ancestors.
	Depth int `json:"depth"`
	// Path is the place in the tree of agents, such as /root/tests, or null for agents without names.
	Path     *string `json:"agent_path"`
	Nickname *string `json:"agent_nickname"`
	Role     *string `json:"agent_role"`
}

// SpawnedSource returns the stored source of an agent.
func SpawnedSource(s Spawn) json.RawMessage {
	raw, err := Marshal(map[string]any{"subagent": map[string]any{"thread_spawn": s}})
	if err != nil {
		return nil // texts always encode
	}
	return raw
}

// SpawnOf returns the agent that started a thread, or the zero Spawn.
func SpawnOf(stored json.RawMessage) (s Spawn) {
	told := gjson.GetBytes(stored, "subagent.thread_spawn")
	if told.IsObject() && Unmarshal([]byte(told.Raw), &s) != nil {
		return Spawn{}
	}
	return s
}
