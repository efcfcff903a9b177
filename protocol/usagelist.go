package protocol

// ThreadUsageListParams requests the model requests of a thread.
type ThreadUsageListParams struct {
	ThreadID string `json:"threadId"`
	// Cursor is the nextCursor of the page before.
	Cursor *string `json:"cursor,omitempty"`
	// Limit is the number of model requests of a page: 100 by default, at most 1,000.
	Limit *uint32 `json:"limit,omitempty"`
}

// ThreadUsageListResponse is a page of the model requests of a thread, newest first.
type ThreadUsageListResponse struct {
	Data []ModelRequestUsage `json:"data"`
	// Total has the sums of all pages.
	Total      ModelRequestTotal `json:"total"`
	NextCursor *string           `json:"nextCursor"`
}

// ModelRequestTotal has the number of model requests and the sums of their tokens, costs and
// savings. Cost and Saved are null if no request has tokens.
type ModelRequestTotal struct {
	Requests int                 `json:"requests"`
	Tokens   TokenUsageBreakdown `json:"tokens"`
	Cost     *float64            `json:"cost"`
	Saved    *int64              `json:"saved"`
}

// ModelRequestUsage is one model request. Tokens, Cost and Saved are null if the provider reported
// no tokens.
type ModelRequestUsage struct {
	RequestID string `json:"requestId"`
	// TurnID is null for the draft of a compaction.
	TurnID *string `json:"turnId"`
	// Kind is turn, compaction or review.
	Kind     string  `json:"kind"`
	Provider string  `json:"provider"`
	Model    string  `json:"model"`
	Effort   *string `json:"effort"`
	// Revision is the revision of the context.
	Revision int64 `json:"revision"`
	// Items is the number of items in the prompt.
	Items  int                  `json:"items"`
	Tokens *TokenUsageBreakdown `json:"tokens"`
	// Cost is the price of the tokens in units of an uncached input token. It includes output
	// tokens if their price is configured.
	Cost *float64 `json:"cost"`
	// Saved is the number of tokens that edits of the context kept out of the request.
	Saved *int64 `json:"saved"`
	// StartedAtMs is in Unix milliseconds.
	StartedAtMs int64 `json:"startedAtMs"`
	// DurationMs is in milliseconds.
	DurationMs int64 `json:"durationMs"`
	// Error is the message of a failed or cancelled request, or null.
	Error *string `json:"error"`
}
