package protocol

// ThreadSearchOccurrencesParams asks where in the messages of a thread, the user's and the
// agent's, a text stands; case does not matter. A page has by default 50 occurrences, at least
// 1 and at most 250, in the order of the messages. Cursor is the nextCursor of a page for the
// same thread and text.
type ThreadSearchOccurrencesParams struct {
	ThreadID   string  `json:"threadId"`
	SearchTerm string  `json:"searchTerm"`
	Cursor     *string `json:"cursor,omitempty"`
	Limit      *uint32 `json:"limit,omitempty"`
}

// ThreadSearchOccurrencesResponse is a page of occurrences. NextCursor is null at the end.
type ThreadSearchOccurrencesResponse struct {
	Data       []ThreadSearchOccurrence `json:"data"`
	NextCursor *string                  `json:"nextCursor"`
}

// ThreadSearchOccurrence is a match in a message. Snippet is the text around it, with "... " before
// and " ..." after it where text is missing. TurnCursor is a cursor of thread/turns/list. Its page
// begins with this turn.
type ThreadSearchOccurrence struct {
	TurnID            string                `json:"turnId"`
	ItemID            string                `json:"itemId"`
	Snippet           string                `json:"snippet"`
	SnippetMatchRange ThreadSearchTextRange `json:"snippetMatchRange"`
	TurnCursor        string                `json:"turnCursor"`
}

// ThreadSearchTextRange is a part of a snippet, in UTF-16 code units; End is behind it.
type ThreadSearchTextRange struct {
	Start uint32 `json:"start"`
	End   uint32 `json:"end"`
}
