package protocol

import "reflect"

// Notification is a message to the client that wants no answer.
type Notification interface {
	// NotificationMethod is the method that the notification is sent under.
	NotificationMethod() string
}

// ThreadStartedNotification tells of a new thread, after the answer to thread/start.
type ThreadStartedNotification struct {
	Thread Thread `json:"thread"`
}

// NotificationMethod is thread/started.
func (ThreadStartedNotification) NotificationMethod() string { return "thread/started" }

// ThreadStatusChangedNotification tells that a thread went to work, waits for the
// user, has nothing more to do, or is not loaded any more.
type ThreadStatusChangedNotification struct {
	ThreadID string       `json:"threadId"`
	Status   ThreadStatus `json:"status"`
}

// NotificationMethod is thread/status/changed.
func (ThreadStatusChangedNotification) NotificationMethod() string { return "thread/status/changed" }

// ThreadClosedNotification tells that a thread was unloaded. It can be resumed.
type ThreadClosedNotification struct {
	ThreadID string `json:"threadId"`
}

// NotificationMethod is thread/closed.
func (ThreadClosedNotification) NotificationMethod() string { return "thread/closed" }

// ThreadArchivedNotification tells that a thread was moved to the archive. It can be
// read, and is neither resumed nor changed before it is unarchived.
type ThreadArchivedNotification struct {
	ThreadID string `json:"threadId"`
}

// NotificationMethod is thread/archived.
func (ThreadArchivedNotification) NotificationMethod() string { return "thread/archived" }

// ThreadUnarchivedNotification tells that a thread is back from the archive. It is not
// loaded.
type ThreadUnarchivedNotification struct {
	ThreadID string `json:"threadId"`
}

// NotificationMethod is thread/unarchived.
func (ThreadUnarchivedNotification) NotificationMethod() string { return "thread/unarchived" }

// ThreadArchivedAndNewCreatedNotification tells which thread took the place of which. It
// follows thread/started of the new one and thread/archived of the old one.
type ThreadArchivedAndNewCreatedNotification struct {
	ArchivedThreadID string `json:"archivedThreadId"`
	NewThreadID      string `json:"newThreadId"`
}

// NotificationMethod is thread/archivedAndNewCreated.
func (ThreadArchivedAndNewCreatedNotification) NotificationMethod() string {
	return "thread/archivedAndNewCreated"
}

// ThreadNameUpdatedNotification tells of a thread's new name.
type ThreadNameUpdatedNotification struct {
	ThreadID   string `json:"threadId"`
	ThreadName string `json:"threadName"`
}

// NotificationMethod is thread/name/updated.
func (ThreadNameUpdatedNotification) NotificationMethod() string { return "thread/name/updated" }

// ThreadTokenUsageUpdatedNotification tells what the last model request cost, and
// what all of the thread have.
type ThreadTokenUsageUpdatedNotification struct {
	ThreadID   string           `json:"threadId"`
	TurnID     string           `json:"turnId"`
	TokenUsage ThreadTokenUsage `json:"tokenUsage"`
}

// NotificationMethod is thread/tokenUsage/updated.
func (ThreadTokenUsageUpdatedNotification) NotificationMethod() string {
	return "thread/tokenUsage/updated"
}

// TurnStartedNotification tells that a turn began, after the answer to turn/start.
type TurnStartedNotification struct {
	ThreadID string `json:"threadId"`
	Turn     Turn   `json:"turn"`
}

// NotificationMethod is turn/started.
func (TurnStartedNotification) NotificationMethod() string { return "turn/started" }

// TurnCompletedNotification tells that a turn ended. It is sent once per turn, and
// nothing of the turn follows it. Its items are the agent's last message at most. Metadata
// is left out where the turn changed no file.
type TurnCompletedNotification struct {
	ThreadID string        `json:"threadId"`
	Turn     Turn          `json:"turn"`
	Metadata *TurnMetadata `json:"metadata,omitempty"`
}

// NotificationMethod is turn/completed.
func (TurnCompletedNotification) NotificationMethod() string { return "turn/completed" }

