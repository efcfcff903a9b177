package protocol

import "reflect"

// Notification is a message to the client without a response.
type Notification interface {
	// NotificationMethod returns the method of the notification.
	NotificationMethod() string
}

// ThreadStartedNotification reports a new thread. It follows the response to thread/start.
type ThreadStartedNotification struct {
	Thread Thread `json:"thread"`
}

// NotificationMethod returns "thread/started".
func (ThreadStartedNotification) NotificationMethod() string { return "thread/started" }

// ThreadStatusChangedNotification reports that a thread is active, waits for the user, is idle, or was
// unloaded.
type ThreadStatusChangedNotification struct {
	ThreadID string       `json:"threadId"`
	Status   ThreadStatus `json:"status"`
}

// NotificationMethod returns "thread/status/changed".
func (ThreadStatusChangedNotification) NotificationMethod() string { return "thread/status/changed" }

// ThreadClosedNotification reports that a thread was unloaded. It can be resumed.
type ThreadClosedNotification struct {
	ThreadID string `json:"threadId"`
}

// NotificationMethod returns "thread/closed".
func (ThreadClosedNotification) NotificationMethod() string { return "thread/closed" }

// ThreadArchivedNotification reports that a thread was archived. It can be read. It cannot be resumed
// or changed until it is unarchived.
type ThreadArchivedNotification struct {
	ThreadID string `json:"threadId"`
}

// NotificationMethod returns "thread/archived".
func (ThreadArchivedNotification) NotificationMethod() string { return "thread/archived" }

// ThreadUnarchivedNotification reports that a thread was unarchived. It is not loaded.
type ThreadUnarchivedNotification struct {
	ThreadID string `json:"threadId"`
}

// NotificationMethod returns "thread/unarchived".
func (ThreadUnarchivedNotification) NotificationMethod() string { return "thread/unarchived" }

// ThreadArchivedAndNewCreatedNotification reports that a new thread replaced an archived one. It
// follows thread/started of the new thread and thread/archived of the old one.
type ThreadArchivedAndNewCreatedNotification struct {
	ArchivedThreadID string `json:"archivedThreadId"`
	NewThreadID      string `json:"newThreadId"`
}

// NotificationMethod returns "thread/archivedAndNewCreated".
func (ThreadArchivedAndNewCreatedNotification) NotificationMethod() string {
	return "thread/archivedAndNewCreated"
}

// ThreadNameUpdatedNotification reports the new name of a thread.
type ThreadNameUpdatedNotification struct {
	ThreadID   string `json:"threadId"`
	ThreadName string `json:"threadName"`
}

// NotificationMethod returns "thread/name/updated".
func (ThreadNameUpdatedNotification) NotificationMethod() string { return "thread/name/updated" }

// ThreadTokenUsageUpdatedNotification reports the token usage of the last model request and of the
// whole thread.
type ThreadTokenUsageUpdatedNotification struct {
	ThreadID   string           `json:"threadId"`
	TurnID     string           `json:"turnId"`
	TokenUsage ThreadTokenUsage `json:"tokenUsage"`
}

// NotificationMethod returns "thread/tokenUsage/updated".
func (ThreadTokenUsageUpdatedNotification) NotificationMethod() string {
	return "thread/tokenUsage/updated"
}

// TurnStartedNotification reports that a turn began. It follows the response to turn/start.
type TurnStartedNotification struct {
	ThreadID string `json:"threadId"`
	Turn     Turn   `json:"turn"`
}

// NotificationMethod returns "turn/started".
func (TurnStartedNotification) NotificationMethod() string { return "turn/started" }

// TurnCompletedNotification reports that a turn ended. It is sent once per turn, and no
// notification of the turn follows it. The items of the turn are at most the agent's last message.
type TurnCompletedNotification struct {
	ThreadID string `json:"threadId"`
	Turn     Turn   `json:"turn"`
	// Metadata is absent if the turn changed no file.
	Metadata *TurnMetadata `json:"metadata,omitempty"`
}

// NotificationMethod returns "turn/completed".
func (TurnCompletedNotification) NotificationMethod() string { return "turn/completed" }

