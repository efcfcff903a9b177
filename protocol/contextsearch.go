package protocol

// ContextSearchParams searches the texts of context items: the text of an edit, or else the item's
// own. Items of reverted turns are never found.
type ContextSearchParams struct {
	ThreadID string `json:"threadId"`
	// Query has 1 to 1,000 characters.
	Query string `json:"query"`
	// Regex makes Query a regular expression in the syntax of Go's package regexp.
	Regex bool `json:"regex,omitempty"`
	// MatchCase distinguishes upper and lower case.
	MatchCase bool `json:"matchCase,omitempty"`
	// Categories limits the search. By default, all categories are searched.
	Categories []ContextCategory `json:"categories,omitempty"`
	// IncludeRemoved also finds items that a compaction, a trim or a deletion removed.
	IncludeRemoved bool    `json:"includeRemoved,omitempty"`
	Cursor         *string `json:"cursor,omitempty"`
	// Limit is the maximum number of items of a page: 100 by default, at most 1,000.
	Limit *uint32 `json:"limit,omitempty"`
}

// ContextSearchResponse is a page of the matching items, in the order of the list.
type ContextSearchResponse struct {
	Revision int64          `json:"revision"`
	Data     []ContextMatch `json:"data"`
	// IDs are the ids of all matching items, not only of the page.
	IDs []string `json:"ids"`
	// InPrompt is the number of matching items in the next request.
	InPrompt int `json:"inPrompt"`
	// Tokens is the cost of the matching items in the next request.
	Tokens     int64   `json:"tokens"`
	NextCursor *string `json:"nextCursor"`
}

// ContextMatch is a matching item. Before, Match and After are the first match and the text around
// it, on one line.
type ContextMatch struct {
	ID string `json:"id"`
	// Index is -1 if the item is not in the list.
	Index int `json:"index"`
	// State is compacted, trimmed or deleted. It is absent for items in the list.
	State    *ContextReasonCode `json:"state,omitempty"`
	Category ContextCategory    `json:"category"`
	InPrompt bool               `json:"inPrompt"`
	Tokens   int64              `json:"tokens"`
	// Count is the number of matches in the item, at most 1,000.
	Count  int    `json:"count"`
	Before string `json:"before"`
	Match  string `json:"match"`
	After  string `json:"after"`
}
