package protocol

// TrimPoint is a boundary in a thread. The model does not receive the items before it, except
// pinned items and, after a compaction, messages of the user. Clients can read them.
type TrimPoint struct {
	ID string `json:"id"`
	// CreatedAt is in Unix seconds.
	CreatedAt int64 `json:"createdAt"`
	// BeforeEntryID is the last thread item before the boundary, or null.
	BeforeEntryID *string `json:"beforeEntryId"`
	// FirstKeptItemID is the first thread item after the boundary, or null.
	FirstKeptItemID *string `json:"firstKeptItemId"`
	// PrunedMessageCount is the number of messages that this point removed from the context.
	PrunedMessageCount int `json:"prunedMessageCount"`
	// PrunedTurnIDs are the turns that this point removed from the context, without the turns of
	// earlier points.
	PrunedTurnIDs []string `json:"prunedTurnIds"`
	// Summary replaces the removed items, or is null.
	Summary *string `json:"summary"`
	// Reason is trim for a request, compaction for a compaction, or historyLimit if the context had
	// more turns than history.maxSize permits.
	Reason string `json:"reason" oneof:"trim compaction historyLimit"`
}

// The reasons for a TrimPoint: a request, a compaction, or a context with more turns than
// history.maxSize permits.
const (
	TrimAsked        = "trim"
	TrimCompaction   = "compaction"
	TrimHistoryLimit = "historyLimit"
)

// SessionBootstrap is the initial content of a provider session.
type SessionBootstrap struct {
	// Kind is turns for the turns of TurnIDs, summary if a summary precedes them, and none if the
	// session is empty.
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

// ThreadContextTrimParams removes turns from the context.
type ThreadContextTrimParams struct {
	ThreadID string `json:"threadId"`
	// KeepLastNTurns is the number of last turns to keep. The default is 0.
	KeepLastNTurns *uint32 `json:"keepLastNTurns,omitempty"`
	// Summary replaces the removed turns.
	Summary *string `json:"summary,omitempty"`
	// ExpectedLastTurnID has the same meaning as in ThreadRevertParams.
	ExpectedLastTurnID *string `json:"expectedLastTurnId,omitempty"`
}

// ThreadContextTrimResponse has the new trim point.
type ThreadContextTrimResponse struct {
	TrimPoint TrimPoint `json:"trimPoint"`
	// SessionID is the provider session of the next model request.
	SessionID string `json:"sessionId"`
}

// ThreadContextSummarizeParams sets the summary of a trim point.
type ThreadContextSummarizeParams struct {
	ThreadID string `json:"threadId"`
	// TrimPointID is by default the latest trim point.
	TrimPointID *string `json:"trimPointId,omitempty"`
	Summary     string  `json:"summary"`
	// CompactDurationMs is the time that the client took to make the summary, in milliseconds.
	CompactDurationMs *uint32 `json:"compactDurationMs,omitempty"`
}

// ThreadContextSummarizeResponse has the trim point with its summary.
type ThreadContextSummarizeResponse struct {
	TrimPoint TrimPoint `json:"trimPoint"`
}

// ThreadTrimPointCreatedNotification reports a new trim point, or one that a redo restored.
type ThreadTrimPointCreatedNotification struct {
	ThreadID  string    `json:"threadId"`
	TrimPoint TrimPoint `json:"trimPoint"`
}

// NotificationMethod returns "thread/trimPoint/created".
func (ThreadTrimPointCreatedNotification) NotificationMethod() string {
	return "thread/trimPoint/created"
}

// ThreadTrimPointRemovedNotification reports that an undo or a restore removed a trim point.
type ThreadTrimPointRemovedNotification struct {
	ThreadID    string `json:"threadId"`
	TrimPointID string `json:"trimPointId"`
}

// NotificationMethod returns "thread/trimPoint/removed".
func (ThreadTrimPointRemovedNotification) NotificationMethod() string {
	return "thread/trimPoint/removed"
}

// ThreadSessionStopRequestedNotification reports that a provider session gets no more requests.
type ThreadSessionStopRequestedNotification struct {
	ThreadID  string `json:"threadId"`
	SessionID string `json:"sessionId"`
	// CreatedAt is in Unix seconds.
	CreatedAt int64 `json:"createdAt"`
}

// NotificationMethod returns "thread/session/stopRequested".
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

// NotificationMethod returns "thread/session/started".
func (ThreadSessionStartedNotification) NotificationMethod() string { return "thread/session/started" }

// ThreadContextSummarizedNotification reports the new summary of a trim point.
type ThreadContextSummarizedNotification struct {
	ThreadID    string `json:"threadId"`
	TrimPointID string `json:"trimPointId"`
	// Summary is null if the summary was removed.
	Summary *string `json:"summary"`
	// CompactDurationMs is the time that it took to make the summary, in milliseconds, or null if
	// unknown.
	CompactDurationMs *int64 `json:"compactDurationMs"`
}

// NotificationMethod returns "thread/context/summarized".
func (ThreadContextSummarizedNotification) NotificationMethod() string {
	return "thread/context/summarized"
}
