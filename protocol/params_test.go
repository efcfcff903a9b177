package protocol_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

func TestDecodeParamsNamesWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		into           any
		params         string
		message, field string
	}{
		"missing": {&protocol.TurnStartParams{}, `{"threadId":"t"}`,
			"missing field `input`", "input"},
		"missing in a nested object": {&protocol.InitializeParams{}, `{"clientInfo":{"name":"probe"}}`,
			"missing field `version`", "clientInfo.version"},
		"null is missing": {&protocol.InitializeParams{}, `{"clientInfo":null}`,
			"missing field `clientInfo`", "clientInfo"},
		"null in a nested object is missing": {&protocol.InitializeParams{}, `{"clientInfo":{"name":"probe","version":null}}`,
			"missing field `version`", "clientInfo.version"},
		"names are case sensitive": {&protocol.ThreadReadParams{}, `{"ThreadID":"t"}`,
			"missing field `threadId`", "threadId"},
		"no params": {&protocol.ThreadReadParams{}, ``,
			"missing field `threadId`", "threadId"},
		"number for a string": {&protocol.ThreadReadParams{}, `{"threadId":5}`,
			"`threadId`: invalid type: number, expected a string", "threadId"},
		"string for a boolean": {&protocol.ThreadReadParams{}, `{"threadId":"t","includeTurns":"yes"}`,
			"`includeTurns`: invalid type: string, expected a boolean", "includeTurns"},
		"object for a list": {&protocol.TurnStartParams{}, `{"threadId":"t","input":{}}`,
			"`input`: invalid type: object, expected a list", "input"},
		"list for an object": {&protocol.ThreadStartParams{}, `{"config":[]}`,
			"`config`: invalid type: array, expected an object", "config"},
		"string for a number": {&protocol.ThreadListParams{}, `{"limit":"ten"}`,
			"`limit`: invalid type: string, expected a number", "limit"},
		"wrong type in a nested object": {&protocol.InitializeParams{}, `{"clientInfo":{"name":5,"version":"1"}}`,
			"`clientInfo.name`: invalid type: number, expected a string", "clientInfo.name"},
		"wrong type in a union": {&protocol.TurnStartParams{}, `{"threadId":"t","input":[{"type":"text","text":5}]}`,
			"`input.text`: invalid type: number, expected a string", "input.text"},
		"wrong type in a policy": {&protocol.TurnStartParams{}, `{"threadId":"t","input":[],"sandboxPolicy":{"type":"workspaceWrite","writableRoots":"/"}}`,
			"`sandboxPolicy.writableRoots`: invalid type: string, expected a list", "sandboxPolicy.writableRoots"},
	} {
		t.Run(name, func(t *testing.T) {
			requireRefusal(t, protocol.DecodeParams(json.RawMessage(c.params), c.into), c.message, c.field)
		})
	}
}

func requireRefusal(t *testing.T, err error, message, field string) {
	t.Helper()
	var refusal *protocol.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, protocol.CodeInvalidParams, refusal.Code)
	require.Equal(t, "Invalid request: "+message, refusal.Message)
	require.Equal(t, &protocol.ErrorData{Kind: protocol.KindInvalidParams, Field: field}, refusal.Data)
}

