package chat_test

import (
	"encoding/json"
	"testing"

	"appserver/core"
	"appserver/core/effects/model/chat"
	"appserver/core/effects/model/modeltest"
	"appserver/protocol"

	"github.com/stretchr/testify/require"
)

func chatJSON(t *testing.T, variants ...protocol.ResponseItemVariant) string {
	t.Helper()
	b, err := protocol.Marshal(chat.Messages(&core.Prompt{Items: modeltest.Items(variants...)}))
	require.NoError(t, err)
	return string(b)
}

func TestChatMessages(t *testing.T) {
	const (
		png     = "data:image/png;base64,AAAA"
		pngPart = `{"type":"image_url","image_url":{"url":"` + png + `"}}`
	)
	image := protocol.ContentItem{Type: protocol.ContentInputImage, ImageURL: png}
	text := func(s string) protocol.ContentItem {
		return protocol.ContentItem{Type: protocol.ContentInputText, Text: s}
	}
	user := func(parts ...protocol.ContentItem) *protocol.Message {
		return &protocol.Message{Role: protocol.RoleUser, Content: parts}
	}
	call := func(id string) *protocol.FunctionCall {
		return &protocol.FunctionCall{CallID: id, Name: "f", Arguments: "{}"}
	}
	out := func(id, s string) *protocol.FunctionCallOutput {
		return &protocol.FunctionCallOutput{CallID: id, Output: protocol.ToolOutput{Text: s}}
	}
	const callA = `{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}`
	const callB = `{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}`

	for name, c := range map[string]struct {
		items []protocol.ResponseItemVariant
		want  string
	}{
		"neighbouring messages of the user are one": {
			[]protocol.ResponseItemVariant{modeltest.Say("user", "1"), modeltest.Say("user", "2")},
			`[{"role":"user","content":"1\n\n2"}]`,
		},
		"developer and system": {
			[]protocol.ResponseItemVariant{modeltest.Say("developer", "1"), modeltest.Say("system", "2")},
			`[{"role":"system","content":"1"},{"role":"system","content":"2"}]`,
		},
		"text and calls are one message": {
			[]protocol.ResponseItemVariant{modeltest.Say("assistant", "look"), &protocol.Reasoning{}, call("a"), call("b"),
				out("a", "1"), out("b", "2"), modeltest.Say("assistant", "ok")},
			`[{"role":"assistant","content":"look","tool_calls":[` + callA + `,` + callB + `]},` +
				`{"role":"tool","content":"1","tool_call_id":"a"},{"role":"tool","content":"2","tool_call_id":"b"},` +
				`{"role":"assistant","content":"ok"}]`,
		},
		"rounds stay apart": {
			[]protocol.ResponseItemVariant{call("a"), out("a", "1"), call("b"), out("b", "2")},
			`[{"role":"assistant","content":null,"tool_calls":[` + callA +
				`]},{"role":"tool","content":"1","tool_call_id":"a"},` +
				`{"role":"assistant","content":null,"tool_calls":[` + callB +
				`]},{"role":"tool","content":"2","tool_call_id":"b"}]`,
		},
		"images of a user": {
			[]protocol.ResponseItemVariant{user(text("see"), image, text(""),
				protocol.ContentItem{Type: protocol.ContentInputImage, ImageURL: png, Detail: "high"},
				protocol.ContentItem{Type: "input_file"})},
			`[{"role":"user","content":[{"type":"text","text":"see"},` + pngPart + `,{"type":"image_url","image_url":{"url":"` +
				png + `","detail":"high"}}]}]`,
		},
		"several texts": {
			[]protocol.ResponseItemVariant{user(text("a"), text(""), text("b"))},
			`[{"role":"user","content":"a\nb"}]`,
		},
		"images of outputs follow the outputs": {
			[]protocol.ResponseItemVariant{call("a"), call("b"),
				&protocol.FunctionCallOutput{CallID: "a",
					Output: protocol.ToolOutput{Parts: []protocol.ContentItem{text("seen"), image}}},
				&protocol.FunctionCallOutput{CallID: "b", Output: protocol.ToolOutput{Parts: []protocol.ContentItem{image}}},
				modeltest.Say("user", "go on")},
			`[{"role":"assistant","content":null,"tool_calls":[` + callA + `,` + callB + `]},` +
				`{"role":"tool","content":"seen","tool_call_id":"a"},{"role":"tool","content":"(the image is in the next message)","tool_call_id":"b"},` +
				`{"role":"user","content":[` + pngPart + `,` + pngPart + `,{"type":"text","text":"go on"}]}]`,
		},
		"images of the last output": {
			[]protocol.ResponseItemVariant{call("a"),
				&protocol.FunctionCallOutput{CallID: "a", Output: protocol.ToolOutput{Parts: []protocol.ContentItem{image}}}},
			`[{"role":"assistant","content":null,"tool_calls":[` + callA +
				`]},{"role":"tool","content":"(the image is in the next message)","tool_call_id":"a"},` +
				`{"role":"user","content":[` + pngPart + `]}]`,
		},
		"custom calls": {
			[]protocol.ResponseItemVariant{&protocol.CustomToolCall{CallID: "a", Name: "apply_patch", Input: "*** \"x\""},
				&protocol.CustomToolCallOutput{CallID: "a", Output: protocol.ToolOutput{Text: "ok"}}},
			`[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"apply_patch","arguments":"{\"input\":\"*** \\\"x\\\"\"}"}}]},` +
				`{"role":"tool","content":"ok","tool_call_id":"a"}]`,
		},
		"local shell calls": {
			[]protocol.ResponseItemVariant{&protocol.LocalShellCall{CallID: "a",
				Action: protocol.LocalShellAction{Command: []string{"ls", "-l"}}}},
			`[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"shell","arguments":"{\"command\":[\"ls\",\"-l\"]}"}}]}]`,
		},
		"arguments that are no object": {
			[]protocol.ResponseItemVariant{&protocol.FunctionCall{CallID: "a", Name: "f", Arguments: `{"cut`},
				&protocol.FunctionCall{CallID: "b", Name: "f", Arguments: `[1]`}},
			`[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"input\":\"{\\\"cut\"}"}},` +
				`{"id":"b","type":"function","function":{"name":"f","arguments":"{\"input\":\"[1]\"}"}}]}]`,
		},
		"names that no API takes": {
			[]protocol.ResponseItemVariant{&protocol.FunctionCall{CallID: "a", Name: "f.g é", Namespace: "mcp__x__",
				Arguments: "{}"}, &protocol.FunctionCall{CallID: "b", Arguments: "{}"}},
			`[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"mcp__x__f_g__","arguments":"{}"}},` +
				`{"id":"b","type":"function","function":{"name":"unknown","arguments":"{}"}}]}]`,
		},
		"empty texts": {
			[]protocol.ResponseItemVariant{modeltest.Say("user", ""), modeltest.Say("assistant", ""),
				modeltest.Say("developer", ""), user()},
			`[{"role":"user","content":"(empty message)"},{"role":"system","content":"(empty message)"},{"role":"user","content":"(empty message)"}]`,
		},
		"left out": {
			[]protocol.ResponseItemVariant{&protocol.Unknown{Raw: json.RawMessage(`{"type":"ghost"}`)}, &protocol.Reasoning{},
				nil},
			`[]`,
		},
		"an output without its call": {
			[]protocol.ResponseItemVariant{out("a", "1")},
			`[{"role":"tool","content":"1","tool_call_id":"a"}]`,
		},
		"invalid UTF-8": {
			[]protocol.ResponseItemVariant{modeltest.Say("user", "a\xffb")},
			`[{"role":"user","content":"a\ufffdb"}]`,
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, chatJSON(t, c.items...)) })
	}
}

func TestInstructionsAreTheOneSystemMessageAtTheTop(t *testing.T) {
	messages := chat.Messages(&core.Prompt{Instructions: "Be kind.", Items: modeltest.Items(modeltest.Say("user", "hi"))})
	require.Equal(t, []chat.Message{
		{Role: "system", Content: chat.Content{Text: "Be kind."}},
		{Role: "user", Content: chat.Content{Text: "hi"}},
	}, messages)
}
