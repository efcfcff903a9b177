package core

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/core/command"
	"appserver/core/patch"
	"appserver/protocol"
)

// The types of items in item_completed events.
const (
	storedUserMessage      = "UserMessage"
	storedAgentMessage     = "AgentMessage"
	storedPlanItem         = "Plan"
	storedReasoningItem    = "Reasoning"
	storedCommandExecution = "CommandExecution"
	storedFileChange       = "FileChange"
	storedImageView        = "ImageView"
	storedWebSearch        = "WebSearch"
	storedDynamicTool      = "DynamicToolCall"
	storedCompaction       = "ContextCompaction"
	storedEnteredReview    = "EnteredReviewMode"
	storedExitedReview     = "ExitedReviewMode"
)

// peek is a string member of JSON that is known to be valid, "" where it is absent.
func peek(payload json.RawMessage, path string) string {
	return gjson.GetBytes(payload, path).Str
}

// The types of this file are thread items as item_completed events keep them: the
// reference implementation's own form, with other names than the wire's.

type storedUser struct {
	Type     string        `json:"type"`
	ID       string        `json:"id"`
	ClientID *string       `json:"client_id,omitempty"`
	Content  storedContent `json:"content"`
}

type storedAgent struct {
	Type    string       `json:"type"`
	ID      string       `json:"id"`
	Content []storedText `json:"content"`
	Phase   *string      `json:"phase,omitempty"`
}

type storedPlan struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	Text string `json:"text"`
}

type storedText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type storedReasoning struct {
	Type        string   `json:"type"`
	ID          string   `json:"id"`
	SummaryText []string `json:"summary_text"`
	RawContent  []string `json:"raw_content"`
}

// storedMark is an item that has no members but those that all have.
type storedMark struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

type storedImage struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	Path string `json:"path"`
}

type storedCommand struct {
	Type             string          `json:"type"`
	ID               string          `json:"id"`
	ProcessID        *string         `json:"process_id,omitempty"`
	Command          []string        `json:"command"`
	Cwd              string          `json:"cwd"`
	ParsedCmd        []storedAction  `json:"parsed_cmd"`
	Source           string          `json:"source"`
	Status           string          `json:"status"`
	AggregatedOutput *string         `json:"aggregated_output,omitempty"`
	ExitCode         *int            `json:"exit_code,omitempty"`
	Duration         *storedDuration `json:"duration,omitempty"`
}

type storedAction struct {
	Type  string  `json:"type"`
	Cmd   string  `json:"cmd"`
	Name  string  `json:"name,omitempty"`
	Path  *string `json:"path,omitempty"`
	Query *string `json:"query,omitempty"`
}

type storedDuration struct {
	Secs  int64 `json:"secs"`
	Nanos int64 `json:"nanos"`
}

// storeItem is the form of an item that item_completed events keep. argv is the
// command line of a command item.
func storeItem(item protocol.ThreadItem, argv []string) any {
	switch v := item.ThreadItemVariant.(type) {
	case *protocol.UserMessageItem:
		return storedUser{storedUserMessage, v.ID, v.ClientID, v.Content}
	case *protocol.AgentMessageItem:
		return storedAgent{storedAgentMessage, v.ID, []storedText{{"Text", v.Text}}, v.Phase}
	case *protocol.PlanItem:
		return storedPlan{storedPlanItem, v.ID, v.Text}
	case *protocol.ReasoningItem:
		return storedReasoning{storedReasoningItem, v.ID, v.Summary, v.Content}
	case *protocol.CommandExecutionItem:
		return storeCommand(v, argv)
	case *protocol.FileChangeItem:
		return storeFileChange(v)
	case *protocol.McpToolCallItem:
		return storeServerCall(v)
	case *protocol.ImageViewItem:
		return storedImage{storedImageView, v.ID, fileURL(v.Path)}
	case *protocol.WebSearchItem:
		return storeSearch(v)
	case *protocol.DynamicToolCallItem:
		return storeDynamicTool(v)
	case *protocol.ContextCompactionItem:
		return storedMark{storedCompaction, v.ID}
	}
	return item
}

func storeCommand(v *protocol.CommandExecutionItem, argv []string) storedCommand {
	c := storedCommand{
		Type: storedCommandExecution, ID: v.ID, ProcessID: v.ProcessID, Command: argv, Cwd: fileURL(v.Cwd),
		Source: protocol.SnakeCase(v.Source), Status: protocol.SnakeCase(string(v.Status)),
		AggregatedOutput: v.AggregatedOutput, ExitCode: v.ExitCode, ParsedCmd: []storedAction{},
	}
	for _, a := range v.CommandActions {
		c.ParsedCmd = append(c.ParsedCmd, storedAction{protocol.SnakeCase(a.Type), a.Command, a.Name, a.Path, a.Query})
	}
	if v.DurationMs != nil {
		c.Duration = &storedDuration{*v.DurationMs / 1000, *v.DurationMs % 1000 * 1e6}
	}
	return c
}