// TurnPlanUpdatedNotification tells the whole of the agent's plan as it is now.
type TurnPlanUpdatedNotification struct {
	ThreadID    string         `json:"threadId"`
	TurnID      string         `json:"turnId"`
	Explanation *string        `json:"explanation"`
	Plan        []TurnPlanStep `json:"plan"`
}

// NotificationMethod is turn/plan/updated.
func (TurnPlanUpdatedNotification) NotificationMethod() string { return "turn/plan/updated" }

// TurnPlanStep is a step of a plan.
type TurnPlanStep struct {
	Step   string `json:"step"`
	Status string `json:"status" oneof:"pending inProgress completed"`
}

// ItemStartedNotification tells that an item began. StartedAtMs is in Unix
// milliseconds.
type ItemStartedNotification struct {
	Item        ThreadItem `json:"item"`
	ThreadID    string     `json:"threadId"`
	TurnID      string     `json:"turnId"`
	StartedAtMs int64      `json:"startedAtMs"`
}

// NotificationMethod is item/started.
func (ItemStartedNotification) NotificationMethod() string { return "item/started" }

// ItemCompletedNotification tells that an item is final, and durable.
// CompletedAtMs is in Unix milliseconds; the token count is always null.
type ItemCompletedNotification struct {
	Item              ThreadItem `json:"item"`
	ThreadID          string     `json:"threadId"`
	TurnID            string     `json:"turnId"`
	ContentTokenCount *int64     `json:"contentTokenCount"`
	CompletedAtMs     int64      `json:"completedAtMs"`
}

// NotificationMethod is item/completed.
func (ItemCompletedNotification) NotificationMethod() string { return "item/completed" }

// ServerRequestResolvedNotification tells that a request of the server needs no
// answer any more: it was answered, or its turn ended. RequestID is the id that the
// request was sent with.
type ServerRequestResolvedNotification struct {
	ThreadID  string `json:"threadId"`
	RequestID uint64 `json:"requestId"`
}

// NotificationMethod is serverRequest/resolved.
func (ServerRequestResolvedNotification) NotificationMethod() string { return "serverRequest/resolved" }

// WarningNotification is for the user to read. ThreadID is null for what concerns
// no thread in particular.
type WarningNotification struct {
	ThreadID *string `json:"threadId"`
	Message  string  `json:"message"`
}

// NotificationMethod is warning.
func (WarningNotification) NotificationMethod() string { return "warning" }

// ConfigWarningNotification tells of a setting without effect, to each client that
// connects. Path is the configuration file's, left out where the setting comes from
// elsewhere.
type ConfigWarningNotification struct {
	Summary string  `json:"summary"`
	Details *string `json:"details"`
	Path    *string `json:"path,omitempty"`
}

// NotificationMethod is configWarning.
func (ConfigWarningNotification) NotificationMethod() string { return "configWarning" }

// DeprecationNoticeNotification names a deprecated setting of a thread that was loaded for the
// client. Details say what the user can do, or are null.
type DeprecationNoticeNotification struct {
	Summary string  `json:"summary"`
	Details *string `json:"details"`
}

// NotificationMethod is deprecationNotice.
func (DeprecationNoticeNotification) NotificationMethod() string { return "deprecationNotice" }

// ErrorNotification tells of a failed model request. Where WillRetry is false the
// turn fails, and turn/completed follows with the same error.
type ErrorNotification struct {
	Error     TurnError `json:"error"`
	WillRetry bool      `json:"willRetry"`
	ThreadID  string    `json:"threadId"`
	TurnID    string    `json:"turnId"`
}

// NotificationMethod is error.
func (ErrorNotification) NotificationMethod() string { return "error" }

// NotificationRow is a notification that the server sends: its method, the struct
// that its params have, and one line of documentation.
type NotificationRow struct {
	Method string
	Params reflect.Type
	Doc    string
	// Own is set where the reference implementation does not have it.
	Own bool
}

func (r NotificationRow) own() NotificationRow {
	r.Own = true
	return r
}

