package protocol

import "encoding/json"

// ContextGetPromptParams asks for the next model request as it would be sent now. With Revision it is the
// one that would be sent after context/goto to the revision, with Edits the one after the edits. With
// RequestID it is a past request. At most one of the three can be set.
type ContextGetPromptParams struct {
	ThreadID  string             `json:"threadId"`
	Revision  *int64             `json:"revision,omitempty"`
	RequestID *string            `json:"requestId,omitempty"`
	Edits     []ContextOperation `json:"edits,omitempty"`
}

// ContextGetPromptResponse is a model request. Messages and Tools have the form in which the provider gets
// them. Sources has for each message the ids of the context items that it is made of. Tokens is the cost of
// the whole request; of a past request it is what the provider reported, or 0. RequestID and Exact are set
// for a past request. Exact is true if its hash equals that of what was sent. Otherwise Reason states why it
// may differ.
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
