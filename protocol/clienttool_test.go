package protocol_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

func TestDynamicToolsInParams(t *testing.T) {
	var p protocol.ThreadStartParams
	require.NoError(t, protocol.DecodeParams(json.RawMessage(`{"dynamicTools":[
		{"name":"a","description":"A","inputSchema":{"type":"object"}},
		{"type":"namespace","name":"n","description":"N","tools":[{"name":"b","description":"B","inputSchema":true,"deferLoading":true}]}]}`), &p))
	require.Equal(t, []protocol.DynamicToolSpec{
		{Type: "function", Name: "a", Description: "A", InputSchema: json.RawMessage(`{"type":"object"}`)},
		{Type: "namespace", Name: "n", Description: "N", Tools: []protocol.DynamicToolFunction{
			{Type: "function", Name: "b", Description: "B", InputSchema: json.RawMessage(`true`), DeferLoading: true},
		}},
	}, p.DynamicTools)
}

func TestDynamicToolsThatAreRefused(t *testing.T) {
	for params, field := range map[string]string{
		`{"dynamicTools":{}}`:                                          "dynamicTools",
		`{"dynamicTools":[1]}`:                                         "dynamicTools.0",
		`{"dynamicTools":[{"description":"d"}]}`:                       "dynamicTools.0.name",
		`{"dynamicTools":[{"name":"a"}]}`:                              "dynamicTools.0.description",
		`{"dynamicTools":[{"name":"a","description":"d","type":"x"}]}`: "dynamicTools.0.type",
		`{"dynamicTools":[{"name":"a","description":"d","type":"namespace","tools":[{"name":"b","description":"d"}]}]}`:                                     "dynamicTools.0.tools.0.inputSchema",
		`{"dynamicTools":[{"name":"a","description":"d","type":"namespace","tools":[{"name":"b","description":"d","inputSchema":{},"type":"namespace"}]}]}`: "dynamicTools.0.tools.0.type",
	} {
		var refused *protocol.Error
		require.ErrorAs(t, protocol.DecodeParams(json.RawMessage(params), new(protocol.ThreadStartParams)), &refused, params)
		require.Equal(t, field, refused.Data.Field, params)
	}
}

// TestDynamicToolAnswers: what a client answers is read strictly, as it is the model's to
// rely on.
func TestDynamicToolAnswers(t *testing.T) {
	const answer = `{"contentItems":[{"type":"inputText","text":"a"},{"type":"inputImage","imageUrl":"data:x"},{"type":"inputAudio","audioUrl":"y"}],"success":true}`
	var r protocol.DynamicToolCallResponse
	require.NoError(t, protocol.DecodeParams(json.RawMessage(answer), &r))
	written, err := protocol.Marshal(r)
	require.NoError(t, err)
	require.JSONEq(t, answer, string(written))

	for _, wrong := range []string{
		`{}`, `{"success":true}`, `{"contentItems":[]}`, `{"contentItems":null,"success":true}`,
		`{"contentItems":["a"],"success":true}`,
		`{"contentItems":[{"text":"a"}],"success":true}`, `{"contentItems":[{"type":"inputText"}],"success":true}`,
		`{"contentItems":[{"type":"inputVideo","url":"x"}],"success":true}`, `{"contentItems":[],"success":"yes"}`, `[]`,
		`"x"`,
	} {
		require.Error(t, protocol.DecodeParams(json.RawMessage(wrong), new(protocol.DynamicToolCallResponse)), wrong)
	}
}

func TestDynamicToolCallItemsBeforeTheAnswer(t *testing.T) {
	item := protocol.ThreadItem{ThreadItemVariant: &protocol.DynamicToolCallItem{ID: "c", Tool: "t",
		Arguments: json.RawMessage(`[1]`), Status: "inProgress"}}
	text, err := protocol.Marshal(item)
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"dynamicToolCall","id":"c","namespace":null,"tool":"t","arguments":[1],"status":"inProgress","contentItems":null,
		"success":null,"durationMs":null,"startedAtMs":null,"completedAtMs":null}`, string(text))
	var back protocol.ThreadItem
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, "c", back.ItemID())
}

func TestCollaborationModesInParams(t *testing.T) {
	read := func(mode string) (*protocol.CollaborationMode, error) {
		var p protocol.TurnStartParams
		err := protocol.DecodeParams(json.RawMessage(`{"threadId":"t","input":[],"collaborationMode":`+mode+`}`), &p)
		return p.CollaborationMode, err
	}
	mode, err := read(`{"mode":"plan","settings":{"model":"m","reasoning_effort":null,"developer_instructions":"Plan."}}`)
	require.NoError(t, err)
	require.Equal(t, &protocol.CollaborationMode{Mode: "plan",
		Settings: protocol.CollaborationModeSettings{Model: "m", DeveloperInstructions: new("Plan.")}}, mode)
	mode, err = read(`null`)
	require.NoError(t, err)
	require.Nil(t, mode)
	for _, wrong := range []string{`"plan"`, `{"mode":"code","settings":{"model":"m"}}`, `{"mode":"plan"}`,
		`{"mode":"plan","settings":{}}`, `{"settings":{"model":"m"}}`} {
		_, err := read(wrong)
		require.Error(t, err, wrong)
	}
}
