package protocol

// ThreadArchiveParams moves a thread, loaded or not, to the archive. It must have no turn
// under way.
type ThreadArchiveParams struct {
	ThreadID string `json:"threadId"`
}

// ThreadUnarchiveParams brings a thread back from the archive.
type ThreadUnarchiveParams struct {
	ThreadID string `json:"threadId"`
}

// ThreadUnarchiveResponse shows the thread, which is not loaded, without its turns.
type ThreadUnarchiveResponse struct {
	Thread Thread `json:"thread"`
}

// ThreadArchiveAndNewParams archives a thread and begins another that has its settings
// and instructions, but neither its history nor its name. NewThreadID is the new thread's
// id, a lower-case UUID that no thread has; by default the server chooses one.
type ThreadArchiveAndNewParams struct {
	ThreadID    string  `json:"threadId"`
	NewThreadID *string `json:"newThreadId,omitempty"`
}

// ThreadArchiveAndNewResponse shows the new thread, which is loaded; the caller and all
// subscribers of the old one are subscribed to it.
type ThreadArchiveAndNewResponse struct {
	ArchivedThreadID string `json:"archivedThreadId"`
	Thread           Thread `json:"thread"`
}
