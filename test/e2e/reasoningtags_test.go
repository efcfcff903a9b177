package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// TestReasoningInTagsIsReasoning shows reasoning in tags as a reasoning item of its own, and keeps it out of the text
// of the context. It goes back to its model as reasoning. The template of a model can have opened the tag.
func TestReasoningInTagsIsReasoning(t *testing.T) {
	apptest.OnBothWires(t, func(t *testing.T, on apptest.WireAPI) {
		for name, pieces := range map[string][]string{
			"tags":           {"<thi", "nk>\nsecret ", "why\n</th", "ink>\n\nHel", "lo."},
			"only the end":   {"secret ", "why", "\n</think>", "\n\nHello."},
			"in one piece":   {"<think>secret why</think>Hello."},
			"end, one piece": {"secret why\n</think>\n\nHello."},
		} {
			t.Run(name, func(t *testing.T) {
				p := on.NewProvider(t, func(w io.Writer) {
					for _, piece := range pieces {
						fmt.Fprint(w, apptest.ChatChunk(apptest.Object{"content": piece}, nil))
					}
					fmt.Fprint(w, apptest.ChatChunk(apptest.Object{}, "stop"), "data: [DONE]\n\n")
				}, apptest.TextAnswer("Again."))
				c := apptest.StartServer(t, p.Home(t))
				c.Initialize()
				thread := c.StartTrusted()
				c.BeginTurn(thread, "hi")
				require.Equal(t, "secret why", strings.TrimSpace(completedOf(c, "reasoning").Content[0]))
				require.Equal(t, "Hello.", completedOf(c, "agentMessage").Text)
				c.AwaitTurn()
				items := c.Call("context/getItems", apptest.Object{"threadId": thread})
				require.Contains(t, string(items), `"category":"reasoning"`)
				c.Turn(thread, "again")
				sent := p.Requests()[1]
				for _, m := range sent.Messages {
					var message struct{ Content any }
					require.NoError(t, json.Unmarshal(m, &message))
					require.NotContains(t, fmt.Sprint(message.Content), "think")
				}
				require.Contains(t, sent.Body, "secret why")
				c.Close()
			})
		}
	})
}

// completedItem is a completed item of reasoning or text.
type completedItem struct {
	Type, Text string
	Content    []string
}

// completedOf reads until an item of a type completes.
func completedOf(c *apptest.Client, kind string) completedItem {
	for {
		var p struct{ Item json.RawMessage }
		require.NoError(c.T, json.Unmarshal(c.UntilMethod("item/completed").Params, &p))
		var item completedItem
		if err := json.Unmarshal(p.Item, &item); err == nil && item.Type == kind {
			return item
		}
	}
}
