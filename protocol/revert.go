package protocol

// ThreadRevertParams takes a turn, and all behind it, out of a thread that has no turn
// under way. Files that the turns changed stay as they are. If the last turn of the thread is not
// ExpectedLastTurnID, the request is rejected with kind staleTurn, and the error has the last turn's id.
type ThreadRevertParams struct {
	ThreadID           string  `json:"threadId"`
	BeforeTurnID       string  `json:"beforeTurnId"`
	ExpectedLastTurnID *string `json:"expectedLastTurnId,omitempty"`
}

// ThreadRevertResponse has the thread without its turns. The cursors have the meaning of
// ThreadResumeResponse. RemovedTurnIDs are the turns that were removed, in order.
type ThreadRevertResponse struct {
	Thread               Thread   `json:"thread"`
	TurnsBackwardsCursor *string  `json:"turnsBackwardsCursor"`
	ItemsBackwardsCursor *string  `json:"itemsBackwardsCursor"`
	RemovedTurnIDs       []string `json:"removedTurnIds"`
}

// ThreadRevertUndoParams brings back the turns that the last revert or rollback removed. It is rejected with kind
// nothingToUndo if a turn has begun since, or if something else joined the context. If the first turn to come back is
// not ExpectedTurnID, it is rejected with kind staleTurn, and the error has the id of that turn.
type ThreadRevertUndoParams struct {
	ThreadID       string  `json:"threadId"`
	ExpectedTurnID *string `json:"expectedTurnId,omitempty"`
}

// ThreadRevertUndoResponse has the members of ThreadRevertResponse. RestoredTurnIDs are the turns that came back, in
// order. thread/reverted follows, so that clients read the turns again.
type ThreadRevertUndoResponse struct {
	Thread               Thread   `json:"thread"`
	TurnsBackwardsCursor *string  `json:"turnsBackwardsCursor"`
	ItemsBackwardsCursor *string  `json:"itemsBackwardsCursor"`
	RestoredTurnIDs      []string `json:"restoredTurnIds"`
}

// ThreadRollbackParams removes the last turns of a thread, at most all. ExpectedLastTurnID has the meaning of
// ThreadRevertParams.
type ThreadRollbackParams struct {
	ThreadID           string  `json:"threadId"`
	NumTurns           uint32  `json:"numTurns"`
	ExpectedLastTurnID *string `json:"expectedLastTurnId,omitempty"`
}

// ThreadRollbackResponse shows the thread with the turns that are left.
type ThreadRollbackResponse struct {
	Thread Thread `json:"thread"`
}

// StoredSize is about the memory of a response with stored items, in bytes, or 0 without them.
func (r ThreadRollbackResponse) StoredSize() int { return storedSize(r.Thread.Turns) }

// AppendParts appends what Marshal writes, and flushes it in parts. An unreadable item is an UnreadError.
func (r ThreadRollbackResponse) AppendParts(b []byte, flush Flush) ([]byte, error) {
	turns := takeTurns(&r.Thread)
	return appendChanged(b, r, turns, flush)
}

// ThreadRevertedNotification reports that the last turns of a thread were removed, or that an undo brought them back.
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
