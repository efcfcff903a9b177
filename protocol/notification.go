package protocol

import "reflect"

// Notification is a message to the client that wants no answer.
type Notification interface {
	// NotificationMethod is the method that the notification is sent under.
	NotificationMethod() string
}

// Delta is a notification that carries a further piece of one item's text.
// Deltas with the same key may be merged into one, in order, while they wait for
// a client that reads slowly.
type Delta interface {
	Notification
	DeltaKey() DeltaKey
	DeltaText() string
	// WithDelta is the same notification with another text.
	WithDelta(text string) Delta
}

// DeltaKey tells which text a delta belongs to.
type DeltaKey struct {
	Method, ThreadID, ItemID string
	Index                    int
}

// ThreadStartedNotification tells of a new thread.
type ThreadStartedNotification struct {
	Thread Thread `json:"thread"`
}

// ThreadStatusChangedNotification tells whether a thread is at work.
type ThreadStatusChangedNotification struct {
	ThreadID string       `json:"threadId"`
	Status   ThreadStatus `json:"status"`
}

// ThreadClosedNotification tells that a thread was unloaded.
type ThreadClosedNotification struct {
	ThreadID string `json:"threadId"`
}

// ThreadNameUpdatedNotification tells of a thread's new name.
type ThreadNameUpdatedNotification struct {
	ThreadID   string `json:"threadId"`
	ThreadName string `json:"threadName"`
}

// ThreadTokenUsageUpdatedNotification tells what the last model request cost.
type ThreadTokenUsageUpdatedNotification struct {
	ThreadID   string           `json:"threadId"`
	TurnID     string           `json:"turnId"`
	TokenUsage ThreadTokenUsage `json:"tokenUsage"`
}

// TurnStartedNotification tells that a turn began.
type TurnStartedNotification struct {
	ThreadID string `json:"threadId"`
	Turn     Turn   `json:"turn"`
}

// TurnCompletedNotification tells that a turn ended. It is sent once per turn,
// and nothing of the turn follows it.
type TurnCompletedNotification struct {
	ThreadID string `json:"threadId"`
	Turn     Turn   `json:"turn"`
}

// TurnPlanUpdatedNotification tells the agent's plan.
type TurnPlanUpdatedNotification struct {
	ThreadID    string         `json:"threadId"`
	TurnID      string         `json:"turnId"`
	Explanation *string        `json:"explanation"`
	Plan        []TurnPlanStep `json:"plan"`
}

// TurnPlanStep is a step of a plan: pending, inProgress or completed.
type TurnPlanStep struct {
	Step   string `json:"step"`
	Status string `json:"status"`
}

// ItemStartedNotification tells that an item began.
type ItemStartedNotification struct {
	Item        ThreadItem `json:"item"`
	ThreadID    string     `json:"threadId"`
	TurnID      string     `json:"turnId"`
	StartedAtMs int64      `json:"startedAtMs"`
}

// ItemCompletedNotification tells that an item is final. The token count is
// always null.
type ItemCompletedNotification struct {
	Item              ThreadItem `json:"item"`
	ThreadID          string     `json:"threadId"`
	TurnID            string     `json:"turnId"`
	ContentTokenCount *int64     `json:"contentTokenCount"`
	CompletedAtMs     int64      `json:"completedAtMs"`
}

// AgentMessageDeltaNotification carries a piece of an agent message.
type AgentMessageDeltaNotification struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	ItemID   string `json:"itemId"`
	Delta    string `json:"delta"`
}

// ReasoningSummaryTextDeltaNotification carries a piece of a reasoning summary.
type ReasoningSummaryTextDeltaNotification struct {
	ThreadID     string `json:"threadId"`
	TurnID       string `json:"turnId"`
	ItemID       string `json:"itemId"`
	Delta        string `json:"delta"`
	SummaryIndex int    `json:"summaryIndex"`
}

