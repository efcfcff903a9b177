package protocol

// LineContextEdit is the type of the line that keeps a context edit. The reference
// implementation passes over it.
const LineContextEdit = "context_edit"

// StoredContextEdit is a context edit as rollouts keep it: what changed, by ids, never
// the whole list. Op is one of the Edit constants; compactions have lines of their own.
type StoredContextEdit struct {
	Op       string `json:"op"`
	Revision int64  `json:"revision"`
	// IDs are the items that it changed. A restore changes all that need it.
	IDs []string `json:"ids,omitempty"`
	// Tokens are, for each of IDs, what the placeholder of an output says that was
	// taken out; 0 for other items. Without placeholders there are none.
	Tokens []int64 `json:"tokens,omitempty"`
	// Text is the one of a replace, or of a summarize.
	Text *string `json:"text,omitempty"`
	// Of is the id of the trim point of a summarize.
	Of string `json:"of,omitempty"`
	// Target is the ordinal of the line of the edit that is undone or redone: that of a
	// compaction is a compacted line.
	Target int64 `json:"target,omitempty"`
	// SavedTokens is how much smaller the next request became.
	SavedTokens int64 `json:"saved_tokens,omitempty"`
}
