package protocol_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// Lines as files hold them: what other programs and older versions read.
func TestRolloutPayloads(t *testing.T) {
	for name, c := range map[string]struct {
		into any
		line string
	}{
		"session_meta": {&protocol.SessionMeta{},
			`{"id":"t","session_id":"t","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/w","originator":"probe",` +
				`"cli_version":"0.169.0","source":"vscode","model_provider":"local","base_instructions":{"text":"You help."},` +
				`"history_mode":"paginated","git":{"commit_hash":"c0ffee","branch":"main"}}`},
		"session_meta of an older version": {&protocol.SessionMeta{},
			`{"id":"t","timestamp":"2025-01-02T03:04:05.678Z","cwd":"/w","originator":"probe","cli_version":"0.40.0"}`},
		"turn_context": {&protocol.TurnContext{},
			`{"turn_id":"u","cwd":"/w","approval_policy":"on-request","approvals_reviewer":"user",` +
				`"sandbox_policy":{"type":"workspace-write","writable_roots":["/d"],"network_access":true},"model":"m","effort":"high","summary":"auto"}`},
		"task_started": {&protocol.TaskStarted{},
			`{"type":"task_started","turn_id":"u","started_at":1,"model_context_window":null}`},
		"task_complete": {&protocol.TaskComplete{},
			`{"type":"task_complete","turn_id":"u","last_agent_message":"done","started_at":1,"completed_at":2,"duration_ms":900}`},
		"task_complete of a failed turn": {&protocol.TaskComplete{},
			`{"type":"task_complete","turn_id":"u","last_agent_message":null,` +
				`"error":{"message":"no","codex_error_info":{"http_connection_failed":{"http_status_code":401}}}}`},
		"turn_aborted": {&protocol.TurnAborted{},
			`{"type":"turn_aborted","turn_id":"u","reason":"interrupted","completed_at":2}`},
		"user_message": {&protocol.TextEvent{},
			`{"type":"user_message","message":"hi","kind":"plain","images":["data:,"]}`},
		"agent_reasoning": {&protocol.ReasoningEvent{}, `{"type":"agent_reasoning","text":"hm"}`},
		"token_count":     {&protocol.TokenCount{}, `{"type":"token_count","info":null}`},
		"item_completed": {&protocol.ItemCompleted{},
			`{"type":"item_completed","thread_id":"t","turn_id":"u","item":{"type":"AgentMessage","id":"i","later":[1]},"started_at_ms":1,"completed_at_ms":2}`},
		"thread_name_updated": {&protocol.NameUpdated{}, `{"type":"thread_name_updated","thread_id":"t","thread_name":"n"}`},
		"compacted": {&protocol.Compacted{},
			`{"message":"so far","replacement_history":[{"type":"hologram","x":1}]}`},
		"line without ordinal": {&protocol.RolloutLine{},
			`{"timestamp":"2026-01-02T03:04:05.678Z","type":"hologram","payload":{"b":1,"a":[null]}}`},
		"line": {&protocol.RolloutLine{},
			`{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":0,"type":"event_msg","payload":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, json.Unmarshal([]byte(c.line), c.into))
			require.Equal(t, c.line, string(encode(t, c.into)))
		})
	}
}

func TestResponseItemsInFiles(t *testing.T) {
	for _, line := range []string{
		`{"type":"message","id":"m","role":"user","content":[{"type":"input_text","text":"hi"},{"type":"input_image","image_url":"data:,","detail":"high"}],"internal_chat_message_metadata_passthrough":{"turn_id":"u"}}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"<done>"}],"phase":"final_answer"}`,
		`{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"hm"}],"content":[{"type":"reasoning_text","text":"hmm"}],"encrypted_content":null}`,
		`{"type":"function_call","id":"f","name":"shell","arguments":"{\"command\":","call_id":"c"}`,
		`{"type":"function_call","name":"list","namespace":"mcp","arguments":"{}","call_id":"c"}`,
		`{"type":"function_call_output","call_id":"c","output":"done"}`,
		`{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"a"}]}`,
		`{"type":"custom_tool_call","status":"completed","call_id":"c","name":"apply_patch","input":"*** Begin Patch"}`,
		`{"type":"custom_tool_call_output","call_id":"c","output":"done"}`,
		`{"type":"local_shell_call","call_id":"c","status":"completed","action":{"type":"exec","command":["ls"]}}`,
	} {
		var item protocol.ResponseItem
		require.NoError(t, json.Unmarshal([]byte(line), &item), line)
		require.NotNil(t, item.ResponseItemVariant)
		require.NotEqual(t, reflect.TypeFor[*protocol.Unknown](), reflect.TypeOf(item.ResponseItemVariant), line)
		require.Equal(t, line, string(encode(t, item)))
	}
}

// TestAnItemIsTheSameWithFurtherMembers compares the reader of items with usual members with that of all items.
func TestAnItemIsTheSameWithFurtherMembers(t *testing.T) {
	for _, members := range []string{
		`"type":"message","id":"m","role":"user","content":[{"type":"input_text","text":"a"},{"text":"\n","type":"output_text"}]`,
		`"content":[{"type":"input_image","image_url":"data:,"},{"type":"audio"}],"role":"assistant","type":"message","phase":"x"`,
		`"type":"message","role":"user","content":null`, `"type":"message","role":null,"content":[ ]`, `"type":"message"`,
		`"type":"message","role":"a","role":"\u00e9","content":[{"type":"input_text","text":"a"}],"content":[]`,
		`"type":"message","role":"user","content":[],"internal_chat_message_metadata_passthrough":{"turn_id":"t"}`,
		`"type":"message","role":"user","content":[],"internal_chat_message_metadata_passthrough":null`,
		`"type":"function_call","id":"f","name":"n","namespace":"s","arguments":"{\"a\":\"\ud83d\ude00\\\"}","call_id":"c"`,
		`"type":"function_call","name":"\ud800","arguments":"` + "\xff" + `","call_id":"c"`,
		`"type":"function_call_output","id":"o","call_id":"c","output":"a\tb"`,
		`"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"a"}]`,
		`"type":"function_call_output","call_id":"c","output":{"content":"a","success":true}`,
		`"type":"function_call_output","call_id":"c","output":"a","output":null`,
	} {
		var short, long protocol.ResponseItem
		require.NoError(t, short.UnmarshalJSON([]byte(" { "+members+" } ")), members)
		require.NoError(t, long.UnmarshalJSON([]byte(`{"x":{},`+members+`}`)), members)
		require.Equal(t, long, short, members)
		require.NoError(t, short.UnmarshalJSON([]byte("{"+members+"}")), members)
		require.Equal(t, long, short, members)
	}
}