// loadItem reads the item of an item_completed event. Items without a type of
// their own here keep all their members under the wire's names.
func loadItem(payload json.RawMessage) protocol.ThreadItem {
	members := gjson.GetManyBytes(payload, "item", "started_at_ms", "completed_at_ms")
	raw := json.RawMessage(members[0].Raw)
	item := protocol.ThreadItem{StartedAtMs: integer(members[1]), CompletedAtMs: integer(members[2])}
	switch peek(raw, "type") {
	case storedUserMessage:
		item.ThreadItemVariant = loadUser(raw)
	case storedAgentMessage:
		item.ThreadItemVariant = loadAgent(raw)
	case storedPlanItem:
		item.ThreadItemVariant = &protocol.PlanItem{ID: peek(raw, "id"), Text: peek(raw, "text")}
	case storedReasoningItem:
		item.ThreadItemVariant = loadReasoning(raw)
	case storedCommandExecution:
		item.ThreadItemVariant = loadCommand(raw)
	case storedFileChange:
		item.ThreadItemVariant = loadFileChange(raw)
	case storedMcpToolCall:
		item.ThreadItemVariant = loadServerCall(raw)
	case storedEnteredReview:
		item.ThreadItemVariant = &protocol.EnteredReviewModeItem{ID: peek(raw, "id"), Review: peek(raw, "user_facing_hint")}
	case storedExitedReview:
		item.ThreadItemVariant = loadExited(raw)
	case storedDynamicTool:
		item.ThreadItemVariant = loadDynamicTool(raw)
	case storedImageView:
		item.ThreadItemVariant = &protocol.ImageViewItem{ID: peek(raw, "id"), Path: pathOf(peek(raw, "path"))}
	}
	if item.ThreadItemVariant == nil {
		item.ThreadItemVariant = loadForeign(payload)
	}
	if item.ThreadItemVariant == nil {
		item.ThreadItemVariant = loadOther(raw)
	}
	return item
}

func integer(r gjson.Result) *int64 {
	if r.Type != gjson.Number {
		return nil
	}
	return new(r.Int())
}

func loadUser(raw json.RawMessage) protocol.ThreadItemVariant {
	var s storedUser
	if protocol.Unmarshal(raw, &s) != nil {
		return nil
	}
	return &protocol.UserMessageItem{ID: s.ID, ClientID: s.ClientID, Content: orEmpty([]protocol.UserInput(s.Content))}
}

func loadAgent(raw json.RawMessage) protocol.ThreadItemVariant {
	var s storedAgent
	if protocol.Unmarshal(raw, &s) != nil {
		return nil
	}
	var text strings.Builder
	for _, c := range s.Content {
		text.WriteString(c.Text)
	}
	return agentItem(s.ID, text.String(), gjson.ParseBytes(raw))
}

func loadReasoning(raw json.RawMessage) protocol.ThreadItemVariant {
	var s storedReasoning
	if protocol.Unmarshal(raw, &s) != nil {
		return nil
	}
	return &protocol.ReasoningItem{ID: s.ID, Summary: orEmpty(s.SummaryText), Content: orEmpty(s.RawContent)}
}

func loadCommand(raw json.RawMessage) protocol.ThreadItemVariant {
	var s storedCommand
	if protocol.Unmarshal(raw, &s) != nil {
		return nil
	}
	item := &protocol.CommandExecutionItem{
		ID: s.ID, Command: command.Quote(s.Command), Cwd: pathOf(s.Cwd), ProcessID: s.ProcessID,
		Source: protocol.CamelCase(s.Source), Status: protocol.CommandExecutionStatus(protocol.CamelCase(s.Status)),
		CommandActions: []protocol.CommandAction{}, ExitCode: s.ExitCode,
	}
	if s.AggregatedOutput != nil && *s.AggregatedOutput != "" {
		item.AggregatedOutput = s.AggregatedOutput
	}
	for _, a := range s.ParsedCmd {
		item.CommandActions = append(item.CommandActions, protocol.CommandAction{Type: protocol.CamelCase(a.Type), Command: a.Cmd, Name: a.Name, Path: a.Path, Query: a.Query})
	}
	if s.Duration != nil {
		item.DurationMs = new(s.Duration.Secs*1000 + s.Duration.Nanos/1e6)
	}
	return item
}

