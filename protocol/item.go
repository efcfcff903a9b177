package protocol

import (
	"encoding/json"
	"fmt"
)

// ThreadItem is one entry of a conversation as a user interface shows it, with a tag: {"type":
// "plan", ...}. The members startedAtMs and completedAtMs are in Unix milliseconds, or null if
// unknown.
type ThreadItem struct {
	ThreadItemVariant
	StartedAtMs   *int64
	CompletedAtMs *int64
}

// ThreadItemVariant is a pointer to one of the types UserMessageItem to
// ExitedReviewModeItem, or *Unknown, or in responses a StoredItem.
type ThreadItemVariant interface {
	// ItemID returns the id of the item within its thread.
	ItemID() string
}

// UserMessageItem is a message of the user.
type UserMessageItem struct {
	ID string `json:"id"`
	// ClientID is the clientUserMessageId of its request.
	ClientID *string     `json:"clientId"`
	Content  []UserInput `json:"content"`
}

// AgentMessageItem is a message of the agent. Moderation, MemoryCitation, Delivery and Questions
// are always null.
type AgentMessageItem struct {
	Moderation json.RawMessage `json:"moderation"`
	ID         string          `json:"id"`
	Text       string          `json:"text"`
	// Phase is null if the model does not report it.
	Phase          *string         `json:"phase" oneof:"commentary partial_answer final_answer"`
	MemoryCitation json.RawMessage `json:"memoryCitation"`
	Delivery       json.RawMessage `json:"delivery"`
	Questions      json.RawMessage `json:"questions"`
}

// ReasoningItem is the reasoning of the model.
type ReasoningItem struct {
	ID string `json:"id"`
	// Summary has the parts of the summary.
	Summary []string `json:"summary"`
	// Content has the parts of the raw text, if the provider sends it.
	Content []string `json:"content"`
}

// PlanItem is a plan that the agent proposed, in Markdown.
type PlanItem struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// CommandExecutionItem is a command that the agent ran, or asked to run. ProcessID,
// AggregatedOutput, ExitCode and DurationMs are null if the command did not run or has not ended.
type CommandExecutionItem struct {
	ID         string  `json:"id"`
	PluginID   *string `json:"pluginId"`
	ScriptPath *string `json:"scriptPath"`
	// Command is a command line in the syntax of a shell.
	Command string `json:"command"`
	// Cwd is an absolute path.
	Cwd       string  `json:"cwd"`
	ProcessID *string `json:"processId"`
	// Source is unifiedExecStartup for a command that ran, agent for one that needed an approval or
	// was declined, and userShell for one of the user.
	Source         string                 `json:"source" oneof:"agent userShell unifiedExecStartup unifiedExecInteraction"`
	Status         CommandExecutionStatus `json:"status"`
	CommandActions []CommandAction        `json:"commandActions"`
	// AggregatedOutput is standard output and standard error together. A long output lacks its
	// middle.
	AggregatedOutput *string `json:"aggregatedOutput"`
	ExitCode         *int    `json:"exitCode"`
	// DurationMs is in milliseconds.
	DurationMs *int64 `json:"durationMs"`
}

// CommandExecutionStatus is the state of a command.
type CommandExecutionStatus string

// The states of a command.
const (
	CommandInProgress CommandExecutionStatus = "inProgress"
	CommandCompleted  CommandExecutionStatus = "completed"
	CommandFailed     CommandExecutionStatus = "failed"
	CommandDeclined   CommandExecutionStatus = "declined"
)

// The values of CommandExecutionItem.Source that this server gives: SourceStartup
// for a command that ran, SourceAgent for one that was asked about or declined,
// SourceUser for one of the user's own.
const (
	SourceAgent   = "agent"
	SourceStartup = "unifiedExecStartup"
	SourceUser    = "userShell"
)

// CommandAction is the action of a part of a command, for a short display: read with name and path,
// listFiles with path, search with query and path, or unknown.
type CommandAction struct {
	Type    string
	Command string
	Name    string
	Path    *string
	Query   *string
}

// MarshalJSON writes the members of the action's type.
func (a CommandAction) MarshalJSON() ([]byte, error) {
	switch a.Type {
	case "read":
		path := ""
		if a.Path != nil {
			path = *a.Path
		}
		return marshal(struct {
			Type    string `json:"type"`
			Command string `json:"command"`
			Name    string `json:"name"`
			Path    string `json:"path"`
		}{a.Type, a.Command, a.Name, path})
	case "listFiles":
		return marshal(struct {
			Type    string  `json:"type"`
			Command string  `json:"command"`
			Path    *string `json:"path"`
		}{a.Type, a.Command, a.Path})
	case "search":
		return marshal(struct {
			Type    string  `json:"type"`
			Command string  `json:"command"`
			Query   *string `json:"query"`
			Path    *string `json:"path"`
		}{a.Type, a.Command, a.Query, a.Path})
	}
	return marshal(struct {
		Type    string `json:"type"`
		Command string `json:"command"`
	}{"unknown", a.Command})
}

// UnmarshalJSON decodes an action of the wire or of a file. Files have the member cmd instead of
// command. An unknown type becomes unknown.
func (a *CommandAction) UnmarshalJSON(b []byte) error {
	var v struct {
		Type    string  `json:"type"`
		Command string  `json:"command"`
		Name    string  `json:"name"`
		Cmd     string  `json:"cmd"`
		Path    *string `json:"path"`
		Query   *string `json:"query"`
	}
	if err := Unmarshal(b, &v); err != nil {
		return fmt.Errorf("command action: %w", err)
	}
	if v.Command == "" {
		v.Command = v.Cmd
	}
	*a = CommandAction{Type: CamelCase(v.Type), Command: v.Command, Name: v.Name, Path: v.Path, Query: v.Query}
	return nil
}

