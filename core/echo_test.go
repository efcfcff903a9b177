package core_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/protocol"
)

// TestEchoesSurvive checks that data for the provider is in the next request, also after a load.
func TestEchoesSurvive(t *testing.T) {
	m := newMachine(t.Errorf)
	m.take(m.start(protocol.HistoryPaginated))
	m.take(core.TurnStart{To: m.caller(), Params: &protocol.TurnStartParams{ThreadID: threadID, Input: goOn},
		Env: m.world})
	signed := &protocol.ProviderEcho{Provider: "p", Model: "m",
		ExtraContent: json.RawMessage(`{"google":{"thought_signature":"AA"}}`)}
	thought := &protocol.ProviderEcho{Provider: "p", Model: "m", Reasoning: "reasoning_content",
		ReasoningDetails: json.RawMessage(`[{"type":"reasoning.encrypted"}]`)}
	m.take(core.ModelDone{Effect: 1,
		Answer: core.Answer{Calls: []core.ToolCall{{ID: "c", Name: "shell", Arguments: `{"command":"make"}`, Echo: signed}}}})
	m.take(core.ToolDone{Effect: 2, Result: core.ToolResult{ExitCode: new(0), Output: "built"}})
	m.take(core.ModelPiece{Effect: 3, Piece: core.Piece{Kind: core.PieceReasoning, Text: "Hm."}})
	m.take(core.ModelPiece{Effect: 3, Piece: core.Piece{Text: "Done."}})
	m.take(core.ModelDone{Effect: 3, Answer: core.Answer{Echo: thought}})

	echoes := func(p *core.Prompt) (found []*protocol.ProviderEcho) {
		for _, item := range p.Items {
			switch i := item.ResponseItemVariant.(type) {
			case *protocol.FunctionCall:
				found = append(found, i.Echo)
			case *protocol.Message:
				if i.Role == protocol.RoleAssistant {
					found = append(found, i.Echo)
				}
			}
		}
		return found
	}
	require.Equal(t, []*protocol.ProviderEcho{signed, thought}, echoes(m.thread.Prompt()))
	before := encode(m.thread.ContextItems())
	require.Contains(t, before, `"category":"reasoning"`)
	require.NotContains(t, before, `"inPrompt":false`, "the reasoning goes back, and counts")
	require.Contains(t, encode(m.thread.Prompt().Items), `"Hm."`)
	m.load()
	require.Equal(t, before, encode(m.thread.ContextItems()))
	require.Equal(t, []*protocol.ProviderEcho{signed, thought}, echoes(m.thread.Prompt()))

	all := m.thread.ContextItems().Items
	m.take(core.EditContext{To: m.caller(),
		Operation: &protocol.SetInclusion{ContextTargets: protocol.ContextTargets{IDs: []string{all[len(all)-1].ID}}}})
	require.NotContains(t, encode(m.thread.Prompt().Items), `"Hm."`, "it goes with its answer")
}