// ReasoningTextDeltaNotification carries a piece of raw reasoning.
type ReasoningTextDeltaNotification struct {
	ThreadID     string `json:"threadId"`
	TurnID       string `json:"turnId"`
	ItemID       string `json:"itemId"`
	Delta        string `json:"delta"`
	ContentIndex int    `json:"contentIndex"`
}

// CommandExecutionOutputDeltaNotification carries a piece of a command's output.
type CommandExecutionOutputDeltaNotification struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	ItemID   string `json:"itemId"`
	Delta    string `json:"delta"`
}

// ServerRequestResolvedNotification tells that a request of the server needs no
// answer any more. RequestID is the id that the request was sent with.
type ServerRequestResolvedNotification struct {
	ThreadID  string `json:"threadId"`
	RequestID uint64 `json:"requestId"`
}

// WarningNotification is for the user to read.
type WarningNotification struct {
	ThreadID *string `json:"threadId"`
	Message  string  `json:"message"`
}

// ConfigWarningNotification tells of a setting that is not known.
type ConfigWarningNotification struct {
	Summary string  `json:"summary"`
	Details *string `json:"details"`
}

// ErrorNotification tells of a failed model request. Where WillRetry is false the
// turn fails.
type ErrorNotification struct {
	Error     TurnError `json:"error"`
	WillRetry bool      `json:"willRetry"`
	ThreadID  string    `json:"threadId"`
	TurnID    string    `json:"turnId"`
}

// NotificationMethod is thread/started.
func (ThreadStartedNotification) NotificationMethod() string { return "thread/started" }

// NotificationMethod is thread/status/changed.
func (ThreadStatusChangedNotification) NotificationMethod() string { return "thread/status/changed" }

// NotificationMethod is thread/closed.
func (ThreadClosedNotification) NotificationMethod() string { return "thread/closed" }

// NotificationMethod is thread/name/updated.
func (ThreadNameUpdatedNotification) NotificationMethod() string { return "thread/name/updated" }

// NotificationMethod is thread/tokenUsage/updated.
func (ThreadTokenUsageUpdatedNotification) NotificationMethod() string {
	return "thread/tokenUsage/updated"
}

// NotificationMethod is turn/started.
func (TurnStartedNotification) NotificationMethod() string { return "turn/started" }

// NotificationMethod is turn/completed.
func (TurnCompletedNotification) NotificationMethod() string { return "turn/completed" }

// NotificationMethod is turn/plan/updated.
func (TurnPlanUpdatedNotification) NotificationMethod() string { return "turn/plan/updated" }

// NotificationMethod is item/started.
func (ItemStartedNotification) NotificationMethod() string { return "item/started" }

// NotificationMethod is item/completed.
func (ItemCompletedNotification) NotificationMethod() string { return "item/completed" }

// NotificationMethod is item/agentMessage/delta.
func (*AgentMessageDeltaNotification) NotificationMethod() string { return "item/agentMessage/delta" }

// NotificationMethod is item/reasoning/summaryTextDelta.
func (*ReasoningSummaryTextDeltaNotification) NotificationMethod() string {
	return "item/reasoning/summaryTextDelta"
}

// NotificationMethod is item/reasoning/textDelta.
func (*ReasoningTextDeltaNotification) NotificationMethod() string { return "item/reasoning/textDelta" }

// NotificationMethod is item/commandExecution/outputDelta.
func (*CommandExecutionOutputDeltaNotification) NotificationMethod() string {
	return "item/commandExecution/outputDelta"
}

// NotificationMethod is serverRequest/resolved.
func (ServerRequestResolvedNotification) NotificationMethod() string { return "serverRequest/resolved" }

// NotificationMethod is warning.
func (WarningNotification) NotificationMethod() string { return "warning" }

// NotificationMethod is configWarning.
func (ConfigWarningNotification) NotificationMethod() string { return "configWarning" }

// NotificationMethod is error.
func (ErrorNotification) NotificationMethod() string { return "error" }

