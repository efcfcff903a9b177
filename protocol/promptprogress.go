package protocol

// PromptProgress is the progress of a provider that reads a prompt before it answers.
type PromptProgress struct {
	TotalTokens int64 `json:"totalTokens"`
	// CachedTokens is the number of tokens that the provider kept from an earlier request.
	CachedTokens int64 `json:"cachedTokens"`
	// ProcessedTokens is the number of tokens that the provider has read, including CachedTokens.
	ProcessedTokens int64 `json:"processedTokens"`
	// TimeMs is the time since the provider began to read, or 0.
	TimeMs int64 `json:"timeMs"`
}

// TurnPromptProgressNotification reports the progress of the provider in reading the prompt of a
// turn's request.
type TurnPromptProgressNotification struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	PromptProgress
}

// NotificationMethod returns "turn/promptProgress".
func (TurnPromptProgressNotification) NotificationMethod() string { return "turn/promptProgress" }