func notification[N Notification](doc string) NotificationRow {
	var n N
	t := reflect.TypeFor[N]()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
		n = reflect.New(t).Interface().(N)
	}
	return NotificationRow{Method: n.NotificationMethod(), Params: t, Doc: doc}
}

// Notifications lists everything the server tells unasked.
func Notifications() []NotificationRow {
	return []NotificationRow{
		notification[ThreadStartedNotification]("A thread started."),
		notification[ThreadStatusChangedNotification]("The status of a thread changed: active, waiting, idle or not loaded."),
		notification[ThreadNameUpdatedNotification]("A thread has a new name."),
		notification[ThreadClosedNotification]("A thread was unloaded."),
		notification[ThreadDeletedNotification]("A thread was deleted."),
		notification[ThreadRevertedNotification]("The last turns of a thread were removed."),
		notification[ThreadArchivedNotification]("A thread was archived."),
		notification[ThreadUnarchivedNotification]("A thread was unarchived."),
		notification[ThreadArchivedAndNewCreatedNotification]("A thread replaced an archived one.").own(),
		notification[TurnStartedNotification]("A turn started."),
		notification[TurnPlanUpdatedNotification]("The agent's plan changed."),
		notification[TurnDiffUpdatedNotification]("The diff of the turn so far."),
		notification[ItemStartedNotification]("An item started."),
		notification[*AgentMessageDeltaNotification]("A piece of an agent message."),
		notification[*PlanDeltaNotification]("A piece of a plan that the agent proposes."),
		notification[ReasoningSummaryPartAddedNotification]("A part of a reasoning summary starts."),
		notification[*ReasoningSummaryTextDeltaNotification]("A piece of a reasoning summary."),
		notification[*ReasoningTextDeltaNotification]("A piece of raw reasoning."),
		notification[*CommandExecutionOutputDeltaNotification]("A piece of a command's output."),
		notification[McpToolCallProgressNotification]("Progress of a tool of an MCP server."),
		notification[TerminalInteractionNotification]("The model wrote to a background command, or waits for it."),
		notification[ItemCompletedNotification]("An item is final and durable."),
		notification[ThreadTokenUsageUpdatedNotification]("The token usage of the last model request."),
		notification[ServerRequestResolvedNotification]("A request of the server needs no response anymore."),
		notification[ErrorNotification]("A model request failed."),
		notification[TurnCompletedNotification]("A turn ended."),
		notification[ContextItemsNotification]("The context changed.").own(),
		notification[ContextCompactedNotification]("The context was compacted."),
		notification[ThreadTrimPointCreatedNotification]("A trim point was created. Items before it are not sent to the model.").own(),
		notification[ThreadTrimPointRemovedNotification]("A trim point was removed.").own(),
		notification[ThreadSessionStopRequestedNotification]("A provider session gets no more requests.").own(),
		notification[ThreadSessionStartedNotification]("A provider session starts with the next model request.").own(),
		notification[ThreadContextSummarizedNotification]("The summary of a trim point changed.").own(),
		notification[ThreadIndexProgressNotification]("Progress of indexing rollouts for lists and searches.").own(),
		notification[MemoryUpdatedNotification]("The memory has new summaries of a thread.").own(),
		notification[MemoryIndexProgressNotification]("Progress of indexing a repository's files for the memory.").own(),
		notification[McpServerStatusUpdatedNotification]("The state of a thread's connection to an MCP server changed."),
		notification[SkillsChangedNotification]("The result of skills/list changed."),
		notification[FsChangedNotification]("A watched path changed."),
		notification[FuzzyFileSearchSessionUpdatedNotification]("The results of a search session so far."),
		notification[FuzzyFileSearchSessionCompletedNotification]("A search session has searched all files."),
		notification[CommandExecOutputDeltaNotification]("A piece of the output of a command without a thread."),
		notification[WarningNotification]("A message that the user should read."),
		notification[ConfigWarningNotification]("A setting has no effect."),
		notification[DeprecationNoticeNotification]("A setting is deprecated."),
	}
}
