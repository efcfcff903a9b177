package protocol

// ThreadSearchParams looks for a text in what was said in stored threads, and in their
// previews and names; case does not matter, and parts of words are found. SortKey is
// relevance by default: first the threads whose preview or name has the text, then those
// with the most messages that have it. SortDirection, SourceKinds, Archived, Cursor and
// Limit are as in ThreadListParams; threads of all providers are found.
type ThreadSearchParams struct {
	SearchTerm    string    `json:"searchTerm"`
	Cursor        *string   `json:"cursor,omitempty"`
	Limit         *uint32   `json:"limit,omitempty"`
	SortKey       *string   `json:"sortKey,omitempty" oneof:"relevance created_at updated_at recency_at"`
	SortDirection *string   `json:"sortDirection,omitempty" oneof:"asc desc"`
	SourceKinds   *[]string `json:"sourceKinds,omitempty" oneof:"cli vscode exec appServer subAgent subAgentReview subAgentCompact subAgentThreadSpawn subAgentOther unknown"`
	Archived      *bool     `json:"archived,omitempty"`
}

// ThreadSearchResponse is a page of what was found. The cursors are those of
// ThreadListResponse. Complete is false while threads are still being read for the first
// time, so that a later search may find more.
type ThreadSearchResponse struct {
	Data            []ThreadSearchResult `json:"data"`
	NextCursor      *string              `json:"nextCursor"`
	BackwardsCursor *string              `json:"backwardsCursor"`
	Complete        bool                 `json:"complete"`
}

// ThreadSearchResult is a thread, and a line around what was found in it.
type ThreadSearchResult struct {
	Thread  Thread `json:"thread"`
	Snippet string `json:"snippet"`
}

// ThreadIndexProgressNotification tells whoever lists or searches how many rollouts have
// been read where that takes long; Done is Total at the end.
type ThreadIndexProgressNotification struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// NotificationMethod is thread/index/progress.
func (ThreadIndexProgressNotification) NotificationMethod() string { return "thread/index/progress" }
