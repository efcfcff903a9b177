package protocol

// ThreadRevertParams takes a turn, and all behind it, out of a thread that has no turn
// under way. Files that the turns changed stay as they are.
type ThreadRevertParams struct {
	ThreadID     string `json:"threadId"`
	BeforeTurnID string `json:"beforeTurnId"`
}

// ThreadRevertResponse has the thread without its turns. The cursors have the meaning of
// ThreadResumeResponse.
type ThreadRevertResponse struct {
	Thread               Thread  `json:"thread"`
	TurnsBackwardsCursor *string `json:"turnsBackwardsCursor"`
	ItemsBackwardsCursor *string `json:"itemsBackwardsCursor"`
}

// ThreadRollbackParams removes the last turns of a thread, at most all.
type ThreadRollbackParams struct {
	ThreadID string `json:"threadId"`
	NumTurns uint32 `json:"numTurns"`
}

// ThreadRollbackResponse shows the thread with the turns that are left.
type ThreadRollbackResponse struct {
	Thread Thread `json:"thread"`
}

// ThreadRevertedNotification reports that the last turns of a thread were removed.
type ThreadRevertedNotification struct {
	ThreadID string `json:"threadId"`
}

// NotificationMethod is thread/reverted.
func (ThreadRevertedNotification) NotificationMethod() string { return "thread/reverted" }

// ThreadRolledBack stores that the last turns of a thread were removed. Revision is the new revision
// of the context. Only this server writes it.
type ThreadRolledBack struct {
	Type     string `json:"type"`
	NumTurns uint32 `json:"num_turns"`
	Revision int64  `json:"revision,omitempty"`
}

// EventRolledBack is the type of a ThreadRolledBack.
const EventRolledBack = "thread_rolled_back"
