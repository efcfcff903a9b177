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
	require.Equal(t, &protocol.ReadOnly{},
		protocol.StoredSandboxPolicy{Type: "of another version"}.Policy().SandboxPolicyVariant)
	for _, network := range []any{nil, true, "of another version", []any{}} {
		require.Equal(t, &protocol.ExternalSandbox{NetworkAccess: protocol.NetworkRestricted},
			protocol.StoredSandboxPolicy{Type: "external-sandbox", NetworkAccess: network}.Policy().SandboxPolicyVariant)
	}
	require.Equal(t, "read-only", protocol.SandboxPolicy{}.Stored().Type)
}

func TestSandboxModesAreShortForPolicies(t *testing.T) {
	require.Equal(t, &protocol.DangerFullAccess{}, protocol.SandboxDangerFullAccess.Policy().SandboxPolicyVariant)
	require.Equal(t, &protocol.WorkspaceWrite{WritableRoots: []string{}},
		protocol.SandboxWorkspaceWrite.Policy().SandboxPolicyVariant)
	require.Equal(t, &protocol.ReadOnly{}, protocol.SandboxReadOnly.Policy().SandboxPolicyVariant)
	require.Equal(t, &protocol.ReadOnly{}, protocol.SandboxMode("").Policy().SandboxPolicyVariant,
		"what is not known confines")
}

