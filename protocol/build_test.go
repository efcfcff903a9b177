package protocol_test

import (
	"encoding/json"
	"reflect"
	"strings"

	"appserver/protocol"
)

// chooser decides what a built value holds.
type chooser interface {
	some() bool    // whether a pointer is set
	length() int   // of a list
	one(n int) int // of n alternatives
	text() string
	number() int64
}

// bare values hold nothing that may be empty.
type bare struct{}

func (bare) some() bool    { return false }
func (bare) length() int   { return 0 }
func (bare) one(int) int   { return 0 }
func (bare) text() string  { return "" }
func (bare) number() int64 { return 0 }

// full values hold one of everything; of alternatives, the one of that number.
type full struct{ alternative int }

func (full) some() bool      { return true }
func (full) length() int     { return 1 }
func (f full) one(n int) int { return f.alternative % n }
func (full) text() string    { return `a "quoted" <text> & more` }
func (full) number() int64   { return 7 }

// builder makes values of the types of package protocol by their Go types.
type builder struct{ chooser }

func (b builder) value(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	if own, ok := ownShapes()[t]; ok {
		v.Set(reflect.ValueOf(own(b)).Convert(t))
		return v
	}
	if u, ok := unionOf(t); ok {
		return b.union(u)
	}
	switch t.Kind() {
	case reflect.Pointer:
		if b.some() {
			v.Set(reflect.New(t.Elem()))
			v.Elem().Set(b.value(t.Elem()))
		}
	case reflect.Slice:
		v.Set(b.list(t))
	case reflect.Map:
		v.Set(b.table(t))
	case reflect.Struct:
		b.fields(v)
	case reflect.String:
		v.SetString(b.text())
	case reflect.Bool:
		v.SetBool(b.some())
	case reflect.Interface:
		v.Set(reflect.ValueOf(b.text()))
	default:
		v.Set(reflect.ValueOf(b.number()).Convert(t))
	}
	return v
}

func (b builder) list(t reflect.Type) reflect.Value {
	list := reflect.MakeSlice(t, 0, 0)
	for range b.length() {
		list = reflect.Append(list, b.value(t.Elem()))
	}
	return list
}

func (b builder) table(t reflect.Type) reflect.Value {
	table := reflect.MakeMap(t)
	for range b.length() {
		table.SetMapIndex(reflect.ValueOf(b.text()), b.value(t.Elem()))
	}
	return table
}

func (b builder) fields(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if words := wordsOf(v.Type(), f); words != nil {
			v.Field(i).Set(b.closed(f.Type, words))
		} else {
			v.Field(i).Set(b.value(f.Type))
		}
		if empty := v.Field(i); strings.Contains(f.Tag.Get("json"), "omitempty") && empty.Kind() == reflect.Slice &&
			empty.Len() == 0 {
			empty.SetZero()
		}
	}
}

// closed returns a value that holds one of the words, or none.
func (b builder) closed(t reflect.Type, words []string) reflect.Value {
	word := words[b.one(len(words))]
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return reflect.ValueOf(json.RawMessage(word))
	case t.Kind() == reflect.Pointer && b.some():
		v := reflect.New(t.Elem())
		v.Elem().Set(b.closed(t.Elem(), words))
		return v
	case t.Kind() == reflect.Pointer:
		return reflect.Zero(t)
	case t.Kind() == reflect.Slice:
		return reflect.Append(reflect.MakeSlice(t, 0, 1), b.closed(t.Elem(), words))
	}
	return reflect.ValueOf(word).Convert(t)
}

func (b builder) union(u protocol.Union) reflect.Value {
	v := reflect.New(u.Type).Elem()
	variant := u.Variants[b.one(len(u.Variants))].Type
	v.Field(0).Set(reflect.New(variant))
	v.Field(0).Elem().Elem().Set(b.value(variant))
	for i := 1; i < v.NumField(); i++ {
		v.Field(i).Set(b.value(v.Field(i).Type()))
	}
	return v
}

func unionOf(t reflect.Type) (protocol.Union, bool) {
	for _, u := range allUnions() {
		if u.Type == t {
			return u, true
		}
	}
	return protocol.Union{}, false
}

