package protocol

// The types of lines with trim points and provider sessions. The reference implementation skips
// them.
const (
	LineTrimPoint       = "trim_point"
	LineProviderSession = "provider_session"
)

// StoredTrimPoint is the stored form of a trim point, in a line of its own or in the line of a
// compaction. It lists the items that stay in the context, because their number is bounded.
type StoredTrimPoint struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
	// KeepFrom is the first context item that stays, or "" if none does. Kept are earlier items that stay
	// as well.
	KeepFrom string   `json:"keep_from,omitempty"`
	Kept     []string `json:"kept,omitempty"`
	// Boundary is the ordinal of the first line after the point. It is the ordinal of the point's own
	// line if no item stays.
	Boundary           int64    `json:"boundary"`
	BeforeEntryID      *string  `json:"before_entry_id,omitempty"`
	FirstKeptItemID    *string  `json:"first_kept_item_id,omitempty"`
	PrunedMessageCount int      `json:"pruned_message_count"`
	PrunedTurnIDs      []string `json:"pruned_turn_ids"`
	// Summary belongs to a line of its own. A compaction has it in Compacted.Message.
	Summary *string `json:"summary,omitempty"`
	// Rules are the rules of the user that the summary keeps, in the user's words. The next compaction
	// holds its summary against them.
	Rules       []string `json:"rules,omitempty"`
	SavedTokens int64    `json:"saved_tokens,omitempty"`
	// ClientName is the name of the client that trimmed, or "".
	ClientName string `json:"client_name,omitempty"`
	Revision   int64  `json:"revision"`
}

// ProviderSession is the payload of a provider_session line. The next model request starts the
// session.
type ProviderSession struct {
	ID        string `json:"id"`
	Bootstrap string `json:"bootstrap"`
}
