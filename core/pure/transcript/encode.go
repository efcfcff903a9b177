package transcript

import (
	"encoding/json"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/core/pure/command"
	"appserver/core/pure/patch"
	"appserver/protocol"
)

// The types of items in item_completed events.
const (
	userMessageType   = "UserMessage"
	agentMessageType  = "AgentMessage"
	planType          = "Plan"
	reasoningType     = "Reasoning"
	commandType       = "CommandExecution"
	fileChangeType    = "FileChange"
	imageViewType     = "ImageView"
	webSearchType     = "WebSearch"
	dynamicToolType   = "DynamicToolCall"
	compactionType    = "ContextCompaction"
	enteredReviewType = "EnteredReviewMode"
	exitedReviewType  = "ExitedReviewMode"
)

// member returns a text of valid JSON, or "".
func member(payload json.RawMessage, path string) string {
	return gjson.GetBytes(payload, path).Str
}

// The types of this file are items in the rollout's form, which is that of the reference
// implementation.

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

// storedMark is an item without members of its own.
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

// EncodeItem returns the rollout's form of an item. argv is the command line of a command, or nil.
func EncodeItem(item protocol.ThreadItem, argv []string) any {
	switch v := item.ThreadItemVariant.(type) {
	case *protocol.UserMessageItem:
		return storedUser{userMessageType, v.ID, v.ClientID, v.Content}
	case *protocol.AgentMessageItem:
		return storedAgent{agentMessageType, v.ID, []storedText{{"Text", v.Text}}, v.Phase}
	case *protocol.PlanItem:
		return storedPlan{planType, v.ID, v.Text}
	case *protocol.ReasoningItem:
		return storedReasoning{reasoningType, v.ID, v.Summary, v.Content}
	case *protocol.CommandExecutionItem:
		return encodeCommand(v, argv)
	case *protocol.FileChangeItem:
		return encodeFileChange(v)
	case *protocol.McpToolCallItem:
		return encodeServerCall(v)
	case *protocol.ImageViewItem:
		return storedImage{imageViewType, v.ID, fileURL(v.Path)}
	case *protocol.WebSearchItem:
		return encodeSearch(v)
	case *protocol.DynamicToolCallItem:
		return encodeDynamicTool(v)
	case *protocol.CollabAgentToolCallItem:
		return encodeAgentCall(v)
	case *protocol.SubAgentActivityItem:
		return encodeAgentActivity(v)
	case *protocol.ContextCompactionItem:
		return storedMark{compactionType, v.ID}
	}
	return item
}

