package protocol_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

func TestSandboxPolicyIsStoredInSnakeCase(t *testing.T) {
	for stored, policy := range map[string]protocol.SandboxPolicyVariant{
		`{"type":"danger-full-access"}`:                          &protocol.DangerFullAccess{},
		`{"type":"read-only","network_access":true}`:             &protocol.ReadOnly{NetworkAccess: true},
		`{"type":"external-sandbox","network_access":"enabled"}`: &protocol.ExternalSandbox{NetworkAccess: "enabled"},
		`{"type":"workspace-write","network_access":false}`:      &protocol.WorkspaceWrite{WritableRoots: []string{}},
		`{"type":"workspace-write","writable_roots":["/d"],"network_access":true,"exclude_tmpdir_env_var":true,"exclude_slash_tmp":true}`: &protocol.WorkspaceWrite{
			WritableRoots: []string{"/d"}, NetworkAccess: true, ExcludeTmpdirEnvVar: true, ExcludeSlashTmp: true},
	} {
		require.Equal(t, stored, string(encode(t, protocol.SandboxPolicy{SandboxPolicyVariant: policy}.Stored())))
		var read protocol.StoredSandboxPolicy
		require.NoError(t, json.Unmarshal([]byte(stored), &read))
		require.Equal(t, policy, read.Policy().SandboxPolicyVariant)
	}
}

func TestUnknownStoredPolicyConfines(t *testing.T) {
	require.Equal(t, &protocol.ReadOnly{}, protocol.StoredSandboxPolicy{Type: "of another version"}.Policy().SandboxPolicyVariant)
	require.Equal(t, "read-only", protocol.SandboxPolicy{}.Stored().Type)
}

func TestSandboxModesAreShortForPolicies(t *testing.T) {
	require.Equal(t, &protocol.DangerFullAccess{}, protocol.SandboxDangerFullAccess.Policy().SandboxPolicyVariant)
	require.Equal(t, &protocol.WorkspaceWrite{WritableRoots: []string{}}, protocol.SandboxWorkspaceWrite.Policy().SandboxPolicyVariant)
	require.Equal(t, &protocol.ReadOnly{}, protocol.SandboxReadOnly.Policy().SandboxPolicyVariant)
	require.Equal(t, &protocol.ReadOnly{}, protocol.SandboxMode("").Policy().SandboxPolicyVariant, "what is not known confines")
}

func TestErrorInfoOnTheWireAndStored(t *testing.T) {
	status := 401
	for _, c := range []struct {
		info         protocol.CodexErrorInfo
		wire, stored string
	}{
		{protocol.CodexErrorInfo{Kind: protocol.ErrorOther}, `"other"`, `"other"`},
		{protocol.CodexErrorInfo{Kind: protocol.ErrorContextWindowExceeded}, `"contextWindowExceeded"`, `"context_window_exceeded"`},
		{protocol.CodexErrorInfo{Kind: protocol.ErrorHTTPConnectionFailed, HTTPStatus: &status},
			`{"httpConnectionFailed":{"httpStatusCode":401}}`, `{"http_connection_failed":{"http_status_code":401}}`},
		{protocol.CodexErrorInfo{Kind: protocol.ErrorStreamDisconnected},
			`{"responseStreamDisconnected":{"httpStatusCode":null}}`, `{"response_stream_disconnected":{"http_status_code":null}}`},
		{protocol.CodexErrorInfo{Kind: "notInventedYet"}, `"notInventedYet"`, `"not_invented_yet"`},
	} {
		require.Equal(t, c.wire, string(encode(t, c.info)))
		require.Equal(t, c.stored, string(c.info.Stored()))
		var read protocol.CodexErrorInfo
		require.NoError(t, json.Unmarshal([]byte(c.wire), &read))
		require.Equal(t, c.info, read)
		require.Equal(t, &c.info, protocol.ErrorInfoFromStored(json.RawMessage(c.stored)))
	}
}

func TestErrorInfoOfATurnThatCannotBeSteered(t *testing.T) {
	info := protocol.CodexErrorInfo{Kind: protocol.ErrorActiveTurnNotSteerable, TurnKind: "compact"}
	const wire = `{"activeTurnNotSteerable":{"turnKind":"compact"}}`
	require.Equal(t, wire, string(encode(t, info)))
	var read protocol.CodexErrorInfo
	require.NoError(t, json.Unmarshal([]byte(wire), &read))
	require.Equal(t, info, read)
}

func TestNoStoredErrorInfo(t *testing.T) {
	for _, raw := range []string{``, `null`, `5`, `{`, `[]`} {
		require.Nil(t, protocol.ErrorInfoFromStored(json.RawMessage(raw)), raw)
	}
}