// FileChangeItem is a patch that the agent applied, or asked to apply.
type FileChangeItem struct {
	ID      string             `json:"id"`
	Changes []FileUpdateChange `json:"changes"`
	Status  string             `json:"status" oneof:"inProgress completed failed declined"`
}

// The states of a patch.
const (
	PatchInProgress = "inProgress"
	PatchCompleted  = "completed"
	PatchFailed     = "failed"
	PatchDeclined   = "declined"
)

// FileUpdateChange is the change of one file.
type FileUpdateChange struct {
	Path string `json:"path"`
	// Kind is {"type": "add"}, {"type": "delete"} or {"type": "update", "move_path": <path or
	// null>}.
	Kind json.RawMessage `json:"kind"`
	// Diff is a unified diff, or the content of an added or deleted file.
	Diff string `json:"diff"`
}

// ImageViewItem is an image file that the agent viewed.
type ImageViewItem struct {
	ID   string `json:"id"`
	Path string `json:"path"`
}

// ContextCompactionItem marks the place of a compaction of the context.
type ContextCompactionItem struct {
	ID string `json:"id"`
}

// EnteredReviewModeItem marks the begin of a review.
type EnteredReviewModeItem struct {
	ID string `json:"id"`
	// Review is a short description of the review's target.
	Review string `json:"review"`
}

// ExitedReviewModeItem marks the end of a review.
type ExitedReviewModeItem struct {
	ID string `json:"id"`
	// Review is the result of the review, as text.
	Review string `json:"review"`
}

// ItemID returns the item's id.
func (i *UserMessageItem) ItemID() string { return i.ID }

// ItemID returns the item's id.
func (i *AgentMessageItem) ItemID() string { return i.ID }

// ItemID returns the item's id.
func (i *ReasoningItem) ItemID() string { return i.ID }

// ItemID returns the item's id.
func (i *PlanItem) ItemID() string { return i.ID }

// ItemID returns the item's id.
func (i *CommandExecutionItem) ItemID() string { return i.ID }

// ItemID returns the item's id.
func (i *FileChangeItem) ItemID() string { return i.ID }

// ItemID returns the item's id.
func (i *ImageViewItem) ItemID() string { return i.ID }

// ItemID returns the item's id.
func (i *ContextCompactionItem) ItemID() string { return i.ID }

// ItemID returns the item's id.
func (i *EnteredReviewModeItem) ItemID() string { return i.ID }

// ItemID returns the item's id.
func (i *ExitedReviewModeItem) ItemID() string { return i.ID }

// ItemID returns the id in the raw JSON, or "".
func (u *Unknown) ItemID() string {
	var v struct {
		ID string `json:"id"`
	}
	if Unmarshal(u.Raw, &v) != nil {
		return ""
	}
	return v.ID
}

var threadItems = newVariants("type",
	variantRow[ThreadItemVariant]{"userMessage", &UserMessageItem{}},
	variantRow[ThreadItemVariant]{"agentMessage", &AgentMessageItem{}},
	variantRow[ThreadItemVariant]{"plan", &PlanItem{}},
	variantRow[ThreadItemVariant]{"reasoning", &ReasoningItem{}},
	variantRow[ThreadItemVariant]{"commandExecution", &CommandExecutionItem{}},
	variantRow[ThreadItemVariant]{"fileChange", &FileChangeItem{}},
	variantRow[ThreadItemVariant]{"mcpToolCall", &McpToolCallItem{}},
	variantRow[ThreadItemVariant]{"imageView", &ImageViewItem{}},
	variantRow[ThreadItemVariant]{"webSearch", &WebSearchItem{}},
	variantRow[ThreadItemVariant]{"dynamicToolCall", &DynamicToolCallItem{}},
	variantRow[ThreadItemVariant]{"collabAgentToolCall", &CollabAgentToolCallItem{}},
	variantRow[ThreadItemVariant]{"subAgentActivity", &SubAgentActivityItem{}},
	variantRow[ThreadItemVariant]{"contextCompaction", &ContextCompactionItem{}},
	variantRow[ThreadItemVariant]{"enteredReviewMode", &EnteredReviewModeItem{}},
	variantRow[ThreadItemVariant]{"exitedReviewMode", &ExitedReviewModeItem{}},
)

type itemTimes struct {
	StartedAtMs   *int64 `json:"startedAtMs"`
	CompletedAtMs *int64 `json:"completedAtMs"`
}

// MarshalJSON writes the variant with its type, and the times after it.
func (i ThreadItem) MarshalJSON() ([]byte, error) {
	if stored, ok := i.ThreadItemVariant.(StoredItem); ok {
		return stored.AppendJSON(nil)
	}
	b, err := threadItems.encode(i.ThreadItemVariant)
	if _, unknown := i.ThreadItemVariant.(*Unknown); unknown || err != nil {
		return b, err
	}
	times, err := marshal(itemTimes{i.StartedAtMs, i.CompletedAtMs})
	if err != nil {
		return nil, err
	}
	b[len(b)-1] = ','
	return append(b, times[1:]...), nil
}

// UnmarshalJSON keeps unknown variants as raw JSON, their times in it.
func (i *ThreadItem) UnmarshalJSON(b []byte) error {
	v, err := threadItems.tolerant(b)
	if err != nil {
		return err
	}
	*i = ThreadItem{ThreadItemVariant: v}
	if _, unknown := v.(*Unknown); unknown {
		return nil
	}
	var times itemTimes
	err = Unmarshal(b, &times)
	i.StartedAtMs, i.CompletedAtMs = times.StartedAtMs, times.CompletedAtMs
	return err
}
