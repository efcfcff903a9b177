package protocol

// ThreadUsageListParams asks for the model requests of a thread. Limit is 100 if nil, and at most 1,000.
type ThreadUsageListParams struct {
	ThreadID string  `json:"threadId"`
	Cursor   *string `json:"cursor,omitempty"`
	Limit    *uint32 `json:"limit,omitempty"`
}

// ThreadUsageListResponse is a page of the model requests of a thread, newest first. Total counts all of
// them.
type ThreadUsageListResponse struct {
	Data       []ModelRequestUsage `json:"data"`
	Total      ModelRequestTotal   `json:"total"`
	NextCursor *string             `json:"nextCursor"`
}

// ModelRequestTotal is the number of model requests and the sums of their tokens, costs and savings. Cost
// and Saved are null if no request has tokens.
type ModelRequestTotal struct {
	Requests int                 `json:"requests"`
	Tokens   TokenUsageBreakdown `json:"tokens"`
	Cost     *float64            `json:"cost"`
	Saved    *int64              `json:"saved"`
}

// ModelRequestUsage is one model request. TurnID is null for the draft of a compaction. Kind is turn,
// compaction or review. Revision is the one of the context, and Items the number of items in the prompt.
// Tokens, Cost and Saved are null if the provider reported no tokens. Cost is their price in units of an
// input token that is not cached. Output counts in it if its price is configured. Saved is the number of
// tokens that edits of the context kept out of the request. StartedAtMs is in Unix milliseconds. Error is
// the message of a failed or cancelled request.
type ModelRequestUsage struct {
	RequestID   string               `json:"requestId"`
	TurnID      *string              `json:"turnId"`
	Kind        string               `json:"kind"`
	Provider    string               `json:"provider"`
	Model       string               `json:"model"`
	Effort      *string              `json:"effort"`
	Revision    int64                `json:"revision"`
	Items       int                  `json:"items"`
	Tokens      *TokenUsageBreakdown `json:"tokens"`
	Cost        *float64             `json:"cost"`
	Saved       *int64               `json:"saved"`
	StartedAtMs int64                `json:"startedAtMs"`
	DurationMs  int64                `json:"durationMs"`
	Error       *string              `json:"error"`
}