func TestErrorInfoOnTheWireAndStored(t *testing.T) {
	status := 401
	for _, c := range []struct {
		info         protocol.CodexErrorInfo
		wire, stored string
	}{
		{protocol.CodexErrorInfo{Kind: protocol.ErrorOther}, `"other"`, `"other"`},
		{protocol.CodexErrorInfo{Kind: protocol.ErrorContextWindowExceeded}, `"contextWindowExceeded"`,
			`"context_window_exceeded"`},
		{protocol.CodexErrorInfo{Kind: protocol.ErrorHTTPConnectionFailed, HTTPStatus: &status},
			`{"httpConnectionFailed":{"httpStatusCode":401}}`, `{"http_connection_failed":{"http_status_code":401}}`},
		{protocol.CodexErrorInfo{Kind: protocol.ErrorStreamDisconnected},
			`{"responseStreamDisconnected":{"httpStatusCode":null}}`,
			`{"response_stream_disconnected":{"http_status_code":null}}`},
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

func TestStoredErrorInfoKeepsTheTurnKind(t *testing.T) {
	info := protocol.CodexErrorInfo{Kind: protocol.ErrorActiveTurnNotSteerable, TurnKind: "compact"}
	const stored = `{"active_turn_not_steerable":{"turn_kind":"compact"}}`
	require.Equal(t, stored, string(info.Stored()))
	require.Equal(t, &info, protocol.ErrorInfoFromStored(json.RawMessage(stored)))
}

func TestErrorInfoKeepsDetailsThatItDoesNotKnow(t *testing.T) {
	for raw, stored := range map[string]string{
		`{"cyberPolicy":{"x":1}}`:        `{"cyber_policy":{"x":1}}`,
		`{"cyberPolicy":{}}`:             `{"cyber_policy":{}}`,
		`{"notInventedYet":["a",5]}`:     `{"not_invented_yet":["a",5]}`,
		`{"notInventedYet":null}`:        `{"not_invented_yet":null}`,
		`{"other":{"httpStatusCode":5}}`: `{"other":{"httpStatusCode":5}}`,
	} {
		var info protocol.CodexErrorInfo
		require.NoError(t, json.Unmarshal([]byte(raw), &info))
		require.Equal(t, raw, string(encode(t, info)))
		require.Equal(t, stored, string(info.Stored()))
		require.Equal(t, &info, protocol.ErrorInfoFromStored(info.Stored()))
	}
}

func TestErrorInfoOfNothing(t *testing.T) {
	for _, raw := range []string{
		`{}`, `null`, `5`, `[]`, `{"a":{},"b":{}}`, `{"a":{},"a":{}}`, `{"httpConnectionFailed":5}`,
		`{"httpConnectionFailed":null}`,
		`{"httpConnectionFailed":{"httpStatusCode":"many"}}`, `{"activeTurnNotSteerable":{"turnKind":5}}`,
	} {
		require.Error(t, json.Unmarshal([]byte(raw), new(protocol.CodexErrorInfo)), raw)
	}
	var info protocol.CodexErrorInfo
	require.NoError(t, json.Unmarshal([]byte(`{"httpConnectionFailed":{}}`), &info))
	require.Equal(t, protocol.CodexErrorInfo{Kind: protocol.ErrorHTTPConnectionFailed}, info, "no answer came")
}

func TestNoStoredErrorInfo(t *testing.T) {
	for _, raw := range []string{``, `null`, `5`, `{`, `[]`, `{}`, `{"a":{},"b":{}}`} {
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
		`{"content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]}`: "ab",
		`{"success":false}`: "",
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
	for _, raw := range []string{`5`, `true`, `[5]`, `{"content":5}`, `{"content":{"content":"a"}}`} {
		require.Error(t, json.Unmarshal([]byte(raw), new(protocol.ToolOutput)), raw)
	}
}

func TestApprovalDecisions(t *testing.T) {
	const amendment = `{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["touch"]}}`
	for _, raw := range []string{`"accept"`, `"acceptForSession"`, `"decline"`, `"cancel"`, amendment} {
		var d protocol.ApprovalDecision
		require.NoError(t, json.Unmarshal([]byte(raw), &d))
		require.Equal(t, raw, string(encode(t, d)))
	}
	for _, raw := range []string{
		`"maybe"`, `{}`, `null`, `5`, `{"maybe":{}}`, `{"accept":{},"decline":{}}`, ``, `{"accept":5}`, `{"accept":{}}`,
		`"acceptWithExecpolicyAmendment"`, `{"acceptWithExecpolicyAmendment":null}`, `{"acceptWithExecpolicyAmendment":{}}`,
		`{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":"touch"}}`,
		`{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":[5]}}`,
	} {
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
	for _, raw := range []string{
		`"on-failure"`, `5`, `null`, `{}`, `"granular"`, `{"granular":null}`, `{"granular":{}}`, `{"never":null}`,
		`{"granular":{"sandbox_approval":true,"rules":true}}`,
		`{"granular":{"sandbox_approval":true,"rules":"all","mcp_elicitations":true}}`,
		`{"granular":{"sandbox_approval":true,"rules":true,"mcp_elicitations":true},"never":{}}`,
	} {
		require.Error(t, json.Unmarshal([]byte(raw), new(protocol.AskForApproval)), raw)
	}
}

func TestGranularApprovalHasDefaults(t *testing.T) {
	var policy protocol.AskForApproval
	require.NoError(t, json.Unmarshal([]byte(`{"granular":{"sandbox_approval":true,"rules":true,"mcp_elicitations":true}}`), &policy))
	require.Equal(t, protocol.AskForApproval{Mode: protocol.ApprovalGranular,
		Granular: &protocol.GranularApproval{SandboxApproval: true, Rules: true, McpElicitations: true}}, policy)
}

// Errors without a member name what was expected, for files of configuration too.
func TestWordsOfTheWrongType(t *testing.T) {
	require.EqualError(t, json.Unmarshal([]byte(`5`), new(protocol.SandboxMode)),
		"expected a string, one of `read-only`, `workspace-write`, `danger-full-access`, got number")
	require.EqualError(t, json.Unmarshal([]byte(`"open"`), new(protocol.SandboxMode)),
		"unknown variant `open`, expected one of `read-only`, `workspace-write`, `danger-full-access`")
	require.EqualError(t, json.Unmarshal([]byte(`{"type":"readOnly","networkAccess":"no"}`), new(protocol.SandboxPolicy)),
		"`networkAccess`: invalid type: string, expected a boolean")
}

func TestTokenUsage(t *testing.T) {
	usage := protocol.TokenUsageBreakdown{
		TotalTokens: 1, InputTokens: 2, CachedInputTokens: 3, CacheWriteInputTokens: 4, OutputTokens: 5,
		ReasoningOutputTokens: 6,
	}
	require.Equal(t, usage, usage.Stored().Breakdown())
	require.Equal(t,
		`{"input_tokens":2,"cached_input_tokens":3,"cache_write_input_tokens":4,"output_tokens":5,"reasoning_output_tokens":6,"total_tokens":1}`,
		string(encode(t, usage.Stored())))
	require.Equal(t, protocol.TokenUsageBreakdown{
		TotalTokens: 2, InputTokens: 4, CachedInputTokens: 6, CacheWriteInputTokens: 8, OutputTokens: 10,
		ReasoningOutputTokens: 12,
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
