package protocol

import "encoding/json"

// ContextGetPromptParams asks for the next model request as it would be sent now.
type ContextGetPromptParams struct {
	ThreadID string `json:"threadId"`
}

// ContextGetPromptResponse is the next model request. Messages and Tools have the form of a Chat
// Completions request. Tokens is the cost of the whole request.
type ContextGetPromptResponse struct {
	Revision int64             `json:"revision"`
	Provider string            `json:"provider"`
	Model    string            `json:"model"`
	Messages []json.RawMessage `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
	Tokens   int64             `json:"tokens"`
}
