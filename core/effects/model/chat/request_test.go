package chat_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/core/effects/model/chat"
	"appserver/core/effects/model/modeltest"
	"appserver/protocol"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// sent returns the request for a prompt.
func sent(t *testing.T, p *core.Prompt, edit ...func(*model.Endpoint)) (body string, req *http.Request) {
	t.Helper()
	provider := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body, req = string(b), r
		_, _ = io.WriteString(w, event(`{"content":"ok"}`)+stop+done)
	}, edit...)
	_, _, err := modeltest.Ask(t.Context(), provider, p)
	require.NoError(t, err)
	return body, req
}

func TestRequestBody(t *testing.T) {
	body, req := sent(t, &core.Prompt{
		ThreadID: "thread-1", SessionID: "session-1", Model: "gpt-6.1-sol", Instructions: "Be <brief> & kind.",
		Effort: "high", ServiceTier: "flex",
		OutputSchema: json.RawMessage(`{"type":"object","anyOf":[]}`),
		Tools: []core.ToolSpec{{Name: "shell", Description: "Runs.", Parameters: json.RawMessage(`{"type":"object"}`)},
			{Name: "bare"}},
		Items: modeltest.Items(
			modeltest.Say(protocol.RoleUser, "list"),
			&protocol.FunctionCall{CallID: "c1", Name: "shell"},
			&protocol.FunctionCallOutput{CallID: "c1"},
		),
	})
	require.Equal(t, "POST /v1/chat/completions", req.Method+" "+req.URL.String())
	require.Equal(t, "Bearer "+modeltest.SecretKey, req.Header.Get("Authorization"))
	require.Equal(t, "application/json", req.Header.Get("Content-Type"))
	require.NotContains(t, req.Header, "Idempotency-Key")
	require.Equal(t, `{"messages":[`+
		`{"role":"system","content":"Be <brief> & kind."},`+
		`{"role":"user","content":"list"},`+
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"shell","arguments":"{}"}}]},`+
		`{"role":"tool","content":"(no output)","tool_call_id":"c1"}],`+
		`"model":"gpt-6.1-sol",`+
		`"parallel_tool_calls":true,`+
		`"prompt_cache_key":"session-1",`+
		`"reasoning_effort":"high",`+
		`"response_format":{"type":"json_schema","json_schema":{"name":"codex_output_schema","schema":{"type":"object","anyOf":[]},"strict":true}},`+
		`"service_tier":"flex",`+
		`"stream":true,`+
		`"stream_options":{"include_usage":true},`+
		`"tools":[{"function":{"name":"shell","description":"Runs.","parameters":{"type":"object"}},"type":"function"},`+
		`{"function":{"name":"bare","parameters":{"type":"object","properties":{}}},"type":"function"}]}`, body)
}

// TestEachRequestHasItsOwnTools sends prompts whose tools differ in turn to one provider.
func TestEachRequestHasItsOwnTools(t *testing.T) {
	var body []byte
	provider := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, event(`{"content":"ok"}`)+stop+done)
	})
	read := core.ToolSpec{Name: "read", Parameters: json.RawMessage(`{"type":"object"}`)}
	described, typed := read, read
	described.Description, typed.Parameters = "Reads.", json.RawMessage(`{"type": "object", "required": []}`)
	for _, c := range []struct {
		tools []core.ToolSpec
		sent  string
	}{
		{nil, ``},
		{[]core.ToolSpec{read}, `[{"function":{"name":"read","parameters":{"type":"object"}},"type":"function"}]`},
		{[]core.ToolSpec{read}, `[{"function":{"name":"read","parameters":{"type":"object"}},"type":"function"}]`},
		{[]core.ToolSpec{described}, `[{"function":{"name":"read","description":"Reads.","parameters":{"type":"object"}},"type":"function"}]`},
		{[]core.ToolSpec{typed}, `[{"function":{"name":"read","parameters":{"type":"object","required":[]}},"type":"function"}]`},
		{nil, ``},
	} {
		p := modeltest.UserSays("hi")
		p.Tools = c.tools
		_, _, err := modeltest.Ask(t.Context(), provider, p)
		require.NoError(t, err)
		require.Equal(t, c.sent, gjson.GetBytes(body, "tools").Raw)
		rendered, err := provider.Render(p)
		require.NoError(t, err)
		require.Equal(t, c.sent != "", len(rendered.Tools) > 0)
	}
}

func TestSmallestRequestBody(t *testing.T) {
	body, req := sent(t, &core.Prompt{Model: "o1", Effort: "none", OutputSchema: json.RawMessage("null")},
		func(e *model.Endpoint) { e.APIKey = "" })
	require.Equal(t, `{"messages":[],"model":"o1","stream":true,"stream_options":{"include_usage":true}}`, body)
	require.NotContains(t, req.Header, "Authorization")
}

func TestEndpointQueryAndHeaders(t *testing.T) {
	_, req := sent(t, modeltest.UserSays("hi"), func(e *model.Endpoint) {
		e.BaseURL += "/openai/?tenant=7"
		e.Query = map[string]string{"api-version": "2024-10-21"}
		e.Headers = map[string]string{"api-key": "azure-secret", "User-Agent": "mine"}
	})
	require.Equal(t, "/v1/openai/chat/completions?api-version=2024-10-21&tenant=7", req.URL.String())
	require.Equal(t, "azure-secret", req.Header.Get("Api-Key"))
	require.Equal(t, "mine", req.Header.Get("User-Agent"))
}

func TestBaseURLs(t *testing.T) {
	for suffix, want := range map[string]string{
		"": "/chat/completions", "/": "/chat/completions", "/v1": "/v1/chat/completions", "/v1/": "/v1/chat/completions",
		"/a%20b": "/a%20b/chat/completions",
	} {
		_, req := sent(t, modeltest.UserSays("hi"),
			func(e *model.Endpoint) { e.BaseURL = strings.TrimSuffix(e.BaseURL, "/v1") + suffix })
		require.Equal(t, want, req.URL.String())
	}
}

func TestRefusedOptionalMembersAreLeftOut(t *testing.T) {
	var bodies []string
	provider := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(b))
		for _, member := range []string{"prompt_cache_key", "stream_options"} {
			if strings.Contains(string(b), member) {
				http.Error(w, `{"detail":[{"loc":["body","`+member+`"],"msg":"Extra inputs are not permitted"}]}`,
					http.StatusUnprocessableEntity)
				return
			}
		}
		_, _ = io.WriteString(w, event(`{"content":"a"}`)+stop)
	})
	for range 2 {
		pieces, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
		require.NoError(t, err)
		text, _ := modeltest.Spoken(pieces)
		require.Equal(t, "a", text)
	}
	require.Len(t, bodies, 4, "two refusals, an answer, and an answer at once")
	require.Equal(t, `{"messages":[{"role":"user","content":"hi"}],"model":"some-model","stream":true}`, bodies[3])
}

func TestRequestsThatCannotBeMade(t *testing.T) {
	badSchema := modeltest.UserSays("hi")
	badSchema.OutputSchema = json.RawMessage("{oops")
	for name, c := range map[string]struct {
		base    string
		prompt  *core.Prompt
		message string
	}{
		"no URL":      {"", modeltest.UserSays("hi"), `model provider "test": base_url is not an http or https URL`},
		"no scheme":   {"localhost:8000/v1", modeltest.UserSays("hi"), "base_url"},
		"control":     {"http://a b/\x7f", modeltest.UserSays("hi"), "base_url"},
		"bad schemas": {"http://127.0.0.1:9", badSchema, "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			provider := model.NewClient(model.Endpoint{Name: "test", BaseURL: c.base}, chat.New())
			_, _, err := modeltest.Ask(t.Context(), provider, c.prompt)
			m := modeltest.Failed(t, err)
			require.Contains(t, m.Message, c.message)
			require.Equal(t, protocol.ErrorOther, m.Info.Kind)
			require.False(t, m.Retry)
		})
	}
}

// TestARefusedMemberOfTheUserIsLeftOut has a member that the configuration adds to each request.
func TestARefusedMemberOfTheUserIsLeftOut(t *testing.T) {
	var bodies []string
	provider := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(b))
		if strings.Contains(string(b), "service_tier") {
			http.Error(w, `{"error":{"message":"Unknown parameter: 'service_tier'","param":"service_tier"}}`, http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, event(`{"content":"a"}`)+stop)
	}, func(e *model.Endpoint) { e.Extra.Members = `{"service_tier":"flex","top_k":5}` })
	_, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
	require.NoError(t, err)
	require.Len(t, bodies, 2)
	require.Contains(t, bodies[1], `"top_k":5`)
}
