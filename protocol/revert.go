package protocol

// ThreadRevertParams takes a turn, and all behind it, out of a thread that has no turn
// under way. Files that the turns changed stay as they are.
type ThreadRevertParams struct {
	ThreadID     string `json:"threadId"`
	BeforeTurnID string `json:"beforeTurnId"`
}

// ThreadRevertResponse shows the thread without its turns. The cursors are those
// of ThreadResumeResponse.
type ThreadRevertResponse struct {
	Thread               Thread  `json:"thread"`
	TurnsBackwardsCursor *string `json:"turnsBackwardsCursor"`
	ItemsBackwardsCursor *string `json:"itemsBackwardsCursor"`
}

// ThreadRollbackParams takes the last turns out of a thread, all where there are no more.
type ThreadRollbackParams struct {
	ThreadID string `json:"threadId"`
	NumTurns uint32 `json:"numTurns"`
}

// ThreadRollbackResponse shows the thread with the turns that are left.
type ThreadRollbackResponse struct {
	Thread Thread `json:"thread"`
}

// ThreadRevertedNotification tells that a thread has lost its last turns.
type ThreadRevertedNotification struct {
	ThreadID string `json:"threadId"`
}

// NotificationMethod is thread/reverted.
func (ThreadRevertedNotification) NotificationMethod() string { return "thread/reverted" }

// ThreadRolledBack keeps that the last turns were taken out of a thread. Revision, which
// this server writes, is that of the context from then on.
type ThreadRolledBack struct {
	Type     string `json:"type"`
	NumTurns uint32 `json:"num_turns"`
	Revision int64  `json:"revision,omitempty"`
}

// EventRolledBack is the type of a ThreadRolledBack.
const EventRolledBack = "thread_rolled_back"
