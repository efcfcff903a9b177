package protocol

// TrimPoint is a boundary in a thread. The model does not receive the items before it, but clients can
// read them. It still receives pinned items and, after a compaction, messages of the user. CreatedAt
// is in Unix seconds. BeforeEntryID is the last thread item before the boundary, FirstKeptItemID the
// first one after it, or null. PrunedMessageCount and PrunedTurnIDs count what this point removed from
// the context, without the turns of earlier points. Summary replaces them, or is null.
type TrimPoint struct {
	ID                 string   `json:"id"`
	CreatedAt          int64    `json:"createdAt"`
	BeforeEntryID      *string  `json:"beforeEntryId"`
	FirstKeptItemID    *string  `json:"firstKeptItemId"`
	PrunedMessageCount int      `json:"prunedMessageCount"`
	PrunedTurnIDs      []string `json:"prunedTurnIds"`
	Summary            *string  `json:"summary"`
	Reason             string   `json:"reason" oneof:"trim compaction historyLimit"`
}

// The reasons for a TrimPoint: somebody asked for it, it came with a compaction, or the
// context held more turns than history.maxSize allows.
const (
	TrimAsked        = "trim"
	TrimCompaction   = "compaction"
	TrimHistoryLimit = "historyLimit"
)

// SessionBootstrap is the initial content of a provider session. Kind is turns for the turns of
// TurnIDs, summary if a summary precedes them, and none if it is empty.
type SessionBootstrap struct {
	Kind    string   `json:"kind" oneof:"turns summary none"`
	TurnIDs []string `json:"turnIds"`
	Summary *string  `json:"summary"`
}

// The kinds of a SessionBootstrap.
const (
	BootstrapTurns   = "turns"
	BootstrapSummary = "summary"
	BootstrapNone    = "none"
)

// ThreadContextTrimParams takes all turns but the last KeepLastNTurns out of the context;
// without a number, all of them. Summary is put in their place. ExpectedLastTurnID has the meaning of
// ThreadRevertParams.
type ThreadContextTrimParams struct {
	ThreadID           string  `json:"threadId"`
	KeepLastNTurns     *uint32 `json:"keepLastNTurns,omitempty"`
	Summary            *string `json:"summary,omitempty"`
	ExpectedLastTurnID *string `json:"expectedLastTurnId,omitempty"`
}

// ThreadContextTrimResponse has the new trim point, and the provider session of the next model
// request.
type ThreadContextTrimResponse struct {
	TrimPoint TrimPoint `json:"trimPoint"`
	SessionID string    `json:"sessionId"`
}

// ThreadContextSummarizeParams gives a trim point a summary. The default is the latest trim point.
// CompactDurationMs is the time that making the summary took.
type ThreadContextSummarizeParams struct {
	ThreadID          string  `json:"threadId"`
	TrimPointID       *string `json:"trimPointId,omitempty"`
	Summary           string  `json:"summary"`
	CompactDurationMs *uint32 `json:"compactDurationMs,omitempty"`
}

// ThreadContextSummarizeResponse is the trim point with its summary.
type ThreadContextSummarizeResponse struct {
	TrimPoint TrimPoint `json:"trimPoint"`
}

// ThreadTrimPointCreatedNotification reports a new trim point, or one that a redo restored.
type ThreadTrimPointCreatedNotification struct {
	ThreadID  string    `json:"threadId"`
	TrimPoint TrimPoint `json:"trimPoint"`
}

// NotificationMethod is thread/trimPoint/created.
func (ThreadTrimPointCreatedNotification) NotificationMethod() string {
	return "thread/trimPoint/created"
}

// ThreadTrimPointRemovedNotification reports that an undo or a restore removed a trim point.
type ThreadTrimPointRemovedNotification struct {
	ThreadID    string `json:"threadId"`
	TrimPointID string `json:"trimPointId"`
}

// NotificationMethod is thread/trimPoint/removed.
func (ThreadTrimPointRemovedNotification) NotificationMethod() string {
	return "thread/trimPoint/removed"
}

// ThreadSessionStopRequestedNotification reports that a provider session gets no more requests.
// CreatedAt is in Unix seconds.
type ThreadSessionStopRequestedNotification struct {
	ThreadID  string `json:"threadId"`
	SessionID string `json:"sessionId"`
	CreatedAt int64  `json:"createdAt"`
}

// NotificationMethod is thread/session/stopRequested.
func (ThreadSessionStopRequestedNotification) NotificationMethod() string {
	return "thread/session/stopRequested"
}

// ThreadSessionStartedNotification reports the provider session of the next model request, and its
// initial content.
type ThreadSessionStartedNotification struct {
	ThreadID  string           `json:"threadId"`
	SessionID string           `json:"sessionId"`
	Bootstrap SessionBootstrap `json:"bootstrap"`
}

// NotificationMethod is thread/session/started.
func (ThreadSessionStartedNotification) NotificationMethod() string { return "thread/session/started" }

// ThreadContextSummarizedNotification has the summary of a trim point, or null if it was removed, and
// the time that making it took, or null if unknown.
type ThreadContextSummarizedNotification struct {
	ThreadID          string  `json:"threadId"`
	TrimPointID       string  `json:"trimPointId"`
	Summary           *string `json:"summary"`
	CompactDurationMs *int64  `json:"compactDurationMs"`
}

// NotificationMethod is thread/context/summarized.
func (ThreadContextSummarizedNotification) NotificationMethod() string {
	return "thread/context/summarized"
}
