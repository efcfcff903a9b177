package protocol

// ThreadCompactStartParams compacts a thread's context. Strategy is one of the Compact
// constants; without one it is the configured one.
type ThreadCompactStartParams struct {
	ThreadID string  `json:"threadId"`
	Strategy *string `json:"strategy,omitempty" oneof:"summary userMessages mask local"`
}

// The strategies of a compaction. Summary has the model write a summary of what goes,
// userMessages keeps the user's messages only, mask puts placeholders in the place of old
// tool outputs, local makes an extract without the model.
const (
	CompactSummary      = "summary"
	CompactUserMessages = "userMessages"
	CompactMask         = "mask"
	CompactLocal        = "local"
)

// ContextCompactedNotification tells that the context was compacted: what the next model
// request cost before and costs now, in tokens, and the strategy that did it, which need
// not be the one that was tried first. TurnID is the turn that it was done in, else the
// last one.
type ContextCompactedNotification struct {
	ThreadID      string `json:"threadId"`
	TurnID        string `json:"turnId"`
	OldTokenCount int64  `json:"oldTokenCount"`
	NewTokenCount int64  `json:"newTokenCount"`
	Strategy      string `json:"strategy" oneof:"summary userMessages mask local"`
}

// NotificationMethod is thread/compacted.
func (ContextCompactedNotification) NotificationMethod() string { return "thread/compacted" }

// ThreadCompactProposeParams asks what a compaction would come to. Range says which turns
// it is to replace; without one it replaces what thread/compact/start would.
type ThreadCompactProposeParams struct {
	ThreadID string      `json:"threadId"`
	Strategy *string     `json:"strategy,omitempty" oneof:"summary userMessages mask local"`
	Range    *PruneRange `json:"range,omitempty"`
}

// ThreadCompactProposeResponse is the draft of a compaction, good for as long as the
// context does not change: what would stand in the place of what, what the next model
// request costs before and after, in tokens, and what of the replaced turns the summary
// does not mention. Summary is empty where the strategy is mask. Warning says why the
// strategy is not the one that was asked for. A draft is kept in memory only, and a newer
// one takes its place. A request for a summary that fails is not tried again.
type ThreadCompactProposeResponse struct {
	DraftID      string           `json:"draftId"`
	Revision     int64            `json:"revision"`
	Strategy     string           `json:"strategy" oneof:"summary userMessages mask local"`
	Summary      string           `json:"summary"`
	Replaces     CompactionScope  `json:"replaces"`
	TokensBefore int64            `json:"tokensBefore"`
	TokensAfter  int64            `json:"tokensAfter"`
	Losses       CompactionLosses `json:"losses"`
	Warning      *string          `json:"warning"`
}

// CompactionScope is what a compaction takes out of the context: context items by their
// ids, and the turns and the messages that they make up.
type CompactionScope struct {
	ItemIDs      []string `json:"itemIds"`
	TurnIDs      []string `json:"turnIds"`
	MessageCount int      `json:"messageCount"`
}

// CompactionLosses is what a summary does not mention of what it stands for.
type CompactionLosses struct {
	FilesChanged    []string `json:"filesChanged"`
	CommandsRun     []string `json:"commandsRun"`
	Decisions       []string `json:"decisions"`
	OpenQuestions   []string `json:"openQuestions"`
	UserConstraints []string `json:"userConstraints"`
}

// ThreadCompactCommitParams makes the compaction of a draft, with the client's text where
// it gives one.
type ThreadCompactCommitParams struct {
	DraftID string  `json:"draftId"`
	Text    *string `json:"text,omitempty"`
}

// ThreadCompactCommitResponse tells the trim point of the compaction, null for one that
// only masks outputs, and the provider session that the next model request opens.
type ThreadCompactCommitResponse struct {
	Revision  int64        `json:"revision"`
	TrimPoint *TrimPoint   `json:"trimPoint"`
	SessionID string       `json:"sessionId"`
	Usage     ContextUsage `json:"usage"`
}