func TestCommandActions(t *testing.T) {
	for raw, want := range map[string]string{
		`{"type":"read","command":"cat a","name":"a","path":"/a"}`:             `{"type":"read","command":"cat a","name":"a","path":"/a"}`,
		`{"type":"read","command":"cat a","name":"a"}`:                         `{"type":"read","command":"cat a","name":"a","path":""}`,
		`{"type":"list_files","cmd":"ls","path":null}`:                         `{"type":"listFiles","command":"ls","path":null}`,
		`{"type":"search","command":"rg x","query":"x","path":null}`:           `{"type":"search","command":"rg x","query":"x","path":null}`,
		`{"type":"of another version","command":"c","path":"/p","secret":"s"}`: `{"type":"unknown","command":"c"}`,
	} {
		var action protocol.CommandAction
		require.NoError(t, json.Unmarshal([]byte(raw), &action), raw)
		require.Equal(t, want, string(encode(t, action)))
	}
	require.ErrorContains(t, json.Unmarshal([]byte(`{"command":5}`), new(protocol.CommandAction)), "command action")
}

func TestToolOutputs(t *testing.T) {
	for raw, text := range map[string]string{
		`"done"`:                            "done",
		`{"content":"done","success":true}`: "done",
		`[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:,"},{"type":"input_text","text":"b"}]`: "ab",
		`[]`:   "",
		`null`: "",
	} {
		var output protocol.ToolOutput
		require.NoError(t, json.Unmarshal([]byte(raw), &output), raw)
		require.Equal(t, text, output.String())
	}
	require.Equal(t, `"done"`, string(encode(t, protocol.ToolOutput{Text: "done"})))
	require.Equal(t, `[]`, string(encode(t, protocol.ToolOutput{Parts: []protocol.ContentItem{}})))
	require.Error(t, json.Unmarshal([]byte(`5`), new(protocol.ToolOutput)))
}

func TestApprovalDecisions(t *testing.T) {
	const amendment = `{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["touch"]}}`
	for _, raw := range []string{`"accept"`, `"acceptForSession"`, `"decline"`, `"cancel"`, amendment} {
		var d protocol.ApprovalDecision
		require.NoError(t, json.Unmarshal([]byte(raw), &d))
		require.Equal(t, raw, string(encode(t, d)))
	}
	for _, raw := range []string{`"maybe"`, `{}`, `null`, `5`, `{"maybe":{}}`, `{"accept":{},"decline":{}}`, ``} {
		require.Error(t, json.Unmarshal([]byte(raw), new(protocol.ApprovalDecision)), raw)
	}
}

func TestApprovalPolicies(t *testing.T) {
	for _, raw := range []string{`"untrusted"`, `"on-request"`, `"never"`,
		`{"granular":{"sandbox_approval":true,"rules":false,"skill_approval":false,"request_permissions":true,"mcp_elicitations":false}}`} {
		var policy protocol.AskForApproval
		require.NoError(t, json.Unmarshal([]byte(raw), &policy))
		require.Equal(t, raw, string(encode(t, policy)))
	}
	for _, raw := range []string{`"on-failure"`, `5`, `{}`, `{"granular":null}`, `{"granular":{"rules":"all"}}`} {
		require.Error(t, json.Unmarshal([]byte(raw), new(protocol.AskForApproval)), raw)
	}
}

func TestTokenUsage(t *testing.T) {
	usage := protocol.TokenUsageBreakdown{
		TotalTokens: 1, InputTokens: 2, CachedInputTokens: 3, CacheWriteInputTokens: 4, OutputTokens: 5, ReasoningOutputTokens: 6,
	}
	require.Equal(t, usage, usage.Stored().Breakdown())
	require.Equal(t,
		`{"input_tokens":2,"cached_input_tokens":3,"cache_write_input_tokens":4,"output_tokens":5,"reasoning_output_tokens":6,"total_tokens":1}`,
		string(encode(t, usage.Stored())))
	require.Equal(t, protocol.TokenUsageBreakdown{
		TotalTokens: 2, InputTokens: 4, CachedInputTokens: 6, CacheWriteInputTokens: 8, OutputTokens: 10, ReasoningOutputTokens: 12,
	}, usage.Add(usage))
}

func TestErrorsHaveACodeAndAKind(t *testing.T) {
	for _, c := range []struct {
		err  *protocol.Error
		want string
	}{
		{protocol.Refuse(protocol.KindThreadNotFound, "thread not found: %s", "t"),
			`{"code":-32600,"message":"thread not found: t","data":{"kind":"threadNotFound"}}`},
		{protocol.InvalidParams("a.b", "missing field `%s`", "b"),
			"{\"code\":-32602,\"message\":\"Invalid request: missing field `b`\",\"data\":{\"kind\":\"invalidParams\",\"field\":\"a.b\"}}"},
		{protocol.Internal(protocol.KindStorage, "disk full"),
			`{"code":-32603,"message":"disk full","data":{"kind":"storage"}}`},
	} {
		require.Equal(t, c.want, string(encode(t, c.err)))
		require.EqualError(t, c.err, c.err.Message)
	}
}
