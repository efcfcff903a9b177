package protocol

// LineContextEdit is the type of the line that stores a context edit. The reference implementation
// skips it.
const LineContextEdit = "context_edit"

// StoredContextEdit is the stored form of a context edit: the ids of the changed items, never the
// whole list.
type StoredContextEdit struct {
	// Op is one of the Edit constants; compactions have lines of their own.
	Op       string `json:"op"`
	Revision int64  `json:"revision,omitempty"`
	// IDs are the items that it changed. A restore changes all that need it.
	IDs []string `json:"ids,omitempty"`
	// Returns is set if an include also brings back items that left the list. Older versions skip these.
	Returns bool `json:"returns,omitempty"`
	// Tokens are the token counts in the placeholders of removed outputs, one for each of IDs. The count
	// is 0 for other items. Tokens is nil without placeholders.
	Tokens []int64 `json:"tokens,omitempty"`
	// Notes are texts in these placeholders, one for each of IDs, or "". Notes is nil without any.
	Notes []string `json:"notes,omitempty"`
	// Text is the one of a replace, or of a summarize.
	Text *string `json:"text,omitempty"`
	// ClientName is the name of the client that made the edit, or "".
	ClientName string `json:"client_name,omitempty"`
	// Reason is the reason of an edit that the server made by itself, or "".
	Reason string `json:"reason,omitempty"`
	// Economy has facts about an automatic edit, or is nil.
	Economy *StoredEconomy `json:"economy,omitempty"`
	// Edits are the edits of an apply, in order. Their revisions are not set.
	Edits []StoredContextEdit `json:"edits,omitempty"`
	// Of is the id of the trim point of a summarize.
	Of string `json:"of,omitempty"`
	// Target is the ordinal of the line that is undone or redone. For a compaction it is a compacted
	// line.
	Target int64 `json:"target,omitempty"`
	// SavedTokens is how much smaller the next request became.
	SavedTokens int64 `json:"saved_tokens,omitempty"`
}

// StoredEconomy has facts about an automatic edit: the number of model requests of turns before it, and the
// tokens that its request read anew.
type StoredEconomy struct {
	Requests  int64 `json:"requests"`
	LeftCache int64 `json:"left_cache,omitempty"`
}
