package protocol

import "encoding/json"

// The kinds of model requests.
const (
	RequestTurn       = "turn"
	RequestCompaction = "compaction"
	RequestReview     = "review"
)

// StoredRequest is the stored form of a model request, in a token_count event. The prompt is not
// stored: it is made from the lines before the line with the ordinal From.
type StoredRequest struct {
	// TurnID is empty for the draft of a compaction.
	TurnID   string `json:"turn_id,omitempty"`
	Kind     string `json:"kind"`
	Provider string `json:"model_provider"`
	Model    string `json:"model"`
	Effort   string `json:"effort,omitempty"`
	// Responses is set if the provider was asked by the Responses API.
	Responses bool  `json:"responses,omitempty"`
	From      int64 `json:"from"`
	Revision  int64 `json:"revision"`
	// Items is the number of items in the prompt.
	Items int `json:"items"`
	// SystemID, ToolsID and PromptID are hashes of the system prompt, of the tools, and of the messages and
	// the tools as they were sent. PromptID is empty if it is not known.
	SystemID string `json:"system_id"`
	ToolsID  string `json:"tools_id"`
	PromptID string `json:"prompt_id,omitempty"`
	// System and Tools are the texts of the hashes. Only the first line of a rollout with a hash has its text.
	System *string         `json:"system,omitempty"`
	Tools  json.RawMessage `json:"tools,omitempty"`
	// Span is the part of the context that a compaction summarises.
	Span *StoredSpan `json:"span,omitempty"`
	// Added are the items that joined the conversation of a review since its request before. The context
	// does not have them.
	Added []ResponseItem `json:"added,omitempty"`
	// StartedAt is in Unix milliseconds.
	StartedAt  int64        `json:"started_at_ms"`
	DurationMs int64        `json:"duration_ms"`
	Usage      *StoredUsage `json:"usage,omitempty"`
	// Error is the message of a failed request, or the reason why it was cancelled.
	Error string `json:"error,omitempty"`
}

// StoredSpan is the part of the context that a compaction summarises: the items before KeepFrom, or
// all of them if it is empty, without those of Kept.
type StoredSpan struct {
	KeepFrom string   `json:"keep_from,omitempty"`
	Kept     []string `json:"kept,omitempty"`
	// Window is the context window of the model, or nil.
	Window *int64 `json:"window,omitempty"`
}
