package chat_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/core/effects/model/modeltest"
	"appserver/protocol"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// refusing answers a request that satisfies the provider, and refuses others with a
// status and a body, as the provider does. It keeps the requests.
type refusing struct {
	satisfied func(request gjson.Result) bool
	status    int
	body      string
	requests  []string
}

func (r *refusing) provider(t *testing.T) *model.Client {
	return serve(t, func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.requests = append(r.requests, string(body))
		if !r.satisfied(gjson.ParseBytes(body)) {
			w.WriteHeader(r.status)
			_, _ = io.WriteString(w, r.body)
			return
		}
		_, _ = io.WriteString(w, event(`{"content":"done"}`)+stop+done)
	})
}

// history returns a turn of a model: it reasoned, and made two calls at once.
func history(echo *protocol.ProviderEcho, ids ...string) *core.Prompt {
	p := modeltest.UserSays("hi")
	p.Items = append(p.Items, modeltest.Items(thought("Hm."))...)
	for _, id := range ids {
		p.Items = append(p.Items,
			modeltest.Items(&protocol.FunctionCall{CallID: id, Name: "shell", Arguments: "{}", Echo: echo})...)
		echo = nil
	}
	for _, id := range ids {
		p.Items = append(p.Items,
			modeltest.Items(&protocol.FunctionCallOutput{CallID: id, Output: protocol.ToolOutput{Text: "a.go"}})...)
	}
	return p
}

func all(request gjson.Result, path string, ok func(gjson.Result) bool) bool {
	for _, found := range request.Get(path).Array() {
		if !ok(found) {
			return false
		}
	}
	return true
}

func fromTest(member string) *protocol.ProviderEcho {
	return &protocol.ProviderEcho{Provider: "test", Model: "some-model", Reasoning: member}
}