// fileURL is the URL of an absolute path, or the text itself.
func fileURL(path string) string {
	if !strings.HasPrefix(path, "/") {
		return path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// pathOf is the path of a local file URL, or the text itself.
func pathOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "file" || u.Host != "" || u.Path == "" {
		return text
	}
	return u.Path
}

type storedChanges struct {
	Type    string                  `json:"type"`
	ID      string                  `json:"id"`
	Changes map[string]storedChange `json:"changes"`
	Status  string                  `json:"status"`
}

// storedChange is a file that was added, changed or deleted; the members are those of
// its kind.
type storedChange struct {
	Type        string  `json:"type"`
	Content     string  `json:"content"`
	UnifiedDiff string  `json:"unified_diff"`
	MovePath    *string `json:"move_path"`
}

// MarshalJSON writes the members of the kind alone.
func (c storedChange) MarshalJSON() ([]byte, error) {
	if c.Type == string(patch.Update) {
		return protocol.Marshal(map[string]any{"type": c.Type, "unified_diff": c.UnifiedDiff, "move_path": c.MovePath})
	}
	return protocol.Marshal(map[string]any{"type": c.Type, "content": c.Content})
}

// movedTo ends the diff of a file that was moved.
func movedTo(path *string) string {
	if path == nil {
		return ""
	}
	return "\n\nMoved to: " + *path
}

func storeFileChange(v *protocol.FileChangeItem) storedChanges {
	s := storedChanges{storedFileChange, v.ID, map[string]storedChange{}, protocol.SnakeCase(v.Status)}
	for _, c := range v.Changes {
		kind := gjson.GetManyBytes(c.Kind, "type", "move_path")
		change := storedChange{Type: kind[0].Str, MovePath: optional(kind[1].Str)}
		if change.Type == string(patch.Update) {
			change.UnifiedDiff = strings.TrimSuffix(c.Diff, movedTo(change.MovePath))
		} else {
			change.Content = c.Diff
		}
		s.Changes[c.Path] = change
	}
	return s
}

// loadFileChange lists the changes by path. The diff of a file that was added or
// deleted is its content.
func loadFileChange(raw json.RawMessage) protocol.ThreadItemVariant {
	var s storedChanges
	if protocol.Unmarshal(raw, &s) != nil {
		return nil
	}
	item := &protocol.FileChangeItem{ID: s.ID, Changes: []protocol.FileUpdateChange{}, Status: protocol.CamelCase(s.Status)}
	for _, path := range slices.Sorted(maps.Keys(s.Changes)) {
		c := s.Changes[path]
		item.Changes = append(item.Changes, protocol.FileUpdateChange{Path: path, Kind: changeKind(c.Type, c.MovePath), Diff: c.Content + c.UnifiedDiff + movedTo(c.MovePath)})
	}
	return item
}

// loadOther renames the members of an item that has no type here.
func loadOther(raw json.RawMessage) protocol.ThreadItemVariant {
	var members map[string]json.RawMessage
	if protocol.Unmarshal(raw, &members) != nil {
		return &protocol.Unknown{Raw: raw}
	}
	wire := make(map[string]json.RawMessage, len(members))
	for name, value := range members {
		wire[protocol.CamelCase(name)] = value
	}
	tag := peek(raw, "type")
	if tag != "" {
		tag = strings.ToLower(tag[:1]) + tag[1:]
		wire["type"], _ = protocol.Marshal(tag)
	}
	renamed, err := protocol.Marshal(wire)
	if err != nil {
		renamed = raw
	}
	var item protocol.ThreadItem
	if protocol.Unmarshal(renamed, &item) != nil {
		return &protocol.Unknown{Tag: tag, Raw: renamed}
	}
	return item.ThreadItemVariant
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

type storedTool struct {
	Type         string                        `json:"type"`
	ID           string                        `json:"id"`
	Namespace    *string                       `json:"namespace,omitempty"`
	Tool         string                        `json:"tool"`
	Arguments    json.RawMessage               `json:"arguments"`
	Status       string                        `json:"status"`
	ContentItems []protocol.DynamicToolContent `json:"content_items"`
	Success      *bool                         `json:"success,omitempty"`
	Duration     *storedDuration               `json:"duration,omitempty"`
}

func storeDynamicTool(v *protocol.DynamicToolCallItem) storedTool {
	t := storedTool{storedDynamicTool, v.ID, v.Namespace, v.Tool, v.Arguments, protocol.SnakeCase(v.Status), v.ContentItems, v.Success, nil}
	if v.DurationMs != nil {
		t.Duration = &storedDuration{*v.DurationMs / 1000, *v.DurationMs % 1000 * 1e6}
	}
	return t
}

// loadDynamicTool is nil for what has another shape.
func loadDynamicTool(raw json.RawMessage) protocol.ThreadItemVariant {
	var t storedTool
	if protocol.Unmarshal(raw, &t) != nil {
		return nil
	}
	item := &protocol.DynamicToolCallItem{
		ID: t.ID, Namespace: t.Namespace, Tool: t.Tool, Arguments: t.Arguments, Status: protocol.CamelCase(t.Status), ContentItems: t.ContentItems, Success: t.Success,
	}
	if len(item.Arguments) == 0 {
		item.Arguments = json.RawMessage("null")
	}
	if d := t.Duration; d != nil {
		item.DurationMs = new(d.Secs*1000 + d.Nanos/1e6)
	}
	return item
}
