package protocol

// ContextSearchParams asks for the items of the context whose text has a match. The text is the one that
// an edit gave the item, or its own. Query has 1 to 1,000 characters; with Regex it is a regular
// expression in the syntax of Go's package regexp. Letter case is ignored unless MatchCase is set.
// Categories are all if empty. IncludeRemoved also finds items that a compaction, a trim or a deletion took
// out. Items of reverted turns are never found. Limit is 100 if nil, and at most 1,000.
type ContextSearchParams struct {
	ThreadID       string            `json:"threadId"`
	Query          string            `json:"query"`
	Regex          bool              `json:"regex,omitempty"`
	MatchCase      bool              `json:"matchCase,omitempty"`
	Categories     []ContextCategory `json:"categories,omitempty"`
	IncludeRemoved bool              `json:"includeRemoved,omitempty"`
	Cursor         *string           `json:"cursor,omitempty"`
	Limit          *uint32           `json:"limit,omitempty"`
}

// ContextSearchResponse is a page of the items with a match, in the order of the list. IDs has the ids of
// all of them, not only of the page. InPrompt is the number of these items in the next request, and Tokens
// their cost there.
type ContextSearchResponse struct {
	Revision   int64          `json:"revision"`
	Data       []ContextMatch `json:"data"`
	IDs        []string       `json:"ids"`
	InPrompt   int            `json:"inPrompt"`
	Tokens     int64          `json:"tokens"`
	NextCursor *string        `json:"nextCursor"`
}

// ContextMatch is an item with a match. Count is the number of its matches, at most 1,000. Before, Match
// and After are the first match and the text around it, on one line. An item that is not in the list has the
// index -1 and a State: compacted, trimmed or deleted. State is nil for items of the list.
type ContextMatch struct {
	ID       string             `json:"id"`
	Index    int                `json:"index"`
	State    *ContextReasonCode `json:"state,omitempty"`
	Category ContextCategory    `json:"category"`
	InPrompt bool               `json:"inPrompt"`
	Tokens   int64              `json:"tokens"`
	Count    int                `json:"count"`
	Before   string             `json:"before"`
	Match    string             `json:"match"`
	After    string             `json:"after"`
}
