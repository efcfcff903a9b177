package history_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/history"
	"appserver/protocol"
)

const agentID = "0198a000-0000-7000-8000-0000000000aa"

func agentNotice(status string) string {
	return protocol.AgentNoticeTag + "\n" + `{"agent_path":"` + agentID + `","status":` + status + "}\n" +
		protocol.AgentNoticeEnd
}

// withNotice returns a history in which an agent was started, and its result came.
func withNotice(o history.Options) *history.History {
	h := conversation()
	h.Configure(o)
	appendLines(h,
		item(5, &protocol.FunctionCall{Name: "spawn_agent", CallID: "call-2", Arguments: `{"message":"count"}`}),
		item(6, &protocol.FunctionCallOutput{CallID: "call-2",
			Output: protocol.ToolOutput{Text: `{"agent_id":"` + agentID + `","nickname":"Ada"}`}}),
		item(7, history.UserMessage(agentNotice(`{"completed":"Three files."}`))))
	return h
}

func listed(t *testing.T, h *history.History, id string) protocol.ContextItem {
	items, _, _, err := h.Page(nil, nil)
	require.Nil(t, err)
	for _, item := range items {
		if item.ID == id {
			return item
		}
	}
	require.Fail(t, "no item "+id)
	return protocol.ContextItem{}
}

func TestTheResultOfAnAgentIsAnOutputWithTheThreadOfTheAgent(t *testing.T) {
	h := withNotice(history.Options{})
	result := listed(t, h, "r7")
	require.Equal(t, protocol.CategoryToolOutput, result.Category)
	require.Equal(t, agentID, *result.AgentThreadID)
	require.False(t, h.IsUserMessage(6))
	require.Nil(t, listed(t, h, "r6").AgentThreadID)
}

func TestAMessageOfTheUserIsNoResultOfAnAgent(t *testing.T) {
	h := withNotice(history.Options{})
	h.ShowUserMessage("item-7")
	require.Equal(t, protocol.CategoryUserMessage, listed(t, h, "r7").Category)
	require.Nil(t, listed(t, h, "r7").AgentThreadID)
}

func TestTheLineOfAResultHasTheNameOfTheAgent(t *testing.T) {
	named := func(_ protocol.ResponseItem, subject string) history.Lines { return history.Lines{Short: subject} }
	h := withNotice(history.Options{Preview: named})
	require.Equal(t, "Ada", listed(t, h, "r7").Preview)
	edit(h, 8, &protocol.SetInclusion{ContextTargets: targets("r5")})
	require.Equal(t, "Ada", listed(t, h, "r7").Preview, "after the call was excluded")

	h = conversation()
	h.Configure(history.Options{Preview: named})
	appendLines(h, item(5, history.UserMessage(agentNotice(`"interrupted"`))))
	require.Empty(t, listed(t, h, "r5").Preview)
}

func TestTheLineOfAnOutputNamesItsCallWhileBothAreThere(t *testing.T) {
	preview := func(item protocol.ResponseItem, subject string) history.Lines {
		if call, ok := item.ResponseItemVariant.(*protocol.FunctionCall); ok {
			return history.Lines{Printed: call.Arguments}
		}
		return history.Lines{Short: subject}
	}
	h := conversation()
	h.Configure(history.Options{Preview: preview})
	require.Equal(t, `{"command":["make"]}`, listed(t, h, "r3").Preview)
	appendLines(h, newLine(5, protocol.LineCompacted, protocol.Compacted{Message: "A summary.",
		TrimPoint: &protocol.StoredTrimPoint{ID: "p", Revision: 5, KeepFrom: "r3"}}))
	require.Empty(t, listed(t, h, "r3").Preview, "the call was compacted")
	undo(h, 6)
	require.Equal(t, `{"command":["make"]}`, listed(t, h, "r3").Preview)
}