func TestOlderToolOutputsAreReadAsText(t *testing.T) {
	for _, output := range []string{`{"content":"done","success":true}`,
		`{"content":[{"type":"input_text","text":"done"}]}`} {
		var item protocol.ResponseItem
		require.NoError(t, json.Unmarshal([]byte(`{"type":"function_call_output","call_id":"c","output":`+output+`}`), &item))
		require.Equal(t, "done", item.ResponseItemVariant.(*protocol.FunctionCallOutput).Output.String())
	}
}

// Parts that are not known survive, since a compacted history is written from
// decoded items.
func TestMessagesKeepPartsThatAreNotKnown(t *testing.T) {
	for _, part := range []string{
		`{"type":"input_audio","audio_url":"x"}`,
		`{"type":"input_image","file_id":"f"}`,
		`{"type":"input_text","text":5}`,
		`{"text":"untyped","a":1}`,
		`{"type":"refusal","refusal":"no","text":"no"}`,
	} {
		raw := `{"type":"message","role":"user","content":[` + part + `,{"type":"input_text","text":""}]}`
		var item protocol.ResponseItem
		require.NoError(t, json.Unmarshal([]byte(raw), &item), part)
		require.Equal(t, raw, string(encode(t, item)))
	}
	var part protocol.ContentItem
	require.NoError(t, json.Unmarshal([]byte(`{"type":"refusal","text":"no"}`), &part))
	require.Equal(t, "refusal", part.Type)
	require.Equal(t, "no", part.Text)
	require.Error(t, json.Unmarshal([]byte(`"text"`), &part), "a part is an object")
}

// TestATextPartIsTheSameWithFurtherMembers compares the reader of parts with two members with that of all parts.
func TestATextPartIsTheSameWithFurtherMembers(t *testing.T) {
	for _, text := range []string{`""`, `"a"`, `"a\n\"\\\/b"`, `"\u00e9\ud83d\ude00"`, `"\ud800"`, "\"a\xff\xfeb\"", `7`, `null`} {
		for _, kind := range []string{"input_text", "output_text", "refusal"} {
			var short, long protocol.ContentItem
			require.NoError(t, short.UnmarshalJSON([]byte(`{"text":`+text+`,"type":"`+kind+`"}`)))
			require.NoError(t, long.UnmarshalJSON([]byte(`{"text":`+text+`,"type":"`+kind+`","x":{}}`)))
			short.Raw, long.Raw = nil, nil
			require.Equal(t, long, short, "%s of %s", text, kind)
		}
	}
	text := []byte(`{"type":"input_text","text":"abc"}`)
	var part protocol.ContentItem
	require.NoError(t, part.UnmarshalJSON(text))
	clear(text)
	require.Equal(t, "abc", part.Text, "the part does not alias the JSON")
}

// Other members that are not known are dropped: lines are not written again from
// decoded items, and keeping them would double what a history weighs.
func TestResponseItemsDropOtherMembers(t *testing.T) {
	for raw, want := range map[string]string{
		`{"type":"function_call","name":"a","arguments":"{}","call_id":"c","extra":1}`:                                           `{"type":"function_call","name":"a","arguments":"{}","call_id":"c"}`,
		`{"type":"local_shell_call","call_id":"c","status":"completed","action":{"type":"exec","command":["a"],"timeout_ms":5}}`: `{"type":"local_shell_call","call_id":"c","status":"completed","action":{"type":"exec","command":["a"]}}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"a","extra":1}]}`:                                `{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}`,
	} {
		var item protocol.ResponseItem
		require.NoError(t, json.Unmarshal([]byte(raw), &item))
		require.Equal(t, want, string(encode(t, item)))
	}
}
