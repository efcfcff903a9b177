package protocol

// ThreadSearchParams searches messages, previews and names of stored threads for a text. The search
// ignores case and finds parts of words. SortKey is relevance by default: first the threads whose
// preview or name matches, then those with the most matching messages. SortDirection, SourceKinds,
// Archived, Cursor and Limit have the meaning of ThreadListParams. The search includes threads of all
// providers.
type ThreadSearchParams struct {
	SearchTerm    string    `json:"searchTerm"`
	Cursor        *string   `json:"cursor,omitempty"`
	Limit         *uint32   `json:"limit,omitempty"`
	SortKey       *string   `json:"sortKey,omitempty" oneof:"relevance created_at updated_at recency_at"`
	SortDirection *string   `json:"sortDirection,omitempty" oneof:"asc desc"`
	SourceKinds   *[]string `json:"sourceKinds,omitempty" oneof:"cli vscode exec appServer subAgent subAgentReview subAgentCompact subAgentThreadSpawn subAgentOther unknown"`
	Archived      *bool     `json:"archived,omitempty"`
}

// ThreadSearchResponse is a page of matches. The cursors have the meaning of ThreadListResponse.
// Complete is false while threads are indexed for the first time. A later search may find more then.
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

// ThreadIndexProgressNotification reports how many rollouts are indexed. It is sent to clients that
// list or search, if indexing takes long. Done equals Total at the end.
type ThreadIndexProgressNotification struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// NotificationMethod is thread/index/progress.
func (ThreadIndexProgressNotification) NotificationMethod() string { return "thread/index/progress" }
