package protocol

// ThreadCompactStartParams compacts a thread's context.
type ThreadCompactStartParams struct {
	ThreadID string `json:"threadId"`
	// Strategy is by default the configured one. summary requests a summary from the model,
	// userMessages keeps the user's messages only, mask replaces old tool outputs by placeholders,
	// and local extracts facts without the model.
	Strategy *string `json:"strategy,omitempty" oneof:"summary userMessages mask local"`
}

// The strategies of a compaction: a summary by the model, the user's messages only, placeholders for
// old tool outputs, and an extract of facts without the model.
const (
	CompactSummary      = "summary"
	CompactUserMessages = "userMessages"
	CompactMask         = "mask"
	CompactLocal        = "local"
)

// ContextCompactedNotification reports a compaction.
type ContextCompactedNotification struct {
	ThreadID string `json:"threadId"`
	// TurnID is the turn in which the compaction happened, or the last turn.
	TurnID string `json:"turnId"`
	// OldTokenCount is the cost of the next model request before the compaction, in tokens.
	OldTokenCount int64 `json:"oldTokenCount"`
	// NewTokenCount is the cost of the next model request after the compaction, in tokens.
	NewTokenCount int64 `json:"newTokenCount"`
	// Strategy is the strategy that succeeded. It can differ from the first one.
	Strategy string `json:"strategy" oneof:"summary userMessages mask local"`

	// RulesAdded are the rules of the user that were added to the summary because it lacked them.
	// It is absent if empty.
	RulesAdded []string `json:"rulesAdded,omitempty"`
	// Losses are the other facts of the replaced items that the summary does not mention, up to
	// 2,000 tokens. It is absent if empty.
	Losses []CompactionLoss `json:"losses,omitempty"`
	// LossesOmitted is the number of losses beyond the limit. It is absent if 0.
	LossesOmitted int `json:"lossesOmitted,omitempty"`
}

// NotificationMethod returns "thread/compacted".
func (ContextCompactedNotification) NotificationMethod() string { return "thread/compacted" }

// ThreadCompactProposeParams requests the draft of a compaction.
type ThreadCompactProposeParams struct {
	ThreadID string `json:"threadId"`
	// Strategy is by default the configured one.
	Strategy *string `json:"strategy,omitempty" oneof:"summary userMessages mask local"`
	// Range selects the turns to replace. By default, the draft replaces the same items as
	// thread/compact/start.
	Range *PruneRange `json:"range,omitempty"`
}

// ThreadCompactProposeResponse is the draft of a compaction. The draft is valid until the context
// changes. It is in memory only, and a newer draft replaces it. A failed request for a summary is
// not retried.
type ThreadCompactProposeResponse struct {
	DraftID  string `json:"draftId"`
	Revision int64  `json:"revision"`
	Strategy string `json:"strategy" oneof:"summary userMessages mask local"`
	// Summary is the replacement of the items. If the model's summary lacks rules of the user, they
	// follow at its end. It is empty for the strategy mask.
	Summary string `json:"summary"`
	// Replaces are the items to replace.
	Replaces CompactionScope `json:"replaces"`
	// TokensBefore is the cost of the next model request without the compaction, in tokens.
	TokensBefore int64 `json:"tokensBefore"`
	// TokensAfter is the cost of the next model request with the compaction, in tokens.
	TokensAfter int64 `json:"tokensAfter"`
	// Losses are the facts of the replaced items that the summary does not mention, up to 2,000
	// tokens.
	Losses CompactionLosses `json:"losses"`
	// LossDetails has the same facts with their items.
	LossDetails []CompactionLoss `json:"lossDetails"`
	// Warning is the reason if the strategy is not the requested one, and null otherwise.
	Warning *string `json:"warning"`

	// RulesAdded are the rules of the user that were added to the summary. It is absent if empty.
	RulesAdded []string `json:"rulesAdded,omitempty"`
	// LossesOmitted is the number of losses beyond the limit. It is absent if 0.
	LossesOmitted int `json:"lossesOmitted,omitempty"`
}

// ThreadCompactDeltaNotification has the next piece of the summary that the model writes for a draft.
type ThreadCompactDeltaNotification struct {
	ThreadID string `json:"threadId"`
	DraftID  string `json:"draftId"`
	Delta    string `json:"delta"`
}

// NotificationMethod returns "thread/compact/delta".
func (ThreadCompactDeltaNotification) NotificationMethod() string { return "thread/compact/delta" }

// ThreadCompactCancelParams drops the draft of a compaction. A pending request for the draft is
// rejected.
type ThreadCompactCancelParams struct {
	ThreadID string `json:"threadId"`
}

// ThreadCompactCancelResponse reports whether there was a draft.
type ThreadCompactCancelResponse struct {
	Cancelled bool `json:"cancelled"`
}

// CompactionScope has the items that a compaction removes from the context, and the turns and
// messages that contain them.
type CompactionScope struct {
	ItemIDs      []string `json:"itemIds"`
	TurnIDs      []string `json:"turnIds"`
	MessageCount int      `json:"messageCount"`
}

// CompactionLosses has the facts of the replaced items that a summary does not mention.
type CompactionLosses struct {
	FilesChanged    []string `json:"filesChanged"`
	CommandsRun     []string `json:"commandsRun"`
	Decisions       []string `json:"decisions"`
	OpenQuestions   []string `json:"openQuestions"`
	UserConstraints []string `json:"userConstraints"`
}

// CompactionLoss is a fact that a compaction loses.
type CompactionLoss struct {
	Kind string `json:"kind" oneof:"fileChanged commandRun decision openQuestion userConstraint"`
	Text string `json:"text"`
	// ItemIDs are the last items that state the fact, at most 20.
	ItemIDs []string `json:"itemIds"`
}

// ThreadCompactCommitParams applies the draft of a compaction.
type ThreadCompactCommitParams struct {
	DraftID string `json:"draftId"`
	// Text replaces the summary of the draft, unless it is null. A rule of the user that Text lacks
	// is added to it, unless the draft listed the rule below "Rules of the user:".
	Text *string `json:"text,omitempty"`
}

// ThreadCompactCommitResponse is the result of a compaction.
type ThreadCompactCommitResponse struct {
	Revision int64 `json:"revision"`
	// TrimPoint is null if the compaction only masked outputs.
	TrimPoint *TrimPoint `json:"trimPoint"`
	// SessionID is the provider session of the next model request.
	SessionID string       `json:"sessionId"`
	Usage     ContextUsage `json:"usage"`
}