// allUnions returns the unions of messages and the union of rollouts.
func allUnions() []protocol.Union {
	items := protocol.Union{Type: reflect.TypeFor[protocol.ResponseItem](), Member: "type"}
	for tag, variant := range map[string]protocol.ResponseItemVariant{
		"message": &protocol.Message{}, "reasoning": &protocol.Reasoning{},
		"function_call": &protocol.FunctionCall{}, "function_call_output": &protocol.FunctionCallOutput{},
		"custom_tool_call": &protocol.CustomToolCall{}, "custom_tool_call_output": &protocol.CustomToolCallOutput{},
		"local_shell_call": &protocol.LocalShellCall{},
	} {
		items.Variants = append(items.Variants, protocol.Variant{Tag: tag, Type: reflect.TypeOf(variant).Elem()})
	}
	return append(protocol.Unions(), items)
}

// ownShapes returns types whose values are not what their Go type suggests.
func ownShapes() map[reflect.Type]func(b builder) any {
	return map[reflect.Type]func(b builder) any{
		reflect.TypeFor[json.RawMessage](): func(b builder) any {
			return json.RawMessage([]string{`{"a":[1,"x"]}`, `"word"`, `5`}[b.one(3)])
		},
		reflect.TypeFor[protocol.AskForApproval](): func(b builder) any {
			if modes := []string{protocol.ApprovalUntrusted, protocol.ApprovalOnRequest, protocol.ApprovalNever}; b.one(4) < 3 {
				return protocol.AskForApproval{Mode: modes[b.one(3)]}
			}
			granular := b.value(reflect.TypeFor[protocol.GranularApproval]()).Interface().(protocol.GranularApproval)
			return protocol.AskForApproval{Mode: protocol.ApprovalGranular, Granular: &granular}
		},
		reflect.TypeFor[protocol.MultiAgentMode](): func(b builder) any {
			modes := []protocol.MultiAgentMode{{}, {Proactive: true}, {Custom: new(b.text())}}
			return modes[b.one(len(modes))]
		},
		reflect.TypeFor[protocol.ApprovalDecision](): func(b builder) any {
			words := []string{protocol.DecisionAccept, protocol.DecisionAcceptForSession, protocol.DecisionDecline,
				protocol.DecisionCancel}
			if i := b.one(5); i < 4 {
				return protocol.ApprovalDecision{Word: words[i]}
			}
			return protocol.ApprovalDecision{Word: protocol.DecisionAcceptWithAmendment,
				Detail: json.RawMessage(`{"execpolicy_amendment":["touch"]}`)}
		},
		reflect.TypeFor[protocol.CodexErrorInfo](): func(b builder) any {
			status := int(b.number())
			return []protocol.CodexErrorInfo{
				{Kind: protocol.ErrorOther},
				{Kind: protocol.ErrorHTTPConnectionFailed},
				{Kind: protocol.ErrorTooManyFailedAttempts, HTTPStatus: &status},
				{Kind: protocol.ErrorActiveTurnNotSteerable, TurnKind: "compact"},
				{Kind: "of another version"},
				{Kind: "of another version", Detail: json.RawMessage(`{"x":[1]}`)},
			}[b.one(6)]
		},
		reflect.TypeFor[protocol.WebSearchAction](): func(b builder) any {
			query, url := new(b.text()), new(b.text())
			return []protocol.WebSearchAction{
				{Type: protocol.WebSearchQuery, Query: query, Queries: []string{b.text()}},
				{Type: protocol.WebSearchOpenPage, URL: url},
				{Type: protocol.WebSearchFindInPage, URL: url, Pattern: query},
				{Type: protocol.WebSearchOther},
			}[b.one(4)]
		},
		reflect.TypeFor[protocol.CommandAction](): func(b builder) any {
			text, path := b.text(), b.text()
			return []protocol.CommandAction{
				{Type: "unknown", Command: text},
				{Type: "read", Command: text, Name: text, Path: &path},
				{Type: "listFiles", Command: text},
				{Type: "search", Command: text, Query: &path},
			}[b.one(4)]
		},
		reflect.TypeFor[protocol.ConfigLayerSource](): func(b builder) any {
			return []protocol.ConfigLayerSource{
				{Type: protocol.LayerSessionFlags}, {Type: protocol.LayerUser, File: "/config.toml"},
				{Type: protocol.LayerSystem, File: "/config.toml"}, {Type: protocol.LayerProject, DotCodexFolder: "/p/.codex"},
			}[b.one(4)]
		},
		reflect.TypeFor[protocol.ContentItem](): func(b builder) any {
			return []protocol.ContentItem{
				{Type: protocol.ContentInputText, Text: b.text()},
				{Type: protocol.ContentOutputText, Text: b.text()},
				{Type: protocol.ContentInputImage, ImageURL: b.text()},
				{Type: protocol.ContentInputImage, ImageURL: b.text(), Detail: "high"},
				{Type: "input_audio", Raw: json.RawMessage(`{"type":"input_audio","audio_url":"data:,"}`)},
			}[b.one(5)]
		},
		reflect.TypeFor[protocol.ToolOutput](): func(b builder) any {
			part := b.value(reflect.TypeFor[protocol.ContentItem]()).Interface().(protocol.ContentItem)
			return []protocol.ToolOutput{{Text: b.text()}, {Parts: []protocol.ContentItem{part}}}[b.one(2)]
		},
		reflect.TypeFor[protocol.PruneRange](): func(b builder) any {
			return []protocol.PruneRange{
				{Word: protocol.RangeAll}, {Word: protocol.RangeFirstTurns, Count: 3},
				{Word: protocol.RangeBeforeTurn, TurnID: b.text()}, {Word: protocol.RangeKeepLastTurns, Count: 2},
				{Word: protocol.RangeKeepLastOutputs, Count: 10},
			}[b.one(5)]
		},
		reflect.TypeFor[protocol.ThreadItemCursor](): func(b builder) any {
			return []protocol.ThreadItemCursor{{Page: "page"}, {ItemID: "item"}}[b.one(2)]
		},
		reflect.TypeFor[protocol.ContextCategory]():        oneOf("toolOutput", "userMessage", "other"),
		reflect.TypeFor[protocol.NotSentReason]():          oneOf("", "excluded", "otherModel"),
		reflect.TypeFor[protocol.ContextWarningCode]():     oneOf("changesNothing", "pinnedLost"),
		reflect.TypeFor[protocol.ContextItemState]():       oneOf("included", "hidden"),
		reflect.TypeFor[protocol.SuggestionReason]():       oneOf("staleRead", "oldReasoning"),
		reflect.TypeFor[protocol.SuggestionRisk]():         oneOf("low", "medium"),
		reflect.TypeFor[protocol.ContextSent]():            oneOf("sent", "notSent"),
		reflect.TypeFor[protocol.ContextReasonCode]():      oneOf("sent", "trimmed", "excluded"),
		reflect.TypeFor[protocol.ApprovalsReviewer]():      oneOf("user", "auto_review", "guardian_subagent"),
		reflect.TypeFor[protocol.SandboxMode]():            oneOf("read-only", "workspace-write", "danger-full-access"),
		reflect.TypeFor[protocol.MemoryMode]():             oneOf("enabled", "disabled"),
		reflect.TypeFor[protocol.TurnStatus]():             oneOf("completed", "interrupted", "failed", "inProgress"),
		reflect.TypeFor[protocol.CommandExecutionStatus](): oneOf("inProgress", "completed", "failed", "declined"),
		reflect.TypeFor[protocol.Kind]():                   oneOf("internal", "threadNotFound"),
	}
}

func oneOf(words ...string) func(builder) any {
	return func(b builder) any { return words[b.one(len(words))] }
}

// wordsOf returns the values that a field may hold, where not just anything: the words
// of its tag, or JSON.
func wordsOf(t reflect.Type, f reflect.StructField) []string {
	if words := strings.Fields(f.Tag.Get("oneof")); len(words) > 0 {
		return words
	}
	switch t.Name() + "." + f.Name {
	case "CommandExecutionRequestApprovalParams.AvailableDecisions":
		return []string{`"accept"`, `"cancel"`}
	case "FileUpdateChange.Kind":
		return []string{`{"type":"add"}`, `{"type":"delete"}`, `{"type":"update","move_path":null}`}
	}
	return nil
}
