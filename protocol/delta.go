package protocol

// Delta is a notification with the next piece of a text of an item. The pieces with the same key,
// in order, are the whole text. While they wait for a slow client, adjacent pieces can be merged.
type Delta interface {
	Notification
	// DeltaKey identifies the text to which the piece belongs.
	DeltaKey() DeltaKey
	// DeltaText returns the piece.
	DeltaText() string
	// WithDelta returns the same notification with another text.
	WithDelta(text string) Delta
}

// DeltaKey identifies a text: by the notification of its pieces, the thread, the item, and the
// number of the text within the item, from 0.
type DeltaKey struct {
	Method, ThreadID, ItemID string
	Index                    int
}

// AgentMessageDeltaNotification has a piece of an agentMessage item's text.
type AgentMessageDeltaNotification struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	ItemID   string `json:"itemId"`
	Delta    string `json:"delta"`
}

// NotificationMethod returns "item/agentMessage/delta".
func (*AgentMessageDeltaNotification) NotificationMethod() string { return "item/agentMessage/delta" }

// DeltaKey identifies the agent message.
func (d *AgentMessageDeltaNotification) DeltaKey() DeltaKey {
	return DeltaKey{d.NotificationMethod(), d.ThreadID, d.ItemID, 0}
}

// DeltaText returns the piece of text.
func (d *AgentMessageDeltaNotification) DeltaText() string { return d.Delta }

// WithDelta returns a copy of d with another text.
func (d *AgentMessageDeltaNotification) WithDelta(text string) Delta {
	c := *d
	c.Delta = text
	return &c
}

// PlanDeltaNotification has a piece of a plan item's text. The text of the completed item replaces
// the pieces. If an answer has several plans, it is the last one.
type PlanDeltaNotification struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	ItemID   string `json:"itemId"`
	Delta    string `json:"delta"`
}

// NotificationMethod returns "item/plan/delta".
func (*PlanDeltaNotification) NotificationMethod() string { return "item/plan/delta" }

// DeltaKey identifies the plan.
func (d *PlanDeltaNotification) DeltaKey() DeltaKey {
	return DeltaKey{d.NotificationMethod(), d.ThreadID, d.ItemID, 0}
}

// DeltaText returns the piece of text.
func (d *PlanDeltaNotification) DeltaText() string { return d.Delta }

// WithDelta returns a copy of d with another text.
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

// NotificationMethod returns "item/reasoning/summaryPartAdded".
func (ReasoningSummaryPartAddedNotification) NotificationMethod() string {
	return "item/reasoning/summaryPartAdded"
}

// ReasoningSummaryTextDeltaNotification has a piece of summary[summaryIndex] of a reasoning item.
type ReasoningSummaryTextDeltaNotification struct {
	ThreadID     string `json:"threadId"`
	TurnID       string `json:"turnId"`
	ItemID       string `json:"itemId"`
	Delta        string `json:"delta"`
	SummaryIndex int    `json:"summaryIndex"`
}

// NotificationMethod returns "item/reasoning/summaryTextDelta".
func (*ReasoningSummaryTextDeltaNotification) NotificationMethod() string {
	return "item/reasoning/summaryTextDelta"
}

// DeltaKey identifies the part of the summary.
func (d *ReasoningSummaryTextDeltaNotification) DeltaKey() DeltaKey {
	return DeltaKey{d.NotificationMethod(), d.ThreadID, d.ItemID, d.SummaryIndex}
}

// DeltaText returns the piece of text.
func (d *ReasoningSummaryTextDeltaNotification) DeltaText() string { return d.Delta }

// WithDelta returns a copy of d with another text.
func (d *ReasoningSummaryTextDeltaNotification) WithDelta(text string) Delta {
	c := *d
	c.Delta = text
	return &c
}

// ReasoningTextDeltaNotification has a piece of content[contentIndex] of a reasoning item.
type ReasoningTextDeltaNotification struct {
	ThreadID     string `json:"threadId"`
	TurnID       string `json:"turnId"`
	ItemID       string `json:"itemId"`
	Delta        string `json:"delta"`
	ContentIndex int    `json:"contentIndex"`
}

// NotificationMethod returns "item/reasoning/textDelta".
func (*ReasoningTextDeltaNotification) NotificationMethod() string { return "item/reasoning/textDelta" }

// DeltaKey identifies the part of the reasoning.
func (d *ReasoningTextDeltaNotification) DeltaKey() DeltaKey {
	return DeltaKey{d.NotificationMethod(), d.ThreadID, d.ItemID, d.ContentIndex}
}

// DeltaText returns the piece of text.
func (d *ReasoningTextDeltaNotification) DeltaText() string { return d.Delta }

// WithDelta returns a copy of d with another text.
func (d *ReasoningTextDeltaNotification) WithDelta(text string) Delta {
	c := *d
	c.Delta = text
	return &c
}

// CommandExecutionOutputDeltaNotification has a piece of a command's standard output and standard
// error.
type CommandExecutionOutputDeltaNotification struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	ItemID   string `json:"itemId"`
	Delta    string `json:"delta"`
}

// NotificationMethod returns "item/commandExecution/outputDelta".
func (*CommandExecutionOutputDeltaNotification) NotificationMethod() string {
	return "item/commandExecution/outputDelta"
}

// DeltaKey identifies the command.
func (d *CommandExecutionOutputDeltaNotification) DeltaKey() DeltaKey {
	return DeltaKey{d.NotificationMethod(), d.ThreadID, d.ItemID, 0}
}

// DeltaText returns the piece of output.
func (d *CommandExecutionOutputDeltaNotification) DeltaText() string { return d.Delta }

// WithDelta returns a copy of d with another text.
func (d *CommandExecutionOutputDeltaNotification) WithDelta(text string) Delta {
	c := *d
	c.Delta = text
	return &c
}
