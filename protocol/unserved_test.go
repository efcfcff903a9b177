package protocol_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// unservedValues are a wrong value and a right one for each member of params without effect.
var unservedValues = map[string][2]string{
	"InitializeCapabilities.explicitGatewayOauth": {`1`, `true`}, "InitializeCapabilities.extensions": {`[]`, `{}`},
	"InitializeCapabilities.mcpServerOpenaiFormElicitation": {`"a"`, `true`},
	"InitializeCapabilities.requestAttestation":             {`{}`, `true`}, "InitializeCapabilities.requiredHumanApproval": {`"a"`, `true`},
	"GetAccountRateLimitsParams.excludeResetCreditDetails": {`"a"`, `true`},
	"GetAccountRateLimitsParams.supportsLunaReserve":       {`1`, `true`},
	"MemoryStatusParams.minConsolidatedThreads":            {`-1`, `1`},
	"ThreadForkParams.attachToSource":                      {`"a"`, `false`}, "ThreadForkParams.deferGoalContinuation": {`"a"`, `false`},
	"ThreadForkParams.experimentalDisablePredictionMcp": {`"a"`, `false`}, "ThreadForkParams.experimentalPredictionMode": {`1`, `false`},
	"ThreadItemsListParams.deferOutput":          {`true`, `{"mcpToolCall":true}`},
	"ThreadListParams.currentAccountOnly":        {`"a"`, `true`},
	"ThreadListParams.useStateDbOnly":            {`"a"`, `true`},
	"ThreadMetadataUpdateParams.daybreakEnabled": {`"a"`, `false`}, "ThreadMetadataUpdateParams.projectId": {`1`, `"a"`},
	"ThreadResumeParams.personality":               {`"bold"`, `"none"`},
	"ThreadSearchParams.currentAccountOnly":        {`"a"`, `true`},
	"ThreadSearchParams.includeAttachedThreads":    {`"a"`, `true`},
	"ThreadStartParams.allowProviderModelFallback": {`"a"`, `false`}, "ThreadStartParams.daybreakEnabled": {`"a"`, `false`},
	"ThreadStartParams.experimentalRawEvents": {`"a"`, `false`}, "ThreadStartParams.historyMode": {`"a"`, `"legacy"`},
	"ThreadStartParams.mockExperimentalField": {`1`, `"a"`},
	"ThreadStartParams.personality":           {`"bold"`, `"friendly"`}, "ThreadStartParams.projectId": {`1`, `"a"`},
	"ThreadStartParams.selectedCapabilityRoots": {`[{"id":"a"}]`,
		`[{"id":"a","location":{"type":"environment","environmentId":"b","path":"/"}}]`},
	"ThreadStartParams.serviceName": {`1`, `"a"`}, "ThreadStartParams.sessionStartSource": {`"a"`, `"clear"`},
	"TurnStartParams.additionalContext":  {`{"a":{"kind":"b","value":"c"}}`, `{"a":{"kind":"untrusted","value":"c"}}`},
	"TurnStartParams.cyberAccessProgram": {`"a"`, `"standard"`}, "TurnStartParams.disabledPluginIds": {`["a",1]`, `["a"]`},
	"TurnStartParams.parentTurnId":               {`1`, `"a"`},
	"TurnStartParams.personality":                {`1`, `"none"`},
	"TurnStartParams.responsesapiClientMetadata": {`{"a":1}`, `{"a":"b"}`}, "TurnStartParams.responsesapiClientMetadataPatch": {`[]`, `{}`},
	"TurnStartParams.serviceTierForTurn": {`1`, `"a"`}, "TurnStartParams.toolOutput": {`{"name":"a","output":1}`, `{"name":"a","output":"b"}`},
	"TurnStartParams.turnTrigger":                {`1`, `"a"`},
	"TurnSteerParams.additionalContext":          {`{"a":"b"}`, `{}`},
	"TurnSteerParams.responsesapiClientMetadata": {`"a"`, `{}`}, "TurnSteerParams.responsesapiClientMetadataPatch": {`{"a":1}`, `{}`},
}

