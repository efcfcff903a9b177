package protocol

// PromptProgress counts the tokens of a prompt that a provider reads before it answers. ProcessedTokens includes
// CachedTokens, which the provider kept from an earlier request. TimeMs is the time since it began, or 0.
type PromptProgress struct {
	TotalTokens     int64 `json:"totalTokens"`
	CachedTokens    int64 `json:"cachedTokens"`
	ProcessedTokens int64 `json:"processedTokens"`
	TimeMs          int64 `json:"timeMs"`
}

// TurnPromptProgressNotification reports how far the provider has read the prompt of a turn's request.
type TurnPromptProgressNotification struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	PromptProgress
}

// NotificationMethod is turn/promptProgress.
func (TurnPromptProgressNotification) NotificationMethod() string { return "turn/promptProgress" }