func encodeCommand(v *protocol.CommandExecutionItem, argv []string) storedCommand {
	c := storedCommand{
		Type: commandType, ID: v.ID, ProcessID: v.ProcessID, Command: argv, Cwd: fileURL(v.Cwd),
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

// DecodeItem returns the item of an item_completed event. Items of an unknown type keep all their
// members.
func DecodeItem(payload json.RawMessage) protocol.ThreadItem {
	members := gjson.GetManyBytes(payload, "item", "started_at_ms", "completed_at_ms")
	raw := json.RawMessage(members[0].Raw)
	item := protocol.ThreadItem{StartedAtMs: optionalInt(members[1]), CompletedAtMs: optionalInt(members[2])}
	switch member(raw, "type") {
	case userMessageType:
		item.ThreadItemVariant = decodeUser(raw)
	case agentMessageType:
		item.ThreadItemVariant = decodeAgent(raw)
	case planType:
		item.ThreadItemVariant = &protocol.PlanItem{ID: member(raw, "id"), Text: member(raw, "text")}
	case reasoningType:
		item.ThreadItemVariant = decodeReasoning(raw)
	case commandType:
		item.ThreadItemVariant = decodeCommand(raw)
	case fileChangeType:
		item.ThreadItemVariant = decodeFileChange(raw)
	case serverCallType:
		item.ThreadItemVariant = decodeServerCall(raw)
	case enteredReviewType:
		item.ThreadItemVariant = &protocol.EnteredReviewModeItem{
			ID:     member(raw, "id"),
			Review: member(raw, "user_facing_hint"),
		}
	case exitedReviewType:
		item.ThreadItemVariant = decodeExited(raw)
	case dynamicToolType:
		item.ThreadItemVariant = decodeDynamicTool(raw)
	case AgentCallType:
		item.ThreadItemVariant = decodeAgentCall(members[0])
	case AgentActivityType:
		item.ThreadItemVariant = decodeAgentActivity(members[0])
	case imageViewType:
		item.ThreadItemVariant = &protocol.ImageViewItem{ID: member(raw, "id"), Path: pathOf(member(raw, "path"))}
	}
	if item.ThreadItemVariant == nil {
		item.ThreadItemVariant = decodeForeign(payload)
	}
	if item.ThreadItemVariant == nil {
		item.ThreadItemVariant = decodeOther(raw)
	}
	return item
}

func optionalInt(r gjson.Result) *int64 {
	if r.Type != gjson.Number {
		return nil
	}
	return new(r.Int())
}

func decodeUser(raw json.RawMessage) protocol.ThreadItemVariant {
	var s storedUser
	if protocol.Unmarshal(raw, &s) != nil {
		return nil
	}
	return &protocol.UserMessageItem{ID: s.ID, ClientID: s.ClientID, Content: orEmpty([]protocol.UserInput(s.Content))}
}

func decodeAgent(raw json.RawMessage) protocol.ThreadItemVariant {
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

func decodeReasoning(raw json.RawMessage) protocol.ThreadItemVariant {
	var s storedReasoning
	if protocol.Unmarshal(raw, &s) != nil {
		return nil
	}
	return &protocol.ReasoningItem{ID: s.ID, Summary: orEmpty(s.SummaryText), Content: orEmpty(s.RawContent)}
}

func decodeCommand(raw json.RawMessage) protocol.ThreadItemVariant {
	var s storedCommand
	if protocol.Unmarshal(raw, &s) != nil {
		return nil
	}
	item := &protocol.CommandExecutionItem{
		ID: s.ID, Command: command.Quote(s.Command), Cwd: pathOf(s.Cwd), ProcessID: s.ProcessID,
		Source: protocol.CamelCase(s.Source), Status: protocol.CommandExecutionStatus(protocol.CamelCase(s.Status)),
		CommandActions: decodeActions(s.ParsedCmd), ExitCode: s.ExitCode,
	}
	if s.AggregatedOutput != nil && *s.AggregatedOutput != "" {
		item.AggregatedOutput = s.AggregatedOutput
	}
	if s.Duration != nil {
		item.DurationMs = new(s.Duration.Secs*1000 + s.Duration.Nanos/1e6)
	}
	return item
}

func decodeActions(stored []storedAction) []protocol.CommandAction {
	actions := []protocol.CommandAction{}
	for _, a := range stored {
		actions = append(actions,
			protocol.CommandAction{Type: protocol.CamelCase(a.Type), Command: a.Cmd, Name: a.Name, Path: a.Path, Query: a.Query})
	}
	return actions
}

// fileURL returns the URL of an absolute path, or the text itself. The URL of C:\a is file:///C:/a, and the one of
// \\host\a is file://host/a.
func fileURL(path string) string {
	slashed := filepath.ToSlash(path)
	host, share, isShare := strings.Cut(strings.TrimPrefix(slashed, "//"), "/")
	switch {
	case filepath.VolumeName(path) != "" && strings.HasPrefix(slashed, "//") && isShare:
		return (&url.URL{Scheme: "file", Host: host, Path: "/" + share}).String()
	case filepath.VolumeName(path) != "" && filepath.IsAbs(path):
		return (&url.URL{Scheme: "file", Path: "/" + slashed}).String()
	case strings.HasPrefix(path, "/"):
		return (&url.URL{Scheme: "file", Path: path}).String()
	}
	return path
}

// pathOf returns the path of a local file URL, or the text itself.
func pathOf(text string) string {
	path, isFile := strings.CutPrefix(text, "file://")
	if isFile && filepath.Separator == '/' && strings.HasPrefix(path, "/") && isPlainPath(path) {
		return path
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return text
	}
	if path := filepath.FromSlash("//" + u.Host + u.Path); u.Host != "" && filepath.VolumeName(path) != "" {
		return path
	}
	if path := filepath.FromSlash(strings.TrimPrefix(u.Path, "/")); filepath.VolumeName(path) != "" {
		return path
	}
	if u.Host != "" {
		return text
	}
	return u.Path
}

// isPlainPath reports whether a path is the same in a URL.
func isPlainPath(path string) bool {
	for i := range len(path) {
		switch c := path[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c != '/' && c != '.' && c != '-' && c != '_':
			return false
		}
	}
	return true
}

type storedChanges struct {
	Type    string                  `json:"type"`
	ID      string                  `json:"id"`
	Changes map[string]storedChange `json:"changes"`
	Status  string                  `json:"status"`
}

// storedChange is a file that was added, changed or deleted. Each kind has its own members.
type storedChange struct {
	Type        string  `json:"type"`
	Content     string  `json:"content"`
	UnifiedDiff string  `json:"unified_diff"`
	MovePath    *string `json:"move_path"`
}

// MarshalJSON writes only the members of the kind.
func (c storedChange) MarshalJSON() ([]byte, error) {
	if c.Type == string(patch.Update) {
		return protocol.Marshal(map[string]any{"type": c.Type, "unified_diff": c.UnifiedDiff, "move_path": c.MovePath})
	}
	return protocol.Marshal(map[string]any{"type": c.Type, "content": c.Content})
}

// ChangeKind returns the kind of a file's change, with the new path of a file that was moved.
func ChangeKind(kind string, movePath *string) json.RawMessage {
	members := map[string]any{"type": kind}
	if kind == string(patch.Update) {
		members["move_path"] = movePath
	}
	raw, _ := protocol.Marshal(members) // strings can be encoded
	return raw
}

// MovedTo returns the end of the diff of a file that was moved, or "".
func MovedTo(path *string) string {
	if path == nil {
		return ""
	}
	return "\n\nMoved to: " + *path
}

func encodeFileChange(v *protocol.FileChangeItem) storedChanges {
	s := storedChanges{fileChangeType, v.ID, map[string]storedChange{}, protocol.SnakeCase(v.Status)}
	for _, c := range v.Changes {
		kind := gjson.GetManyBytes(c.Kind, "type", "move_path")
		change := storedChange{Type: kind[0].Str, MovePath: protocol.OrNil(kind[1].Str)}
		if change.Type == string(patch.Update) {
			change.UnifiedDiff = strings.TrimSuffix(c.Diff, MovedTo(change.MovePath))
		} else {
			change.Content = c.Diff
		}
		s.Changes[c.Path] = change
	}
	return s
}

// decodeFileChange lists the changes by path. The diff of a file that was added or deleted is its
// content.
func decodeFileChange(raw json.RawMessage) protocol.ThreadItemVariant {
	var s storedChanges
	if protocol.Unmarshal(raw, &s) != nil {
		return nil
	}
	item := &protocol.FileChangeItem{
		ID:      s.ID,
		Changes: []protocol.FileUpdateChange{},
		Status:  protocol.CamelCase(s.Status),
	}
	for _, path := range slices.Sorted(maps.Keys(s.Changes)) {
		c := s.Changes[path]
		item.Changes = append(
			item.Changes,
			protocol.FileUpdateChange{
				Path: path,
				Kind: ChangeKind(c.Type, c.MovePath),
				Diff: c.Content + c.UnifiedDiff + MovedTo(c.MovePath),
			},
		)
	}
	return item
}

// decodeOther renames the members of an item of an unknown type.
func decodeOther(raw json.RawMessage) protocol.ThreadItemVariant {
	var members map[string]json.RawMessage
	if protocol.Unmarshal(raw, &members) != nil {
		return &protocol.Unknown{Raw: raw}
	}
	wire := make(map[string]json.RawMessage, len(members))
	for name, value := range members {
		wire[protocol.CamelCase(name)] = value
	}
	tag := member(raw, "type")
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

func encodeDynamicTool(v *protocol.DynamicToolCallItem) storedTool {
	t := storedTool{
		dynamicToolType,
		v.ID,
		v.Namespace,
		v.Tool,
		v.Arguments,
		protocol.SnakeCase(v.Status),
		v.ContentItems,
		v.Success,
		nil,
	}
	if v.DurationMs != nil {
		t.Duration = &storedDuration{*v.DurationMs / 1000, *v.DurationMs % 1000 * 1e6}
	}
	return t
}

// decodeDynamicTool returns nil for another shape.
func decodeDynamicTool(raw json.RawMessage) protocol.ThreadItemVariant {
	var t storedTool
	if protocol.Unmarshal(raw, &t) != nil {
		return nil
	}
	item := &protocol.DynamicToolCallItem{
		ID: t.ID, Namespace: t.Namespace, Tool: t.Tool, Arguments: t.Arguments, Status: protocol.CamelCase(t.Status),
		ContentItems: t.ContentItems, Success: t.Success,
	}
	if len(item.Arguments) == 0 {
		item.Arguments = json.RawMessage("null")
	}
	if d := t.Duration; d != nil {
		item.DurationMs = new(d.Secs*1000 + d.Nanos/1e6)
	}
	return item
}