// TurnPlanUpdatedNotification has the agent's whole plan after a change.
type TurnPlanUpdatedNotification struct {
	ThreadID    string         `json:"threadId"`
	TurnID      string         `json:"turnId"`
	Explanation *string        `json:"explanation"`
	Plan        []TurnPlanStep `json:"plan"`
}

// NotificationMethod returns "turn/plan/updated".
func (TurnPlanUpdatedNotification) NotificationMethod() string { return "turn/plan/updated" }

// TurnPlanStep is a step of a plan.
type TurnPlanStep struct {
	Step   string `json:"step"`
	Status string `json:"status" oneof:"pending inProgress completed"`
}

// ItemStartedNotification reports that an item began.
type ItemStartedNotification struct {
	Item     ThreadItem `json:"item"`
	ThreadID string     `json:"threadId"`
	TurnID   string     `json:"turnId"`
	// StartedAtMs is in Unix milliseconds.
	StartedAtMs int64 `json:"startedAtMs"`
}

// NotificationMethod returns "item/started".
func (ItemStartedNotification) NotificationMethod() string { return "item/started" }

// ItemCompletedNotification reports that an item is final and durable.
type ItemCompletedNotification struct {
	Item     ThreadItem `json:"item"`
	ThreadID string     `json:"threadId"`
	TurnID   string     `json:"turnId"`
	// ContentTokenCount is always null.
	ContentTokenCount *int64 `json:"contentTokenCount"`
	// CompletedAtMs is in Unix milliseconds.
	CompletedAtMs int64 `json:"completedAtMs"`
}

// NotificationMethod returns "item/completed".
func (ItemCompletedNotification) NotificationMethod() string { return "item/completed" }

// ServerRequestResolvedNotification reports that a request of the server needs no response any
// more: it was answered, or its turn ended.
type ServerRequestResolvedNotification struct {
	ThreadID string `json:"threadId"`
	// RequestID is the id of the request.
	RequestID uint64 `json:"requestId"`
}

// NotificationMethod returns "serverRequest/resolved".
func (ServerRequestResolvedNotification) NotificationMethod() string { return "serverRequest/resolved" }

// WarningNotification has a warning for the user.
type WarningNotification struct {
	// ThreadID is null for a warning about no thread in particular.
	ThreadID *string `json:"threadId"`
	Message  string  `json:"message"`
}

// NotificationMethod returns "warning".
func (WarningNotification) NotificationMethod() string { return "warning" }

// ConfigWarningNotification reports a setting without effect to each client that connects.
type ConfigWarningNotification struct {
	Summary string  `json:"summary"`
	Details *string `json:"details"`
	// Path is the configuration file. It is absent if the setting has another source.
	Path *string `json:"path,omitempty"`
}

// NotificationMethod returns "configWarning".
func (ConfigWarningNotification) NotificationMethod() string { return "configWarning" }

// DeprecationNoticeNotification reports a deprecated setting of a thread that was loaded for the
// client.
type DeprecationNoticeNotification struct {
	Summary string `json:"summary"`
	// Details has the next action, or null.
	Details *string `json:"details"`
}

// NotificationMethod returns "deprecationNotice".
func (DeprecationNoticeNotification) NotificationMethod() string { return "deprecationNotice" }

// ErrorNotification reports a failed model request. If WillRetry is false, the turn fails, and
// turn/completed follows with the same error.
type ErrorNotification struct {
	Error     TurnError `json:"error"`
	WillRetry bool      `json:"willRetry"`
	ThreadID  string    `json:"threadId"`
	TurnID    string    `json:"turnId"`
	// Retry describes the next attempt. It is absent if WillRetry is false.
	Retry *RequestRetry `json:"retry,omitempty"`
}

// RequestRetry is the next attempt of a model request.
type RequestRetry struct {
	// Attempt counts the announced attempts from 1. Limit is the number of attempts after which the turn fails.
	Attempt int `json:"attempt"`
	Limit   int `json:"limit"`
	// DelayMs is about the time until the attempt, in milliseconds.
	DelayMs int64 `json:"delayMs"`
}

// NotificationMethod returns "error".
func (ErrorNotification) NotificationMethod() string { return "error" }

