package chat_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/model/chat"
	"appserver/core/effects/model/modeltest"
	"appserver/protocol"
)

// TestEachMessageNamesItsItems has messages of several items: a text with its calls and the reasoning before them,
// and the images of two outputs with the text of the user after them. An empty answer and an unknown item have no
// message.
func TestEachMessageNamesItsItems(t *testing.T) {
	picture := protocol.ToolOutput{Parts: []protocol.ContentItem{
		{Type: protocol.ContentInputImage, ImageURL: "data:image/png;base64,AA=="}}}
	r, err := chat.Render(&core.Prompt{Instructions: "Be kind.", Items: modeltest.Items(
		modeltest.Say("user", "look"),
		&protocol.Reasoning{Summary: []protocol.ReasoningText{{Text: "hm"}}},
		modeltest.Say("assistant", "I look."),
		&protocol.FunctionCall{CallID: "a", Name: "view"}, &protocol.FunctionCall{CallID: "b", Name: "view"},
		&protocol.FunctionCallOutput{CallID: "a", Output: picture},
		&protocol.Unknown{},
		&protocol.FunctionCallOutput{CallID: "b", Output: picture},
		modeltest.Say("assistant", ""),
		modeltest.Say("user", "and?"),
	)})
	require.NoError(t, err)
	require.Equal(t, [][]int{nil, {0}, {1, 2, 3, 4}, {5}, {7}, {5, 7, 9}}, r.Sources)
	require.Len(t, r.Messages, len(r.Sources))
}
