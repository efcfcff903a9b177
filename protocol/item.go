package protocol

import (
	"encoding/json"
	"fmt"
)

// ThreadItem is one entry of a conversation as a user interface shows it. Times
// are in Unix milliseconds, null where they are not known.
type ThreadItem struct {
	ThreadItemVariant
	StartedAtMs   *int64
	CompletedAtMs *int64
}

// ThreadItemVariant is one of the *Item types of this package, or *Unknown.
type ThreadItemVariant interface {
	// ItemID is the id of the item within its thread.
	ItemID() string
}

// UserMessageItem is what the user said.
type UserMessageItem struct {
	ID       string      `json:"id"`
	ClientID *string     `json:"clientId"`
	Content  []UserInput `json:"content"`
}

// AgentMessageItem is what the agent said.
type AgentMessageItem struct {
	Moderation     json.RawMessage `json:"moderation"`
	ID             string          `json:"id"`
	Text           string          `json:"text"`
	Phase          *string         `json:"phase"`
	MemoryCitation json.RawMessage `json:"memoryCitation"`
	Delivery       json.RawMessage `json:"delivery"`
	Questions      json.RawMessage `json:"questions"`
}

// ReasoningItem is what the model thought.
type ReasoningItem struct {
	ID      string   `json:"id"`
	Summary []string `json:"summary"`
	Content []string `json:"content"`
}

// PlanItem is a plan that the agent proposed.
type PlanItem struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// CommandExecutionItem is a command that the agent ran, or wanted to run.
type CommandExecutionItem struct {
	ID               string                 `json:"id"`
	PluginID         *string                `json:"pluginId"`
	ScriptPath       *string                `json:"scriptPath"`
	Command          string                 `json:"command"`
	Cwd              string                 `json:"cwd"`
	ProcessID        *string                `json:"processId"`
	Source           string                 `json:"source"`
	Status           CommandExecutionStatus `json:"status"`
	CommandActions   []CommandAction        `json:"commandActions"`
	AggregatedOutput *string                `json:"aggregatedOutput"`
	ExitCode         *int                   `json:"exitCode"`
	DurationMs       *int64                 `json:"durationMs"`
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

// The values of CommandExecutionItem.Source that this server gives.
const (
	SourceAgent   = "agent"
	SourceStartup = "unifiedExecStartup"
)

// CommandAction says what a part of a command does. Type is read, listFiles,
// search or unknown; Name and Path belong to read, Query and Path to search, Path
// to listFiles.
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

// UnmarshalJSON reads an action; a type that is not known becomes unknown.
func (a *CommandAction) UnmarshalJSON(b []byte) error {
	var v struct {
		Type, Command, Name string
		Cmd                 string
		Path, Query         *string
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("command action: %w", err)
	}
	if v.Command == "" {
		v.Command = v.Cmd
	}
	*a = CommandAction{Type: CamelCase(v.Type), Command: v.Command, Name: v.Name, Path: v.Path, Query: v.Query}
	return nil
}

// FileChangeItem is a patch that the agent applied, or wanted to apply.
type FileChangeItem struct {
	ID      string             `json:"id"`
	Changes []FileUpdateChange `json:"changes"`
	Status  string             `json:"status"`
}

// FileUpdateChange is the change of one file.
type FileUpdateChange struct {
	Path string          `json:"path"`
	Kind json.RawMessage `json:"kind"`
	Diff string          `json:"diff"`
}

// ContextCompactionItem marks where the context was compacted.
type ContextCompactionItem struct {
	ID string `json:"id"`
}

// ItemID is the item's id.
func (i *UserMessageItem) ItemID() string { return i.ID }

// ItemID is the item's id.
func (i *AgentMessageItem) ItemID() string { return i.ID }

// ItemID is the item's id.
func (i *ReasoningItem) ItemID() string { return i.ID }

// ItemID is the item's id.
func (i *PlanItem) ItemID() string { return i.ID }

// ItemID is the item's id.
func (i *CommandExecutionItem) ItemID() string { return i.ID }

// ItemID is the item's id.
func (i *FileChangeItem) ItemID() string { return i.ID }

// ItemID is the item's id.
func (i *ContextCompactionItem) ItemID() string { return i.ID }

// ItemID is the id in the raw JSON, "" where there is none.
func (u *Unknown) ItemID() string {
	var v struct{ ID string }
	if json.Unmarshal(u.Raw, &v) != nil {
		return ""
	}
	return v.ID
}

var threadItems = newVariants[ThreadItemVariant]("type",
	variantRow[ThreadItemVariant]{"userMessage", func() ThreadItemVariant { return &UserMessageItem{Content: []UserInput{}} }},
	variantRow[ThreadItemVariant]{"agentMessage", func() ThreadItemVariant { return &AgentMessageItem{} }},
	variantRow[ThreadItemVariant]{"plan", func() ThreadItemVariant { return &PlanItem{} }},
	variantRow[ThreadItemVariant]{"reasoning", func() ThreadItemVariant { return &ReasoningItem{Summary: []string{}, Content: []string{}} }},
	variantRow[ThreadItemVariant]{"commandExecution", func() ThreadItemVariant { return &CommandExecutionItem{CommandActions: []CommandAction{}} }},
	variantRow[ThreadItemVariant]{"fileChange", func() ThreadItemVariant { return &FileChangeItem{Changes: []FileUpdateChange{}} }},
	variantRow[ThreadItemVariant]{"contextCompaction", func() ThreadItemVariant { return &ContextCompactionItem{} }},
)

type itemTimes struct {
	StartedAtMs   *int64 `json:"startedAtMs"`
	CompletedAtMs *int64 `json:"completedAtMs"`
}

// MarshalJSON writes the variant with its type, and the times after it.
func (i ThreadItem) MarshalJSON() ([]byte, error) {
	if u, ok := i.ThreadItemVariant.(*Unknown); ok {
		return u.Raw, nil
	}
	b, err := threadItems.encode(i.ThreadItemVariant)
	if err != nil {
		return nil, err
	}
	times, err := marshal(itemTimes{i.StartedAtMs, i.CompletedAtMs})
	if err != nil {
		return nil, err
	}
	b[len(b)-1] = ','
	return append(b, times[1:]...), nil
}

// UnmarshalJSON keeps unknown variants as raw JSON.
func (i *ThreadItem) UnmarshalJSON(b []byte) error {
	v, tag, ok, err := threadItems.decode(b)
	if err != nil {
		return err
	}
	if !ok {
		i.ThreadItemVariant = &Unknown{Tag: tag, Raw: append(json.RawMessage(nil), b...)}
		return nil
	}
	i.ThreadItemVariant = v
	var times itemTimes
	err = json.Unmarshal(b, &times)
	i.StartedAtMs, i.CompletedAtMs = times.StartedAtMs, times.CompletedAtMs
	return err
}
