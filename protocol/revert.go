package protocol

// ThreadRevertParams removes a turn and all later turns from a thread without an active turn. The
// files that the turns changed stay unchanged.
type ThreadRevertParams struct {
	ThreadID string `json:"threadId"`
	// BeforeTurnID is the first turn to remove.
	BeforeTurnID string `json:"beforeTurnId"`
	// ExpectedLastTurnID, if not null, must be the last turn of the thread. Otherwise the request
	// is rejected with kind staleTurn, and the error has the id of the last turn.
	ExpectedLastTurnID *string `json:"expectedLastTurnId,omitempty"`
}

// ThreadRevertResponse has the thread without its turns. The cursors have the same meaning as in
// ThreadResumeResponse.
type ThreadRevertResponse struct {
	Thread               Thread  `json:"thread"`
	TurnsBackwardsCursor *string `json:"turnsBackwardsCursor"`
	ItemsBackwardsCursor *string `json:"itemsBackwardsCursor"`
	// RemovedTurnIDs are the turns that were removed, in order.
	RemovedTurnIDs []string `json:"removedTurnIds"`
}

// ThreadRevertUndoParams restores the turns that the last revert or rollback removed. It is
// rejected with kind nothingToUndo if a turn has begun since, or if other items joined the context.
type ThreadRevertUndoParams struct {
	ThreadID string `json:"threadId"`
	// ExpectedTurnID, if not null, must be the first turn to restore. Otherwise the request is
	// rejected with kind staleTurn, and the error has the id of that turn.
	ExpectedTurnID *string `json:"expectedTurnId,omitempty"`
}

// ThreadRevertUndoResponse has the members of ThreadRevertResponse. A thread/reverted notification
// follows, so that clients read the turns again.
type ThreadRevertUndoResponse struct {
	Thread               Thread  `json:"thread"`
	TurnsBackwardsCursor *string `json:"turnsBackwardsCursor"`
	ItemsBackwardsCursor *string `json:"itemsBackwardsCursor"`
	// RestoredTurnIDs are the restored turns, in order.
	RestoredTurnIDs []string `json:"restoredTurnIds"`
}

// ThreadRollbackParams removes the last turns of a thread.
type ThreadRollbackParams struct {
	ThreadID string `json:"threadId"`
	// NumTurns is the number of turns to remove. If it is greater than the number of turns, all are
	// removed.
	NumTurns uint32 `json:"numTurns"`
	// ExpectedLastTurnID has the same meaning as in ThreadRevertParams.
	ExpectedLastTurnID *string `json:"expectedLastTurnId,omitempty"`
}

// ThreadRollbackResponse has the thread with the remaining turns.
type ThreadRollbackResponse struct {
	Thread Thread `json:"thread"`
}

// StoredSize returns the approximate memory of a response with stored items, in bytes, or 0 without
// them.
func (r ThreadRollbackResponse) StoredSize() int { return storedSize(r.Thread.Turns) }

// AppendParts appends the output of Marshal, and flushes it in parts. It returns an UnreadError for
// an unreadable item.
func (r ThreadRollbackResponse) AppendParts(b []byte, flush Flush) ([]byte, error) {
	turns := takeTurns(&r.Thread)
	return appendChanged(b, r, turns, flush)
}

// ThreadRevertedNotification reports that the last turns of a thread were removed, or that an undo
// restored them.
type ThreadRevertedNotification struct {
	ThreadID string `json:"threadId"`
}

// NotificationMethod returns "thread/reverted".
func (ThreadRevertedNotification) NotificationMethod() string { return "thread/reverted" }

// ThreadRolledBack is the event that the last turns of a thread were removed. Only this server
// writes it.
type ThreadRolledBack struct {
	Type     string `json:"type"`
	NumTurns uint32 `json:"num_turns"`
	// Revision is the new revision of the context.
	Revision int64 `json:"revision,omitempty"`
}

// EventRolledBack is the type of a ThreadRolledBack.
const EventRolledBack = "thread_rolled_back"
