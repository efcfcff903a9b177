package protocol

// ThreadArchiveParams moves a thread, loaded or not, to the archive. The thread must have no active
// turn.
type ThreadArchiveParams struct {
	ThreadID string `json:"threadId"`
}

// ThreadUnarchiveParams moves a thread back from the archive.
type ThreadUnarchiveParams struct {
	ThreadID string `json:"threadId"`
}

// ThreadUnarchiveResponse has the thread, which is not loaded, without its turns.
type ThreadUnarchiveResponse struct {
	Thread Thread `json:"thread"`
}

// ThreadArchiveAndNewParams archives a thread and starts another one with its settings and
// instructions, but without its history and its name.
type ThreadArchiveAndNewParams struct {
	ThreadID string `json:"threadId"`
	// NewThreadID is the id of the new thread, an unused lower-case UUID. By default, the server
	// chooses one.
	NewThreadID *string `json:"newThreadId,omitempty"`
}

// ThreadArchiveAndNewResponse has the new thread, which is loaded. The caller and all subscribers
// of the old thread are subscribed to it.
type ThreadArchiveAndNewResponse struct {
	ArchivedThreadID string `json:"archivedThreadId"`
	Thread           Thread `json:"thread"`
}
