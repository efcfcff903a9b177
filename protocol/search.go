package protocol

// ThreadSearchParams searches messages, previews and names of stored threads of all providers for a
// text. The search ignores case and finds parts of words. SortDirection, SourceKinds, Archived,
// Cursor and Limit have the same meaning as in ThreadListParams.
type ThreadSearchParams struct {
	SearchTerm string  `json:"searchTerm"`
	Cursor     *string `json:"cursor,omitempty"`
	Limit      *uint32 `json:"limit,omitempty"`
	// SortKey is relevance by default: first the threads whose preview or name matches, then the
	// threads with the most matching messages.
	SortKey       *string   `json:"sortKey,omitempty" oneof:"relevance created_at updated_at recency_at"`
	SortDirection *string   `json:"sortDirection,omitempty" oneof:"asc desc"`
	SourceKinds   *[]string `json:"sourceKinds,omitempty" oneof:"cli vscode exec appServer subAgent subAgentReview subAgentCompact subAgentThreadSpawn subAgentOther unknown"`
	Archived      *bool     `json:"archived,omitempty"`
}

// ThreadSearchResponse is a page of matches. The cursors have the same meaning as in
// ThreadListResponse.
type ThreadSearchResponse struct {
	Data            []ThreadSearchResult `json:"data"`
	NextCursor      *string              `json:"nextCursor"`
	BackwardsCursor *string              `json:"backwardsCursor"`
	// Complete is false while threads are indexed for the first time. A later search can find more
	// then.
	Complete bool `json:"complete"`
}

// ThreadSearchResult is a thread with a match.
type ThreadSearchResult struct {
	Thread Thread `json:"thread"`
	// Snippet is a line around the match.
	Snippet string `json:"snippet"`
}

// ThreadIndexProgressNotification reports the progress of the index. It is sent to clients that
// list or search, if indexing takes long.
type ThreadIndexProgressNotification struct {
	// Done is the number of indexed rollouts. It equals Total at the end.
	Done  int `json:"done"`
	Total int `json:"total"`
}

// NotificationMethod returns "thread/index/progress".
func (ThreadIndexProgressNotification) NotificationMethod() string { return "thread/index/progress" }
