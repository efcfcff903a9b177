package offline_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/model/modeltest"
	"appserver/protocol"
)

func TestScriptsNameTheAgentsOfTheThread(t *testing.T) {
	p := modeltest.UserSays("go")
	for _, id := range []string{"a-1", "a-2"} {
		p.Items = append(p.Items, modeltest.Items(&protocol.FunctionCallOutput{CallID: id,
			Output: protocol.ToolOutput{Text: `{"agent_id":"` + id + `","nickname":"Ada"}`}})...)
	}
	p.Items = append(p.Items, modeltest.Items(modeltest.Say(protocol.RoleUser, protocol.AgentNoticeTag+"\n{}"))...)
	o := script(t, `{"steps": [{"match": "go", "toolCalls": [{"name": "wait_agent",
		"arguments": {"targets": ["{{agent 2}}", "{{agent 1}}", "{{agent 3}}"]}}]}]}`)
	_, answer, err := modeltest.Ask(t.Context(), o, p)
	require.NoError(t, err)
	require.Equal(t, `{"targets":["a-2","a-1","{{agent 3}}"]}`, answer.Calls[0].Arguments)
}
