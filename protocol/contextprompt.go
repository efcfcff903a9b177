package protocol

import "encoding/json"

// ContextGetPromptParams asks for a model request. Without an option it is the next request. With Revision
// it is the next request after context/goto to the revision, and with Edits the one after the edits. With
// RequestID it is a past request. At most one of the three can be set.
type ContextGetPromptParams struct {
	ThreadID  string             `json:"threadId"`
	Revision  *int64             `json:"revision,omitempty"`
	RequestID *string            `json:"requestId,omitempty"`
	Edits     []ContextOperation `json:"edits,omitempty"`
}

// ContextGetPromptResponse is a model request. Messages and Tools have the form that the provider gets.
// Sources has for each message the ids of its context items. Tokens is the cost of the whole request. For a
// past request it is the number that the provider reported, or 0. RequestID and Exact are set for a past
// request only. Exact is true if the hash of the request is the recorded one. Otherwise Reason says why
// the request may differ from the one that was sent.
type ContextGetPromptResponse struct {
	Revision  int64             `json:"revision"`
	Provider  string            `json:"provider"`
	Model     string            `json:"model"`
	Messages  []json.RawMessage `json:"messages"`
	Tools     []json.RawMessage `json:"tools"`
	Sources   [][]string        `json:"sources"`
	Tokens    int64             `json:"tokens"`
	RequestID *string           `json:"requestId,omitempty"`
	Exact     *bool             `json:"exact,omitempty"`
	Reason    *string           `json:"reason,omitempty"`
}
