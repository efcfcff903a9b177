package protocol

import "encoding/json"

// ContextGetPromptParams requests the content of a model request: by default of the next one. At
// most one of Revision, RequestID and Edits can be set.
type ContextGetPromptParams struct {
	ThreadID string `json:"threadId"`
	// Revision selects the next request after context/goto to the revision.
	Revision *int64 `json:"revision,omitempty"`
	// RequestID selects a past request.
	RequestID *string `json:"requestId,omitempty"`
	// Edits selects the next request after the edits.
	Edits []ContextOperation `json:"edits,omitempty"`
}

// ContextGetPromptResponse is the content of a model request.
type ContextGetPromptResponse struct {
	Revision int64  `json:"revision"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Messages are in the form of the provider.
	Messages []json.RawMessage `json:"messages"`
	// Tools are in the form of the provider.
	Tools []json.RawMessage `json:"tools"`
	// Sources has the ids of the context items of each message.
	Sources [][]string `json:"sources"`
	// Tokens is the cost of the whole request. For a past request it is the number that the
	// provider reported, or 0.
	Tokens int64 `json:"tokens"`
	// RequestID is absent unless the request is a past one.
	RequestID *string `json:"requestId,omitempty"`
	// Exact is true if the hash of the request equals the recorded one. It is absent unless the
	// request is a past one.
	Exact *bool `json:"exact,omitempty"`
	// Reason is the reason for which the request can differ from the sent one. It is absent unless
	// Exact is false.
	Reason *string `json:"reason,omitempty"`
}
