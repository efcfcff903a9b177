package protocol

// The lines of trim points and provider sessions. The reference implementation passes over
// them.
const (
	LineTrimPoint       = "trim_point"
	LineProviderSession = "provider_session"
)

// StoredTrimPoint is a trim point as rollouts keep it, in a line of its own or in that of
// a compaction. It names what stays in the context, so that its size is not that of what
// goes.
type StoredTrimPoint struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
	// KeepFrom is the first context item that stays, "" where none does. Kept are those
	// before it that stay too.
	KeepFrom string   `json:"keep_from,omitempty"`
	Kept     []string `json:"kept,omitempty"`
	// Boundary is the ordinal of the first line behind the point; that of the point's own
	// line where nothing stays.
	Boundary           int64    `json:"boundary"`
	BeforeEntryID      *string  `json:"before_entry_id,omitempty"`
	FirstKeptItemID    *string  `json:"first_kept_item_id,omitempty"`
	PrunedMessageCount int      `json:"pruned_message_count"`
	PrunedTurnIDs      []string `json:"pruned_turn_ids"`
	// Summary is that of a line of its own; a compaction has it in Compacted.Message.
	Summary     *string `json:"summary,omitempty"`
	SavedTokens int64   `json:"saved_tokens,omitempty"`
	Revision    int64   `json:"revision"`
}

// ProviderSession is the payload of a provider_session line: the next model request begins
// it.
type ProviderSession struct {
	ID        string `json:"id"`
	Bootstrap string `json:"bootstrap"`
}
