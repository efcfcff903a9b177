package chat_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"appserver/core"
	"appserver/core/effects/model/chat"
	"appserver/core/effects/model/modeltest"
	"appserver/protocol"

	"github.com/stretchr/testify/require"
)

// TestEchoes: an answer goes back to its own model as it came, but for what was taken
// out of the context or replaced there.
func TestEchoes(t *testing.T) {
	signed := func(member string) *protocol.ProviderEcho {
		return &protocol.ProviderEcho{Provider: "p", Model: "m", Reasoning: member,
			ReasoningDetails: json.RawMessage(`[{"text":"Hm."}]`), ExtraContent: json.RawMessage(`{"x":1}`)}
	}
	named := func(member string) *protocol.ProviderEcho {
		return &protocol.ProviderEcho{Provider: "p", Model: "m", Reasoning: member}
	}
	answer := func(echo *protocol.ProviderEcho) *protocol.Message {
		m := modeltest.Say(protocol.RoleAssistant, "Yes.")
		m.Echo = echo
		return m
	}
	call := func(echo *protocol.ProviderEcho) *protocol.FunctionCall {
		return &protocol.FunctionCall{CallID: "a", Name: "f", Arguments: "{}", Echo: echo}
	}
	replaced := &protocol.Reasoning{Summary: []protocol.ReasoningText{{Type: "summary_text", Text: "short"}}}
	const called = `[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}`
	for name, c := range map[string]struct {
		items []protocol.ResponseItemVariant
		want  string
	}{
		"with a text": {[]protocol.ResponseItemVariant{thought("Hm."), answer(named("reasoning_content"))},
			`[{"role":"assistant","content":"Yes.","reasoning_content":"Hm."}]`},
		"with a call": {[]protocol.ResponseItemVariant{thought("Hm."), call(named("reasoning"))}, called +
			`}],"reasoning":"Hm."}]`},
		"all of it": {[]protocol.ResponseItemVariant{thought("Hm."), call(signed("reasoning"))}, called +
			`,"extra_content":{"x":1}}],"reasoning_details":[{"text":"Hm."}]}]`},
		"a text before a call": {[]protocol.ResponseItemVariant{thought("Hm."), answer(nil), call(named("reasoning"))},
			`[{"role":"assistant","content":"Yes.","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}],"reasoning":"Hm."}]`},
		"in two parts": {[]protocol.ResponseItemVariant{thought("Hm. "), answer(nil), thought("So."),
			call(named("reasoning"))},
			`[{"role":"assistant","content":"Yes.","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}],"reasoning":"Hm. So."}]`},
		"taken out": {[]protocol.ResponseItemVariant{call(signed("reasoning"))}, called +
			`,"extra_content":{"x":1}}]}]`},
		"replaced": {[]protocol.ResponseItemVariant{replaced, call(signed("reasoning"))}, called +
			`,"extra_content":{"x":1}}],"reasoning":"short"}]`},
		"never readable": {[]protocol.ResponseItemVariant{call(signed(""))}, called +
			`,"extra_content":{"x":1}}],"reasoning_details":[{"text":"Hm."}]}]`},
		"nobody asked": {[]protocol.ResponseItemVariant{thought("Hm."), answer(nil)},
			`[{"role":"assistant","content":"Yes."}]`},
		"of an answer that fell": {[]protocol.ResponseItemVariant{thought("Hm."), modeltest.Say("user", "go on"),
			answer(named("reasoning"))}, `[{"role":"user","content":"go on"},{"role":"assistant","content":"Yes."}]`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, asked := range []string{"m", "other"} {
				p := &core.Prompt{Provider: "p", Model: asked, Items: modeltest.Items(c.items...)}
				b, err := protocol.Marshal(chat.Messages(p))
				require.NoError(t, err)
				if asked == "m" {
					require.Equal(t, c.want, string(b))
				} else {
					require.NotContains(t, string(b), "reasoning", "another model gets none of it")
					require.NotContains(t, string(b), "extra_content")
				}
			}
		})
	}
}

// TestEchoIsKeptWithTheAnswer states where a thread stores the echo.
func TestEchoIsKeptWithTheAnswer(t *testing.T) {
	stream := event(`{"reasoning_content":"Hm."}`) + event(`{"content":"Yes."}`)
	_, answer, err := modeltest.Ask(t.Context(), serve(t, modeltest.Events(stream+stop)), modeltest.UserSays("hi"))
	require.NoError(t, err)
	require.Equal(t, fromTest("reasoning_content"), answer.Echo)

	stream += callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"},"extra_content":null}`)
	_, answer, err = modeltest.Ask(t.Context(), serve(t, modeltest.Events(stream+stop)), modeltest.UserSays("hi"))
	require.NoError(t, err)
	require.Nil(t, answer.Echo)
	require.Equal(t, []core.ToolCall{{ID: "a", Name: "f", Arguments: "{}", Echo: fromTest("reasoning_content")}},
		answer.Calls)
}

// TestDetailsFollowTheirCalls expects the details of a call to change with its id, because the
// provider pairs them.
func TestDetailsFollowTheirCalls(t *testing.T) {
	stream := event(`{"tool_calls":[{"index":0,"id":"tool_0","function":{"name":"f","arguments":"{}"}}],"reasoning_details":[{"type":"reasoning.encrypted","data":"AA","id":"tool_0"}]}`) + stop
	_, answer, err := modeltest.Ask(t.Context(), serve(t, modeltest.Events(stream)), history(nil, "tool_0"))
	require.NoError(t, err)
	require.Equal(t, "call_1", answer.Calls[0].ID)
	require.JSONEq(t, `[{"type":"reasoning.encrypted","data":"AA","id":"call_1"}]`,
		string(answer.Calls[0].Echo.ReasoningDetails))
}

// TestReasoningThatIsInDetailsAlone is shown all the same.
func TestReasoningThatIsInDetailsAlone(t *testing.T) {
	stream := event(`{"reasoning_details":[{"type":"reasoning.summary","summary":"Ab"},null,7]}`) +
		event(`{"reasoning_details":[{"type":"reasoning.summary","summary":"out","id":"x"}]}`) + event(`{"content":"Yes."}`) +
		stop
	pieces, answer, err := modeltest.Ask(t.Context(), serve(t, modeltest.Events(stream)), modeltest.UserSays("hi"))
	require.NoError(t, err)
	_, reasoning := modeltest.Spoken(pieces)
	require.Equal(t, "About", reasoning)
	require.NotNil(t, answer.Echo)
	require.Contains(t, string(answer.Echo.ReasoningDetails), `"type":"reasoning.summary"`)
}

// TestLongReasoningInPiecesCostsItsLength has twice the pieces take about twice the memory on
// their way.
func TestLongReasoningInPiecesCostsItsLength(t *testing.T) {
	allocated := func(pieces int) uint64 {
		stream := strings.Repeat(event(`{"reasoning":"some ","reasoning_details":[{"type":"reasoning.text","text":"some ","index":0,"format":"f"}]}`), pieces) + event(`{"content":"Yes."}`) + stop
		provider := memoryProvider(stream)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		answer, err := provider.Stream(t.Context(), modeltest.UserSays("hi"), func(core.Piece) {})
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.JSONEq(t, `[{"type":"reasoning.text","text":"`+strings.Repeat("some ", pieces)+`","index":0,"format":"f"}]`,
			string(answer.Echo.ReasoningDetails))
		return after.TotalAlloc - before.TotalAlloc
	}
	require.Less(t, allocated(6000), 3*allocated(3000))
}
