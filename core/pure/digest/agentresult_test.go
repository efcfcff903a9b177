package digest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/digest"
	"appserver/core/pure/history"
	"appserver/protocol"
)

func TestTheResultOfAnAgentIsOneLine(t *testing.T) {
	for _, tt := range []struct{ status, name, want string }{
		{`{"completed":"\n## \nThree files.\nThe rest."}`, "Ada", "Result of Ada: Three files.\nThe rest."},
		{`{"completed":null}`, "Ada", "Result of Ada: no message"},
		{`{"completed":"Three."}`, "", "Result of agent-1: Three."},
		{`{"errored":"the key is refused"}`, "Ada", "Result of Ada: failed: the key is refused"},
		{`{"errored":null}`, "Ada", "Result of Ada: failed"},
		{`"interrupted"`, "Ada", "Result of Ada: interrupted"},
		{`"shutdown"`, "Ada", "Result of Ada: closed"},
	} {
		text := protocol.AgentNoticeTag + "\n" + `{"agent_path":"agent-1","status":` + tt.status + "}\n" +
			protocol.AgentNoticeEnd
		line, ok := digest.AgentResult(protocol.ResponseItem{ResponseItemVariant: history.UserMessage(text)}, tt.name)
		require.True(t, ok)
		require.Equal(t, tt.want, line)
	}
}

func TestOtherMessagesAreNoResultsOfAgents(t *testing.T) {
	for _, text := range []string{"", "hello", protocol.AgentNoticeTag,
		protocol.AgentNoticeTag + "\n{\n" + protocol.AgentNoticeEnd,
		protocol.AgentNoticeTag + "\n{\"status\":\"running\"}\n" + protocol.AgentNoticeEnd} {
		_, ok := digest.AgentResult(protocol.ResponseItem{ResponseItemVariant: history.UserMessage(text)}, "Ada")
		require.False(t, ok, text)
	}
}
