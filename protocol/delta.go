package protocol

// Delta is a notification that carries a further piece of one text of an item. All
// pieces with the same key, in order, are the whole text. While they wait for a
// client that reads slowly, neighbours may be merged into one.
type Delta interface {
	Notification
	// DeltaKey identifies the text to which the piece belongs.
	DeltaKey() DeltaKey
	// DeltaText is the piece.
	DeltaText() string
	// WithDelta is the same notification with another text.
	WithDelta(text string) Delta
}

// DeltaKey names a text: the notification that its pieces come in, the thread, the
// item, and the number of the text within the item, from 0.
type DeltaKey struct {
	Method, ThreadID, ItemID string
	Index                    int
}

// AgentMessageDeltaNotification carries a piece of an agentMessage item's text.
type AgentMessageDeltaNotification struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	ItemID   string `json:"itemId"`
	Delta    string `json:"delta"`
}

// NotificationMethod is item/agentMessage/delta.
func (*AgentMessageDeltaNotification) NotificationMethod() string { return "item/agentMessage/delta" }

// DeltaKey names the agent message.
func (d *AgentMessageDeltaNotification) DeltaKey() DeltaKey {
	return DeltaKey{d.NotificationMethod(), d.ThreadID, d.ItemID, 0}
}

// DeltaText is the piece of text.
func (d *AgentMessageDeltaNotification) DeltaText() string { return d.Delta }

// WithDelta is a copy of d with another text.
func (d *AgentMessageDeltaNotification) WithDelta(text string) Delta {
	c := *d
	c.Delta = text
	return &c
}

// PlanDeltaNotification carries a piece of a plan item's text. The text of the completed item
// counts: of several plans in one answer it has the last.
type PlanDeltaNotification struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	ItemID   string `json:"itemId"`
	Delta    string `json:"delta"`
}

// NotificationMethod is item/plan/delta.
func (*PlanDeltaNotification) NotificationMethod() string { return "item/plan/delta" }

// DeltaKey names the plan.
func (d *PlanDeltaNotification) DeltaKey() DeltaKey {
	return DeltaKey{d.NotificationMethod(), d.ThreadID, d.ItemID, 0}
}

// DeltaText is the piece of text.
func (d *PlanDeltaNotification) DeltaText() string { return d.Delta }

// WithDelta is a copy of d with another text.
func (d *PlanDeltaNotification) WithDelta(text string) Delta {
	c := *d
	c.Delta = text
	return &c
}

// ReasoningSummaryPartAddedNotification reports that summary[summaryIndex] of a reasoning item begins.
type ReasoningSummaryPartAddedNotification struct {
	ThreadID     string `json:"threadId"`
	TurnID       string `json:"turnId"`
	ItemID       string `json:"itemId"`
	SummaryIndex int    `json:"summaryIndex"`
}

// NotificationMethod is item/reasoning/summaryPartAdded.
func (ReasoningSummaryPartAddedNotification) NotificationMethod() string {
	return "item/reasoning/summaryPartAdded"
}

// ReasoningSummaryTextDeltaNotification carries a piece of summary[summaryIndex] of
// a reasoning item.
type ReasoningSummaryTextDeltaNotification struct {
	ThreadID     string `json:"threadId"`
	TurnID       string `json:"turnId"`
	ItemID       string `json:"itemId"`
	Delta        string `json:"delta"`
	SummaryIndex int    `json:"summaryIndex"`
}

// NotificationMethod is item/reasoning/summaryTextDelta.
func (*ReasoningSummaryTextDeltaNotification) NotificationMethod() string {
	return "item/reasoning/summaryTextDelta"
}

// DeltaKey names the part of the summary.
func (d *ReasoningSummaryTextDeltaNotification) DeltaKey() DeltaKey {
	return DeltaKey{d.NotificationMethod(), d.ThreadID, d.ItemID, d.SummaryIndex}
}

// DeltaText is the piece of text.
func (d *ReasoningSummaryTextDeltaNotification) DeltaText() string { return d.Delta }

// WithDelta is a copy of d with another text.
func (d *ReasoningSummaryTextDeltaNotification) WithDelta(text string) Delta {
	c := *d
	c.Delta = text
	return &c
}

// ReasoningTextDeltaNotification carries a piece of content[contentIndex] of a
// reasoning item.
type ReasoningTextDeltaNotification struct {
	ThreadID     string `json:"threadId"`
	TurnID       string `json:"turnId"`
	ItemID       string `json:"itemId"`
	Delta        string `json:"delta"`
	ContentIndex int    `json:"contentIndex"`
}

// NotificationMethod is item/reasoning/textDelta.
func (*ReasoningTextDeltaNotification) NotificationMethod() string { return "item/reasoning/textDelta" }

// DeltaKey names the part of the reasoning.
func (d *ReasoningTextDeltaNotification) DeltaKey() DeltaKey {
	return DeltaKey{d.NotificationMethod(), d.ThreadID, d.ItemID, d.ContentIndex}
}

// DeltaText is the piece of text.
func (d *ReasoningTextDeltaNotification) DeltaText() string { return d.Delta }

// WithDelta is a copy of d with another text.
func (d *ReasoningTextDeltaNotification) WithDelta(text string) Delta {
	c := *d
	c.Delta = text
	return &c
}

// CommandExecutionOutputDeltaNotification carries a piece of what a command writes
// to its standard output and standard error.
type CommandExecutionOutputDeltaNotification struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	ItemID   string `json:"itemId"`
	Delta    string `json:"delta"`
}

// NotificationMethod is item/commandExecution/outputDelta.
func (*CommandExecutionOutputDeltaNotification) NotificationMethod() string {
	return "item/commandExecution/outputDelta"
}

// DeltaKey names the command.
func (d *CommandExecutionOutputDeltaNotification) DeltaKey() DeltaKey {
	return DeltaKey{d.NotificationMethod(), d.ThreadID, d.ItemID, 0}
}

// DeltaText is the piece of output.
func (d *CommandExecutionOutputDeltaNotification) DeltaText() string { return d.Delta }

// WithDelta is a copy of d with another text.
func (d *CommandExecutionOutputDeltaNotification) WithDelta(text string) Delta {
	c := *d
	c.Delta = text
	return &c
}