// TestRefusalsTeach plays providers that refuse what others take or demand: the request
// goes out again as they want it, and so does every later one at once.
func TestRefusalsTeach(t *testing.T) {
	const assistants = `messages.#(role=="assistant")#`
	nine := func(id gjson.Result) bool { return len(id.Str) == 9 && !strings.ContainsAny(id.Str, "_-:.") }
	noReasoning := func(r gjson.Result) bool { return !strings.Contains(r.Raw, `"reasoning`) }
	for name, c := range map[string]struct {
		prompt    *core.Prompt
		satisfied func(gjson.Result) bool
		status    int
		body      string
	}{
		"DeepSeek misses reasoning": {
			history(nil, "a"), func(r gjson.Result) bool { return r.Get(assistants+".reasoning_content").Get("0").Str == "Hm." },
			400,
			"{\"error\":{\"message\":\"The `reasoning_content` in the thinking mode must be passed back to the API.\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"invalid_request_error\"}}",
		},
		"Moonshot misses reasoning that there never was": {
			&core.Prompt{Model: "kimi",
				Items: modeltest.Items(modeltest.Say("user", "hi"), &protocol.FunctionCall{CallID: "a", Name: "f"},
					&protocol.FunctionCallOutput{CallID: "a"})},
			func(r gjson.Result) bool { return r.Get(assistants+".reasoning_content").Get("0").Str != "" }, 400,
			`{"error":{"message":"thinking is enabled but reasoning_content is missing in assistant tool call message at index 1","type":"invalid_request_error"}}`,
		},
		"Groq takes no reasoning_content": {
			history(fromTest("reasoning_content"), "a"), noReasoning, 400,
			`{"error":{"message":"'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]","type":"invalid_request_error"}}`,
		},
		"Groq takes no reasoning for some models": {
			history(fromTest("reasoning"), "a"), noReasoning, 400,
			`{"error":{"message":"messages[1].reasoning: reasoning is not supported with this model","type":"invalid_request_error"}}`,
		},
		"Mistral forbids what it does not know": {
			history(fromTest("reasoning_content"), "a"), noReasoning, 422,
			`{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","messages",1,"assistant","reasoning_content"],"msg":"Extra inputs are not permitted"}]},"type":"invalid_request_error"}`,
		},
		"Gemini takes no signature of another": {
			history(&protocol.ProviderEcho{Provider: "test", Model: "some-model",
				ExtraContent: json.RawMessage(`{"google":{"thought_signature":"AA"}}`)}, "a"),
			func(r gjson.Result) bool { return !strings.Contains(r.Raw, "extra_content") }, 400,
			`[{"error":{"code":400,"message":"Corrupted thought signature. (thought_signature)","status":"INVALID_ARGUMENT"}}]`,
		},
		"Gemini misses a signature": {
			history(nil, "a", "b"),
			func(r gjson.Result) bool {
				return r.Get(assistants+
					".tool_calls.0.extra_content.google.thought_signature").Get("0").Str == "skip_thought_signature_validator" &&
					!r.Get("messages.1.tool_calls.1.extra_content").Exists()
			}, 400,
			`[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly","status":"INVALID_ARGUMENT"}}]`,
		},
		"Mistral takes ids of nine letters and digits": {
			history(nil, "call_1", "D681PevKs"), func(r gjson.Result) bool {
				return all(r, "messages.#.tool_calls.#.id|@flatten", nine) && all(r, "messages.#.tool_call_id", nine) &&
					r.Get("messages.1.tool_calls.1.id").Str == "D681PevKs"
			}, 400,
			`{"object":"error","message":"Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.","type":"invalid_function_call","param":null,"code":"3280"}`,
		},
		"OpenRouter, which had begun to answer": {
			history(nil, "a"), func(r gjson.Result) bool { return r.Get(assistants+".reasoning_content").Get("0").Str == "Hm." },
			200,
			": OPENROUTER PROCESSING\n\n" +
				`data: {"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"reasoning_content must be passed back"}},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}` + "\n\n",
		},
		"a local server with Mistral's template": {
			history(nil, "call_49c89af0"), func(r gjson.Result) bool { return all(r, "messages.#.tool_call_id", nine) }, 500,
			`{"error":"Tool call id was call_49c89af0 but must be a-z, A-Z, 0-9, with a length of 9"}`,
		},
		"Anthropic takes ids of letters, digits and dashes": {
			history(nil, "functions.shell:0"), func(r gjson.Result) bool { return all(r, "messages.#.tool_call_id", nine) }, 400,
			`{"error":{"code":"invalid_request_error","message":"messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'","type":"invalid_request_error","param":null}}`,
		},
		"OpenAI takes ids of 40 bytes": {
			history(nil, strings.Repeat("x", 43)), func(r gjson.Result) bool { return all(r, "messages.#.tool_call_id", nine) },
			400,
			`{"error":{"message":"Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 43 instead.","type":"invalid_request_error","param":"messages[1].tool_calls[0].id","code":"string_above_max_length"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &refusing{satisfied: c.satisfied, status: c.status, body: c.body}
			provider := r.provider(t)
			for range 2 {
				pieces, _, err := modeltest.Ask(t.Context(), provider, c.prompt)
				require.NoError(t, err)
				require.Equal(t, []core.Piece{{Text: "done"}}, pieces)
			}
			require.Len(t, r.requests, 3, "a refusal, an answer, and an answer at once")
			require.Equal(t, r.requests[1], r.requests[2])
			legalMessages(t, r.requests[2])
		})
	}
}

// TestRefusalsThatTeachNothing: they are reported, and cost at most one more request.
func TestRefusalsThatTeachNothing(t *testing.T) {
	for name, c := range map[string]struct {
		prompt   *core.Prompt
		status   int
		body     string
		requests int
	}{
		"outputs that are missing": {history(nil, "a"), 400,
			`{"error":{"message":"The following tool_call_ids did not have response messages: a"}}`, 1},
		"an effort that is unknown": {history(fromTest("reasoning"), "a"), 400,
			`{"error":{"message":"Unsupported value: 'reasoning_effort'"}}`, 1},
		"nothing was sent back": {history(nil, "a"), 400, `{"error":{"message":"reasoning is not supported"}}`, 1},
		"another status": {history(fromTest("reasoning"), "a"), 403,
			`{"error":{"message":"reasoning is for members"}}`, 1},
		"what leaving out does not mend": {history(fromTest("reasoning"), "a"), 400,
			`{"error":{"message":"reasoning is for members"}}`, 2},
		"what adding does not mend": {history(nil, "a"), 400, `{"error":{"message":"reasoning_content is missing"}}`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := &refusing{satisfied: func(gjson.Result) bool { return false }, status: c.status, body: c.body}
			provider := r.provider(t)
			_, _, err := modeltest.Ask(t.Context(), provider, c.prompt)
			require.Contains(t, modeltest.Failed(t, err).Message, gjson.Get(c.body, "error.message").Str)
			require.Len(t, r.requests, c.requests)
		})
	}
}

// TestNoTextIsEmittedTwice expects no dialect to be learned from a rejection within an answer, because
// the emitted text stays.
func TestNoTextIsEmittedTwice(t *testing.T) {
	r := &refusing{satisfied: func(gjson.Result) bool { return false }, status: 200,
		body: event(`{"content":"a"}`) + `data: {"error":{"code":400,"message":"reasoning_content must be passed back"}}` +
			"\n\n"}
	pieces, _, err := modeltest.Ask(t.Context(), r.provider(t), history(nil, "a"))
	require.Contains(t, modeltest.Failed(t, err).Message, "must be passed back")
	require.Equal(t, []core.Piece{{Text: "a"}}, pieces)
	require.Len(t, r.requests, 1)
}

// TestModelsAreLearnedApart: what one model of a gateway refuses, another may want.
func TestModelsAreLearnedApart(t *testing.T) {
	r := &refusing{satisfied: func(r gjson.Result) bool {
		return r.Get("model").Str == "other" || !strings.Contains(r.Raw, `"reasoning"`)
	},
		status: 400, body: `{"error":{"message":"property 'reasoning' is unsupported"}}`}
	provider := r.provider(t)
	_, _, err := modeltest.Ask(t.Context(), provider, history(fromTest("reasoning"), "a"))
	require.NoError(t, err)
	echo := fromTest("reasoning")
	echo.Model = "other"
	other := history(echo, "a")
	other.Model = "other"
	_, _, err = modeltest.Ask(t.Context(), provider, other)
	require.NoError(t, err)
	require.Equal(t, "Hm.", gjson.Get(r.requests[2], "messages.1.reasoning").Str)
}
