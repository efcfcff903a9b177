package chat

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/core/effects/model/modeltest"
	"appserver/protocol"

	"github.com/stretchr/testify/require"
)

func FuzzChunk(f *testing.F) {
	for _, seed := range []string{
		`{"choices":[{"index":0,"delta":{"content":"a","reasoning":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"x","function":{"name":"f","arguments":{"a":1}}}]}}]}`,
		`{"choices":[{"message":{"content":[{"text":"a"},7]}}]}`, `{"choices":{}}`, `null`, `[`,
		`{"choices":[{"delta":{"content":"\ud800"}}]}`,
		`{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","text":"a","index":0},null,7],"tool_calls":[{"id":"x","function":{"name":"f"},"extra_content":{"google":{"thought_signature":"a"}}}]}}]}`,
		"{\"choices\":[{\"delta\":{\"reasoning_details\":[{\"id\":\"x\",\"data\":\"\xff\"}],\"tool_calls\":[{\"id\":\"x\",\"function\":{\"name\":\"f\"},\"extra_content\":\"\xff\"}]}}]}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a := newAssembly(&core.Prompt{}, func(p core.Piece) {
			require.NotEmpty(t, p.Text)
			require.True(t, utf8.ValidString(p.Text))
		})
		for range 2 {
			if err := a.Add(raw); err != nil && !model.IsReported(err) {
				require.False(t, json.Valid(raw), err)
			}
		}
		answer, err := a.Answer()
		if err != nil {
			return
		}
		ids := map[string]bool{}
		for _, c := range answer.Calls {
			require.NotEmpty(t, c.ID)
			require.False(t, ids[c.ID])
			ids[c.ID] = true
			call := protocol.ResponseItem{ResponseItemVariant: &protocol.FunctionCall{CallID: c.ID, Name: c.Name,
				Arguments: c.Arguments, Echo: c.Echo}}
			requireText(t, call)
			requireText(t, Messages(&core.Prompt{Items: []protocol.ResponseItem{call}}))
		}
	})
}

// requireText wants what is written to be JSON in UTF-8.
func requireText(t *testing.T, v any) {
	b, err := protocol.Marshal(v)
	require.NoError(t, err)
	require.True(t, json.Valid(b) && utf8.Valid(b), "%q", b)
}

// FuzzAnswer gives arbitrary bytes as the body of an answer to the whole provider.
func FuzzAnswer(f *testing.F) {
	f.Add(200, []byte("data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	f.Add(200, []byte(`{"error":{"message":"a"}}`))
	f.Add(200, []byte("data: {\"error\":null}\n\n: c\ndata: {\"error\":[{\"message\":3}]}\n\n"))
	f.Add(429, []byte(`{"error":{"code":"insufficient_quota","metadata":{"raw":"x"}}}`))
	f.Add(500, []byte("<title>x"))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		o := model.NewClient(model.Endpoint{BaseURL: "http://memory",
			Transport: modeltest.FixedAnswer{Status: status, Body: string(body)}}, New())
		_, err := o.Stream(t.Context(), &core.Prompt{}, func(core.Piece) {})
		if err != nil {
			m, ok := err.(*core.ModelError)
			require.True(t, ok, "%T", err)
			require.NotEmpty(t, m.Message)
			require.NotEmpty(t, m.Info.Kind)
			require.LessOrEqual(t, utf8.RuneCountInString(m.Message), 1200)
		}
	})
}

// FuzzMessages checks that any history becomes messages that a provider can read.
func FuzzMessages(f *testing.F) {
	f.Add([]byte(`[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},{"type":"function_call","name":"f","arguments":"{","call_id":"c"}]`))
	f.Add([]byte(`[{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"data:x"}]},{"type":"ghost"}]`))
	f.Add([]byte(`[{"type":"custom_tool_call","name":"","input":"\ud800","call_id":""},{"type":"local_shell_call","call_id":"c","action":{}}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var p core.Prompt
		if json.Unmarshal(raw, &p.Items) != nil {
			return
		}
		for _, m := range Messages(&p) {
			b, err := protocol.Marshal(m)
			require.NoError(t, err)
			require.True(t, json.Valid(b))
			require.True(t, m.Content.Text != "" || m.Content.Parts != nil || m.ToolCalls != nil, "%s", b)
			for _, c := range m.ToolCalls {
				require.True(t, json.Valid([]byte(c.Function.Arguments)), c.Function.Arguments)
				require.Regexp(t, `^[A-Za-z0-9_-]{1,64}$`, c.Function.Name)
			}
		}
	})
}