// DeltaKey names the agent message.
func (d *AgentMessageDeltaNotification) DeltaKey() DeltaKey {
	return DeltaKey{"item/agentMessage/delta", d.ThreadID, d.ItemID, 0}
}

// DeltaText is the piece of text.
func (d *AgentMessageDeltaNotification) DeltaText() string { return d.Delta }

// WithDelta is d with another text.
func (d *AgentMessageDeltaNotification) WithDelta(text string) Delta {
	c := *d
	c.Delta = text
	return &c
}

// DeltaKey names the part of the summary.
func (d *ReasoningSummaryTextDeltaNotification) DeltaKey() DeltaKey {
	return DeltaKey{"item/reasoning/summaryTextDelta", d.ThreadID, d.ItemID, d.SummaryIndex}
}

// DeltaText is the piece of text.
func (d *ReasoningSummaryTextDeltaNotification) DeltaText() string { return d.Delta }

// WithDelta is d with another text.
func (d *ReasoningSummaryTextDeltaNotification) WithDelta(text string) Delta {
	c := *d
	c.Delta = text
	return &c
}

// DeltaKey names the part of the reasoning.
func (d *ReasoningTextDeltaNotification) DeltaKey() DeltaKey {
	return DeltaKey{"item/reasoning/textDelta", d.ThreadID, d.ItemID, d.ContentIndex}
}

// DeltaText is the piece of text.
func (d *ReasoningTextDeltaNotification) DeltaText() string { return d.Delta }

// WithDelta is d with another text.
func (d *ReasoningTextDeltaNotification) WithDelta(text string) Delta {
	c := *d
	c.Delta = text
	return &c
}

// DeltaKey names the command.
func (d *CommandExecutionOutputDeltaNotification) DeltaKey() DeltaKey {
	return DeltaKey{"item/commandExecution/outputDelta", d.ThreadID, d.ItemID, 0}
}

// DeltaText is the piece of output.
func (d *CommandExecutionOutputDeltaNotification) DeltaText() string { return d.Delta }

// WithDelta is d with another text.
func (d *CommandExecutionOutputDeltaNotification) WithDelta(text string) Delta {
	c := *d
	c.Delta = text
	return &c
}

// NotificationRow is a notification that the server sends.
type NotificationRow struct {
	Method string
	Params reflect.Type
	Doc    string
}

func notification[N Notification](doc string) NotificationRow {
	var n N
	t := reflect.TypeFor[N]()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
		n = reflect.New(t).Interface().(N)
	}
	return NotificationRow{n.NotificationMethod(), t, doc}
}

// Notifications lists everything the server tells unasked.
func Notifications() []NotificationRow {
	return []NotificationRow{
		notification[ThreadStartedNotification]("A thread began."),
		notification[ThreadStatusChangedNotification]("A thread went to work, waits, or is idle."),
		notification[ThreadNameUpdatedNotification]("A thread has a new name."),
		notification[ThreadClosedNotification]("A thread was unloaded."),
		notification[ThreadTokenUsageUpdatedNotification]("What the last model request cost."),
		notification[TurnStartedNotification]("A turn began."),
		notification[TurnPlanUpdatedNotification]("The agent's plan changed."),
		notification[ItemStartedNotification]("An item began."),
		notification[*AgentMessageDeltaNotification]("A piece of an agent message."),
		notification[*ReasoningSummaryTextDeltaNotification]("A piece of a reasoning summary."),
		notification[*ReasoningTextDeltaNotification]("A piece of raw reasoning."),
		notification[*CommandExecutionOutputDeltaNotification]("A piece of a command's output."),
		notification[ItemCompletedNotification]("An item is final, and durable."),
		notification[TurnCompletedNotification]("A turn ended; nothing of it follows."),
		notification[ServerRequestResolvedNotification]("A request of the server needs no answer any more."),
		notification[ErrorNotification]("A model request failed."),
		notification[WarningNotification]("Something the user should read."),
		notification[ConfigWarningNotification]("A setting is not known."),
	}
}
