package core

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/history"
	"appserver/protocol"
)

// countTool returns a new tool: one file like this one, and one row.
func countTool() builtInTool {
	return builtInTool{
		name: "count_words",
		spec: func(*Thread) ToolSpec {
			return ToolSpec{Name: "count_words", Description: "Counts words.", Parameters: json.RawMessage(`{"type":"object"}`)}
		},
		decode: func(_ *step, c *toolCall) (callKind, error) {
			k := &countCall{}
			return k, protocol.Unmarshal([]byte(c.call.Arguments), k)
		},
	}
}

type countCall struct {
	Text string `json:"text"`
}

func (k *countCall) readsOnly(*step) bool { return true }

func (k *countCall) start(s *step, c *toolCall) {
	s.completeCall(c, strconv.Itoa(len(strings.Fields(k.Text))))
}

// TestNewToolIsOneKindAndOneRow runs a turn with a tool that only its row makes known.
func TestNewToolIsOneKindAndOneRow(t *testing.T) {
	thread := Load("t", Options{}, Settings{Cwd: "/repo"}, nil)
	thread.builtInTools = append(thread.builtInTools, countTool())
	ids, request := 0, ModelRequest{}
	take := func(in Input) {
		stamp := Stamp{Now: time.Unix(1000, 0), NewID: func() string { ids++; return "id-" + strconv.Itoa(ids) },
			NextRequest: func() uint64 { return 1 }}
		for _, e := range thread.Step(stamp, in).Effects {
			if e, is := e.(ModelRequest); is {
				request = e
			}
		}
	}
	take(Start{Meta: protocol.SessionMeta{}, Settings: thread.Settings()})
	take(TurnStart{Params: &protocol.TurnStartParams{Input: plainInput("count")}})
	require.Equal(t, "count_words", request.Prompt.Tools[len(request.Prompt.Tools)-1].Name)
	take(ModelDone{Effect: request.ID, Answer: Answer{Calls: []ToolCall{
		{ID: "a", Name: "count_words", Arguments: `{"text":"one two"}`},
		{ID: "b", Name: "Count_Words", Arguments: `[]`},
		{ID: "c", Name: "count_lines", Arguments: `{}`}}}})
	outputs := map[string]string{}
	for _, item := range request.Prompt.Items {
		if output, is := item.ResponseItemVariant.(*protocol.FunctionCallOutput); is {
			outputs[output.CallID] = history.ContentText(item)
		}
	}
	require.Equal(t, "2", outputs["a"])
	require.Contains(t, outputs["b"], "failed to parse function arguments")
	require.Contains(t, outputs["c"], `There is no tool "count_lines". Use one of: `)
	require.Contains(t, outputs["c"], "count_words")
}
