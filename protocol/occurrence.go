package protocol

// ThreadSearchOccurrencesParams searches the messages of a thread, of the user and of the agent,
// for a text. Case is ignored. The occurrences are in the order of the messages.
type ThreadSearchOccurrencesParams struct {
	ThreadID   string `json:"threadId"`
	SearchTerm string `json:"searchTerm"`
	// Cursor is the nextCursor of a page for the same thread and text.
	Cursor *string `json:"cursor,omitempty"`
	// Limit is the number of occurrences of a page: 50 by default, at least 1 and at most 250.
	Limit *uint32 `json:"limit,omitempty"`
}

// ThreadSearchOccurrencesResponse is a page of occurrences.
type ThreadSearchOccurrencesResponse struct {
	Data []ThreadSearchOccurrence `json:"data"`
	// NextCursor is null on the last page.
	NextCursor *string `json:"nextCursor"`
}

// ThreadSearchOccurrence is a match in a message.
type ThreadSearchOccurrence struct {
	TurnID string `json:"turnId"`
	ItemID string `json:"itemId"`
	// Snippet is the text around the match, with "... " before it and " ..." after it if text is
	// missing there.
	Snippet           string                `json:"snippet"`
	SnippetMatchRange ThreadSearchTextRange `json:"snippetMatchRange"`
	// TurnCursor is a cursor of thread/turns/list. Its page begins with this turn.
	TurnCursor string `json:"turnCursor"`
}

// ThreadSearchTextRange is a range of a snippet in UTF-16 code units. End is exclusive.
type ThreadSearchTextRange struct {
	Start uint32 `json:"start"`
	End   uint32 `json:"end"`
}
