package protocol_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// Belongs to params_test.go.
func TestDecodeParamsNamesTheMemberOfAWrongVariant(t *testing.T) {
	for params, field := range map[string]string{
		`{"threadId":"t","input":[{"type":"film"}]}`:                  "input",
		`{"threadId":"t","input":[{"type":5}]}`:                       "input",
		`{"threadId":"t","input":[5]}`:                                "input",
		`{"threadId":"t","input":[null]}`:                             "input",
		`{"threadId":"t","input":[{"type":"text"}]}`:                  "input",
		`{"threadId":"t","input":[],"sandboxPolicy":{"type":"open"}}`: "sandboxPolicy",
		`{"threadId":"t","input":[],"approvalPolicy":"later"}`:        "approvalPolicy",
		`{"threadId":"t","input":[],"approvalPolicy":5}`:              "approvalPolicy",
		`{"threadId":"t","input":[],"approvalsReviewer":"nobody"}`:    "approvalsReviewer",
	} {
		t.Run(params, func(t *testing.T) {
			var refusal *protocol.Error
			require.ErrorAs(t, protocol.DecodeParams(json.RawMessage(params), &protocol.TurnStartParams{}), &refusal)
			require.Contains(t, refusal.Data.Field, field)
		})
	}
}

func TestWhatTheReferenceRefuses(t *testing.T) {
	for _, params := range []string{
		`{"threadId":"t","input":[{"type":"text","text":null}]}`,
		`{"threadId":"t","input":[{"type":"skill","path":"p"}]}`,
		`{"threadId":"t","input":[{"type":"mention","path":"p"}]}`,
		`{"threadId":"t","input":[],"approvalPolicy":"granular"}`,
		`{"threadId":"t","input":[],"approvalPolicy":{"granular":{}}}`,
		`{"threadId":"t","input":[],"sandboxPolicy":{"type":"externalSandbox","networkAccess":"maybe"}}`,
		`{"threadId":"t","input":[],"summary":"long"}`,
	} {
		t.Run(params, func(t *testing.T) {
			require.Error(t, protocol.DecodeParams(json.RawMessage(params), &protocol.TurnStartParams{}))
		})
	}
	require.Error(t, protocol.DecodeParams(json.RawMessage(`{"sortKey":"bogus"}`), &protocol.ThreadListParams{}))
}

func TestNullOutputSchemaIsAbsent(t *testing.T) {
	var p protocol.TurnStartParams
	require.NoError(t, protocol.DecodeParams(json.RawMessage(`{"threadId":"t","input":[],"outputSchema":null}`), &p))
	require.Nil(t, p.OutputSchema)
}

func TestNegativeLimit(t *testing.T) {
	var refusal *protocol.Error
	require.ErrorAs(t, protocol.DecodeParams(json.RawMessage(`{"limit":-1}`), &protocol.ThreadListParams{}), &refusal)
	require.NotContains(t, refusal.Message, "expected a number", "it is one")
}

// Belongs to union_test.go: what is read and written again has no null lists.
func TestNullListsAreEmptyLists(t *testing.T) {
	for raw, into := range map[string]any{
		`{"type":"workspaceWrite","writableRoots":null}`:    &protocol.SandboxPolicy{},
		`{"type":"userMessage","id":"i","content":null}`:    &protocol.ThreadItem{},
		`{"type":"reasoning","id":"i","summary":null}`:      &protocol.ThreadItem{},
		`{"type":"fileChange","id":"i","changes":null}`:     &protocol.ThreadItem{},
		`{"type":"commandExecution","commandActions":null}`: &protocol.ThreadItem{},
		`{"type":"message","role":"user","content":null}`:   &protocol.ResponseItem{},
	} {
		t.Run(raw, func(t *testing.T) {
			require.NoError(t, json.Unmarshal([]byte(raw), into))
			require.Contains(t, string(encode(t, into)), ":[]")
		})
	}
}

// Items of other versions must load.
func TestItemsWithUnknownPartsLoad(t *testing.T) {
	for _, raw := range []string{
		`{"type":"userMessage","id":"i","content":[{"type":"film","url":"x"}]}`,
		`{"type":"userMessage","id":"i","content":[{"type":"image","fileId":"f"}]}`,
	} {
		require.NoError(t, json.Unmarshal([]byte(raw), new(protocol.ThreadItem)), raw)
	}
	require.NoError(t, json.Unmarshal(
		[]byte(`{"type":"function_call_output","call_id":"c","output":{"content":[{"type":"input_text","text":"x"}]}}`), new(protocol.ResponseItem)))
}

func TestResponseItemsKeepWhatTheyDoNotKnow(t *testing.T) {
	for _, raw := range []string{
		`{"type":"message","role":"user","content":[{"type":"input_audio","audio_url":"x"}]}`,
		`{"type":"local_shell_call","call_id":"c","status":"completed","action":{"type":"exec","command":["a"],"timeout_ms":5}}`,
		`{"type":"function_call","name":"a","arguments":"{}","call_id":"c","extra":1}`,
	} {
		t.Run(raw, func(t *testing.T) {
			var item protocol.ResponseItem
			require.NoError(t, json.Unmarshal([]byte(raw), &item))
			require.JSONEq(t, raw, string(encode(t, item)))
		})
	}
}

func TestStoredErrorInfoKeepsTheTurnKind(t *testing.T) {
	info := protocol.CodexErrorInfo{Kind: protocol.ErrorActiveTurnNotSteerable, TurnKind: "compact"}
	require.Equal(t, &info, protocol.ErrorInfoFromStored(info.Stored()))
	require.Equal(t, &info, protocol.ErrorInfoFromStored(json.RawMessage(`{"active_turn_not_steerable":{"turn_kind":"compact"}}`)))
}

func TestErrorInfoOfNothing(t *testing.T) {
	for _, raw := range []string{`{}`, `null`, `{"a":{},"b":{}}`, `{"cyberPolicy":{"x":1}}`} {
		var info protocol.CodexErrorInfo
		if json.Unmarshal([]byte(raw), &info) == nil {
			require.JSONEq(t, raw, string(encode(t, info)), "read, so it is kept")
		}
	}
}

func TestBareAmendmentIsNoDecision(t *testing.T) {
	require.Error(t, json.Unmarshal([]byte(`"acceptWithExecpolicyAmendment"`), new(protocol.ApprovalDecision)))
	require.Error(t, json.Unmarshal([]byte(`{"accept":5}`), new(protocol.ApprovalDecision)))
}