// unservedParams returns params of each type without other members that are required.
func unservedParams(kind string) (into any, required string) {
	switch kind {
	case "InitializeCapabilities":
		return &protocol.InitializeParams{}, `"clientInfo":{"name":"a","version":"1"},"capabilities":{`
	case "ThreadStartParams":
		return &protocol.ThreadStartParams{}, ``
	case "ThreadResumeParams":
		return &protocol.ThreadResumeParams{}, `"threadId":"a",`
	case "ThreadForkParams":
		return &protocol.ThreadForkParams{}, `"threadId":"a",`
	case "TurnStartParams":
		return &protocol.TurnStartParams{}, `"threadId":"a","input":[],`
	case "TurnSteerParams":
		return &protocol.TurnSteerParams{}, `"threadId":"a","input":[],"expectedTurnId":"b",`
	case "ThreadMetadataUpdateParams":
		return &protocol.ThreadMetadataUpdateParams{}, `"threadId":"a",`
	case "ThreadSearchParams":
		return &protocol.ThreadSearchParams{}, `"searchTerm":"a",`
	case "ThreadListParams":
		return &protocol.ThreadListParams{}, ``
	case "ThreadItemsListParams":
		return &protocol.ThreadItemsListParams{}, `"threadId":"a",`
	case "GetAccountRateLimitsParams":
		return &protocol.GetAccountRateLimitsParams{}, ``
	}
	return &protocol.MemoryStatusParams{}, ``
}

// TestMembersWithoutEffectHaveTheTypesOfTheReference sends a wrong value for each member: the error names the member.
func TestMembersWithoutEffectHaveTheTypesOfTheReference(t *testing.T) {
	names, _ := protocol.UnservedMembers()
	require.Len(t, unservedValues, len(names))
	for _, name := range names {
		require.Contains(t, unservedValues, name)
		kind, member := split(name)
		for i, value := range unservedValues[name] {
			into, required := unservedParams(kind)
			err := decode(required, member, value, into)
			if i == 1 {
				require.NoError(t, err, name)
				continue
			}
			var refused *protocol.Error
			require.True(t, errors.As(err, &refused), "%s takes %s", name, value)
			require.Equal(t, protocol.CodeInvalidParams, refused.Code, name)
			require.Contains(t, string(mustJSON(t, refused.Data)), `"field":"`+prefix(kind)+member, name)
		}
		into, required := unservedParams(kind)
		require.NoError(t, decode(required, member, `null`, into), name)
	}
}

// decode decodes params with a member, as the server does.
func decode(required, member, value string, into any) error {
	text := `{` + required + `"` + member + `":` + value + `}`
	if strings.HasSuffix(required, "{") {
		text += "}"
	}
	if err := protocol.DecodeParams(json.RawMessage(text), into); err != nil {
		return err
	}
	return protocol.CheckUnserved(json.RawMessage(text), reflect.TypeOf(into).Elem())
}

func prefix(kind string) string {
	if kind == "InitializeCapabilities" {
		return "capabilities."
	}
	return ""
}

func split(name string) (kind, member string) {
	for i := range name {
		if name[i] == '.' {
			return name[:i], name[i+1:]
		}
	}
	return name, ""
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return text
}

// TestMembersThatNarrowAreRejected sends values that this server does not serve, and that select less.
func TestMembersThatNarrowAreRejected(t *testing.T) {
	_, rejected := protocol.UnservedMembers()
	require.Equal(t, []string{"ListMcpServerStatusParams.environmentId", "McpResourceReadParams.environmentId",
		"McpServerOauthLoginParams.environmentId", "McpServerToolCallParams.environmentId", "ThreadListParams.includedThreadIds"}, rejected)
	err := decode("", "includedThreadIds", `["a"]`, &protocol.ThreadListParams{})
	require.ErrorContains(t, err, "this server does not have the filter")
	err = decode("", "environmentId", `"remote"`, &protocol.ListMcpServerStatusParams{})
	require.ErrorContains(t, err, "MCP servers run in the environment local only")
	require.NoError(t, decode("", "environmentId", `"local"`, &protocol.ListMcpServerStatusParams{}))
	for _, p := range []protocol.McpResourceReadParams{{ConnectorID: new("a")}, {Target: json.RawMessage(`{}`)},
		{Meta: json.RawMessage(`1`)}} {
		require.Error(t, p.Check())
	}
	require.NoError(t, (&protocol.McpResourceReadParams{Meta: json.RawMessage(`{}`)}).Check())
}
