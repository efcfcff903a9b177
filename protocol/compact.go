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

// ContextCompactedNotification reports a compaction: the cost of the next model request before and
// after it, in tokens, and the strategy. The strategy can differ from the one that was tried first.
// TurnID is the turn in which the compaction happened, or the last turn. RulesAdded are the rules of the
// user that were added to the summary because it did not keep them. Losses are the other facts of the
// replaced items that it does not mention, within 2,000 tokens; LossesOmitted counts those beyond. The
// three are absent if they are empty.
type ContextCompactedNotification struct {
	ThreadID      string `json:"threadId"`
	TurnID        string `json:"turnId"`
	OldTokenCount int64  `json:"oldTokenCount"`
	NewTokenCount int64  `json:"newTokenCount"`
	Strategy      string `json:"strategy" oneof:"summary userMessages mask local"`

	RulesAdded    []string         `json:"rulesAdded,omitempty"`
	Losses        []CompactionLoss `json:"losses,omitempty"`
	LossesOmitted int              `json:"lossesOmitted,omitempty"`
}

// NotificationMethod is thread/compacted.
func (ContextCompactedNotification) NotificationMethod() string { return "thread/compacted" }

// ThreadCompactProposeParams requests the draft of a compaction. Range selects the turns to replace.
// Without it, the draft replaces the same items as thread/compact/start.
type ThreadCompactProposeParams struct {
	ThreadID string      `json:"threadId"`
	Strategy *string     `json:"strategy,omitempty" oneof:"summary userMessages mask local"`
	Range    *PruneRange `json:"range,omitempty"`
}

// ThreadCompactProposeResponse is the draft of a compaction: the items to replace, their replacement,
// the cost of the next model request before and after, in tokens, and the facts of the replaced turns
// that the summary does not mention. LossDetails has the same facts with their items. Both are within
// 2,000 tokens; LossesOmitted counts the facts beyond and is absent if there are none. Summary has the rules
// of the user that the summary lacked at its end; RulesAdded repeats them and is absent if there are none.
// Summary is empty for the strategy mask. Warning is the reason if the strategy is not the requested one. The draft is
// valid until the context changes. It is in memory only, and a newer draft replaces it. A failed
// request for a summary is not retried.
type ThreadCompactProposeResponse struct {
	DraftID      string           `json:"draftId"`
	Revision     int64            `json:"revision"`
	Strategy     string           `json:"strategy" oneof:"summary userMessages mask local"`
	Summary      string           `json:"summary"`
	Replaces     CompactionScope  `json:"replaces"`
	TokensBefore int64            `json:"tokensBefore"`
	TokensAfter  int64            `json:"tokensAfter"`
	Losses       CompactionLosses `json:"losses"`
	LossDetails  []CompactionLoss `json:"lossDetails"`
	Warning      *string          `json:"warning"`

	RulesAdded    []string `json:"rulesAdded,omitempty"`
	LossesOmitted int      `json:"lossesOmitted,omitempty"`
}

// ThreadCompactDeltaNotification has the next piece of the summary that the model writes for a draft.
type ThreadCompactDeltaNotification struct {
	ThreadID string `json:"threadId"`
	DraftID  string `json:"draftId"`
	Delta    string `json:"delta"`
}

// NotificationMethod is thread/compact/delta.
func (ThreadCompactDeltaNotification) NotificationMethod() string { return "thread/compact/delta" }

// ThreadCompactCancelParams drops the draft of a compaction. A request for it that waits is rejected.
type ThreadCompactCancelParams struct {
	ThreadID string `json:"threadId"`
}

// ThreadCompactCancelResponse reports whether there was a draft.
type ThreadCompactCancelResponse struct {
	Cancelled bool `json:"cancelled"`
}

// CompactionScope has the items that a compaction removes from the context, by their ids, and the
// turns and messages that contain them.
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

// CompactionLoss is a fact that a compaction loses, with the ids of the last items, at most 20, that state it.
type CompactionLoss struct {
	Kind    string   `json:"kind" oneof:"fileChanged commandRun decision openQuestion userConstraint"`
	Text    string   `json:"text"`
	ItemIDs []string `json:"itemIds"`
}

// ThreadCompactCommitParams commits the draft of a compaction. Text, if not null, replaces its summary. A rule
// of the user that Text does not keep is added to it, unless the draft listed the rule below "Rules of the
// user:".
type ThreadCompactCommitParams struct {
	DraftID string  `json:"draftId"`
	Text    *string `json:"text,omitempty"`
}

// ThreadCompactCommitResponse has the trim point of the compaction, or null if it only masked outputs,
// and the provider session of the next model request.
type ThreadCompactCommitResponse struct {
	Revision  int64        `json:"revision"`
	TrimPoint *TrimPoint   `json:"trimPoint"`
	SessionID string       `json:"sessionId"`
	Usage     ContextUsage `json:"usage"`
}