// What is expected comes after these words, which clients match.
func TestDecodeParamsListsTheVariants(t *testing.T) {
	for _, c := range []struct {
		into          any
		params, words string
	}{
		{&protocol.TurnStartParams{}, `{"threadId":"t","input":[{"type":"film"}]}`, "unknown variant `film`, expected one of `text`, `image`, "},
		{&protocol.TurnStartParams{}, `{"threadId":"t","input":[],"sandboxPolicy":{"type":"open"}}`, "unknown variant `open`, expected one of `dangerFullAccess`, `readOnly`, "},
		{&protocol.TurnStartParams{}, `{"threadId":"t","input":[],"approvalPolicy":"later"}`, "unknown variant `later`, expected one of `untrusted`, `on-request`, "},
		{&protocol.ThreadStartParams{}, `{"sandbox":"open"}`, "unknown variant `open`, expected one of `read-only`, `workspace-write`, `danger-full-access`"},
		{&protocol.ThreadStartParams{}, `{"approvalsReviewer":"nobody"}`, "unknown variant `nobody`, expected one of `user`, `auto_review`, `guardian_subagent`"},
		{&protocol.TurnStartParams{}, `{"threadId":"t","input":[{"type":"text"}]}`, "missing field `text`"},
		{&protocol.TurnStartParams{}, `{"threadId":"t","input":[null]}`, "expected an object"},
		{&protocol.TurnStartParams{}, `{"threadId":"t","input":[5]}`, "expected an object"},
		{&protocol.ThreadStartParams{}, `{"approvalPolicy":5}`, "expected a string, one of `untrusted`, `on-request`, "},
	} {
		var refusal *protocol.Error
		require.ErrorAs(t, protocol.DecodeParams(json.RawMessage(c.params), c.into), &refusal, c.params)
		require.Equal(t, protocol.CodeInvalidParams, refusal.Code)
		require.Equal(t, protocol.KindInvalidParams, refusal.Data.Kind)
		require.Contains(t, refusal.Message, c.words)
	}
}

func TestParamsMustBeAnObject(t *testing.T) {
	for params, kind := range map[string]string{`[]`: "array", `"x"`: "string", `5`: "number", `true`: "bool"} {
		err := protocol.DecodeParams(json.RawMessage(params), &protocol.ThreadListParams{})
		requireRefusal(t, err, "invalid type: "+kind+", expected an object", "")
	}
}

func TestAbsentParamsAreEmpty(t *testing.T) {
	for _, params := range []string{``, ` `, `null`, `{}`} {
		var p protocol.ThreadListParams
		require.NoError(t, protocol.DecodeParams(json.RawMessage(params), &p))
		require.Zero(t, p)
	}
}

func TestNullMembersAreAbsent(t *testing.T) {
	var got protocol.ThreadStartParams
	nulls := []string{}
	for _, name := range []string{"model", "cwd", "approvalPolicy", "approvalsReviewer", "sandbox", "config", "ephemeral"} {
		nulls = append(nulls, `"`+name+`":null`)
	}
	require.NoError(t, protocol.DecodeParams(json.RawMessage("{"+strings.Join(nulls, ",")+"}"), &got))
	require.Zero(t, got)
}

func TestUnknownMembersArePassedOver(t *testing.T) {
	var p protocol.ThreadReadParams
	require.NoError(t, protocol.DecodeParams(json.RawMessage(`{"threadId":"t","tomorrow":{"a":[1]}}`), &p))
	require.Equal(t, "t", p.ThreadID)
}

func TestOneOrMany(t *testing.T) {
	for params, want := range map[string]protocol.OneOrMany{
		`{"cwd":"/a"}`: {"/a"}, `{"cwd":["/a","/b"]}`: {"/a", "/b"}, `{"cwd":[]}`: {}, `{"cwd":null}`: nil,
	} {
		var p protocol.ThreadListParams
		require.NoError(t, protocol.DecodeParams(json.RawMessage(params), &p))
		require.Equal(t, want, p.Cwd, params)
	}
	requireRefusal(t, protocol.DecodeParams(json.RawMessage(`{"cwd":["/a",5]}`), &protocol.ThreadListParams{}),
		"`cwd`: invalid type: number, expected a string", "cwd")
}

func TestProvidersNullAndEmptyDiffer(t *testing.T) {
	var p protocol.ThreadListParams
	require.NoError(t, protocol.DecodeParams(json.RawMessage(`{"modelProviders":[]}`), &p))
	require.NotNil(t, p.ModelProviders)
	require.Empty(t, *p.ModelProviders)
}

func TestDeepNestingIsRefused(t *testing.T) {
	deep := `{"threadId":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`
	require.Error(t, protocol.DecodeParams(json.RawMessage(deep), &protocol.ThreadReadParams{}))
}