// NotificationRow is a notification that the server sends: its method, the struct
// that its params have, and one line of documentation.
type NotificationRow struct {
	Method string
	Params reflect.Type
	Doc    string
	// Own is set if the reference implementation does not have the notification.
	Own bool
	// Global is set if every client gets it, as in the reference implementation. Lists of threads depend on these.
	// All other notifications of a thread go to its subscribers.
	Global bool
	// Progress is the knowledge of a client about a thread after it.
	Progress Progress
}

// Progress is the knowledge of a client about a thread after a notification.
type Progress int

// The kinds of progress. ThreadJoined means that the client is subscribed to a new thread, and ThreadLeft that it is no
// more.
const (
	NoProgress Progress = iota
	ThreadJoined
	ThreadLeft
	TurnBegun
	TurnEnded
	ItemEnded
	RequestResolved
)

func (r NotificationRow) global() NotificationRow {
	r.Global = true
	return r
}

func (r NotificationRow) progress(p Progress) NotificationRow {
	r.Progress = p
	return r
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

// Notifications returns all notifications of the server.
func Notifications() []NotificationRow {
	return []NotificationRow{
		notification[ThreadStartedNotification]("A thread started.").global().progress(ThreadJoined),
		notification[ThreadStatusChangedNotification]("The status of a thread changed: active, waiting, idle or not loaded.").
			global(),
		notification[ThreadNameUpdatedNotification]("A thread has a new name.").global(),
		notification[ThreadClosedNotification]("A thread was unloaded.").progress(ThreadLeft),
		notification[ThreadDeletedNotification]("A thread was deleted.").global().progress(ThreadLeft),
		notification[ThreadRevertedNotification]("The last turns of a thread were removed, or came back."),
		notification[ThreadArchivedNotification]("A thread was archived.").global().progress(ThreadLeft),
		notification[ThreadUnarchivedNotification]("A thread was unarchived.").global(),
		notification[ThreadArchivedAndNewCreatedNotification]("A thread replaced an archived one.").own().
			progress(ThreadJoined),
		notification[TurnStartedNotification]("A turn started.").progress(TurnBegun),
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
		notification[ItemCompletedNotification]("An item is final and durable.").progress(ItemEnded),
		notification[ThreadTokenUsageUpdatedNotification]("The token usage of the last model request."),
		notification[ServerRequestResolvedNotification]("A request of the server needs no response anymore.").
			progress(RequestResolved),
		notification[ErrorNotification]("A model request failed."),
		notification[TurnCompletedNotification]("A turn ended.").progress(TurnEnded),
		notification[ContextItemsNotification]("The context changed.").own(),
		notification[ContextSuggestionsNotification]("At the end of a turn: items that the next requests can do without.").own(),
		notification[ContextCompactedNotification]("The context was compacted."),
		notification[ThreadTrimPointCreatedNotification]("A trim point was created. Items before it are not sent to the model.").own(),
		notification[ThreadTrimPointRemovedNotification]("A trim point was removed.").own(),
		notification[ThreadSessionStopRequestedNotification]("A provider session gets no more requests.").own(),
		notification[ThreadSessionStartedNotification]("A provider session starts with the next model request.").own(),
		notification[TurnPromptProgressNotification]("A local provider reads the prompt of a request.").own(),
		notification[ThreadCompactDeltaNotification]("A piece of the summary of a compaction's draft.").own(),
		notification[ThreadContextSummarizedNotification]("The summary of a trim point changed.").own(),
		notification[ThreadIndexProgressNotification]("Progress of indexing rollouts for lists and searches.").own(),
		notification[MemoryUpdatedNotification]("The memory has new summaries of a thread.").own(),
		notification[MemoryIndexProgressNotification]("Progress of indexing a repository's files for the memory.").own(),
		notification[McpServerStatusUpdatedNotification]("The state of a thread's connection to an MCP server changed."),
		notification[McpServerOauthLoginCompletedNotification]("A login at an MCP server ended."),
		notification[AccountLoginCompletedNotification]("A login of the user ended."),
		notification[AccountUpdatedNotification]("The user has signed in or out."),
		notification[AccountRateLimitsUpdatedNotification]("The provider reported a limit of the account."),
		notification[ModelProviderChangedNotification]("The result of modelProvider/list changed.").own(),
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
