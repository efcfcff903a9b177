package responses_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/core/effects/model/modeltest"
	"appserver/core/effects/model/responses"
	"appserver/protocol"
	"appserver/test/sample"
)

const completed = `data: {"type":"response.completed","response":{"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},` +
	`"output_tokens":5,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":15}}}` + "\n\n"

func data(event string) string { return "data: " + event + "\n\n" }

func done(item string) string {
	return data(`{"type":"response.output_item.done","item":` + item + `}`)
}

// answer returns the answer that a provider reads from a stream.
func answer(t *testing.T, stream string) (pieces []core.Piece, a core.Answer, err error) {
	t.Helper()
	provider := modeltest.Serve(t, responses.New(responses.Options{}), modeltest.Events(stream))
	return modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
}

// said is an event with a text.
const said = `data: {"type":"response.output_text.delta","delta":"half"}` + "\n\n"

// sent returns the body of the request for a prompt.
func sent(t *testing.T, p *core.Prompt) (body string, req *http.Request) {
	t.Helper()
	provider := modeltest.Serve(t, responses.New(responses.Options{}), func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body, req = string(b), r
		_, _ = io.WriteString(w, said+completed)
	})
	_, _, err := modeltest.Ask(t.Context(), provider, p)
	require.NoError(t, err)
	return body, req
}

func TestARequestHasTheMembersOfTheAPI(t *testing.T) {
	body, req := sent(t, &core.Prompt{
		ThreadID: "thread-1", SessionID: "session-1", Model: "gpt-5.4", Instructions: "Be <brief>.",
		Effort: "high", Summary: "auto", Verbosity: "low", ServiceTier: "flex",
		OutputSchema: json.RawMessage(`{"type":"object"}`),
		Tools: []core.ToolSpec{{Name: "shell", Description: "Runs.", Parameters: json.RawMessage(`{"type":"object"}`)},
			{Name: "apply_patch", Description: "Patches."}},
		Items: modeltest.Items(
			modeltest.Say(protocol.RoleUser, "list"),
			&protocol.Reasoning{ID: "rs_1", Summary: []protocol.ReasoningText{{Type: "summary_text", Text: "think"}},
				EncryptedContent: new("ENC")},
			&protocol.FunctionCall{ID: "fc_1", CallID: "c1", Name: "shell", Arguments: `{"command":"ls"}`},
			&protocol.FunctionCallOutput{CallID: "c1"},
			&protocol.CustomToolCall{CallID: "c2", Name: "apply_patch", Input: "*** Begin Patch"},
			&protocol.CustomToolCallOutput{CallID: "c2", Output: protocol.ToolOutput{Text: "no"}},
		),
	})
	require.Equal(t, "POST /v1/responses", req.Method+" "+req.URL.String())
	require.Equal(t, "Bearer "+modeltest.SecretKey, req.Header.Get("Authorization"))
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(body), &got))
	grammar := got["tools"].([]any)[1].(map[string]any)["format"].(map[string]any)["definition"].(string)
	require.Contains(t, grammar, "*** Begin Patch")
	require.JSONEq(t, `{"model":"gpt-5.4","instructions":"Be <brief>.","input":[
		{"type":"message","role":"user","content":[{"type":"input_text","text":"list"}]},
		{"type":"reasoning","summary":[{"type":"summary_text","text":"think"}],"encrypted_content":"ENC"},
		{"type":"function_call","name":"shell","arguments":"{\"command\":\"ls\"}","call_id":"c1"},
		{"type":"function_call_output","call_id":"c1","output":"(no output)"},
		{"type":"custom_tool_call","call_id":"c2","name":"apply_patch","input":"*** Begin Patch"},
		{"type":"custom_tool_call_output","call_id":"c2","output":"no"}],
		"tools":[{"type":"function","name":"shell","description":"Runs.","strict":false,"parameters":{"type":"object"}},
		{"type":"custom","name":"apply_patch","description":"Patches.","format":{"type":"grammar","syntax":"lark","definition":`+quoted(grammar)+`}}],
		"tool_choice":"auto","parallel_tool_calls":true,"reasoning":{"effort":"high","summary":"auto"},"store":false,"stream":true,
		"include":["reasoning.encrypted_content"],"service_tier":"flex","prompt_cache_key":"session-1",
		"text":{"verbosity":"low","format":{"type":"json_schema","strict":true,"schema":{"type":"object"},"name":"codex_output_schema"}}}`, body)
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func TestOtherModelsAreOfferedFunctionsOnly(t *testing.T) {
	body, _ := sent(t, &core.Prompt{
		Model: "qwen3-coder", Tools: []core.ToolSpec{{Name: "apply_patch"}},
		Items: modeltest.Items(
			&protocol.CustomToolCall{CallID: "c2", Name: "apply_patch", Input: "p"},
			&protocol.CustomToolCallOutput{CallID: "c2", Output: protocol.ToolOutput{Text: "ok"}},
		),
	})
	require.JSONEq(t, `{"model":"qwen3-coder","input":[
		{"type":"function_call","name":"apply_patch","arguments":"{\"input\":\"p\"}","call_id":"c2"},
		{"type":"function_call_output","call_id":"c2","output":"ok"}],
		"tools":[{"type":"function","name":"apply_patch","strict":false,"parameters":{"type":"object","properties":{}}}],
		"tool_choice":"auto","parallel_tool_calls":true,"store":false,"stream":true,"include":["reasoning.encrypted_content"]}`, body)
}

// TestRawReasoningGoesBack in the form in which it came, because some providers demand it. The core decides which
// reasoning is in a prompt. A replaced text is a summary.
func TestRawReasoningGoesBack(t *testing.T) {
	text := func(kind, text string) []protocol.ReasoningText {
		return []protocol.ReasoningText{{Type: kind, Text: text}}
	}
	for name, tt := range map[string]struct {
		item *protocol.Reasoning
		want string
	}{
		"raw": {&protocol.Reasoning{Content: text("reasoning_text", "why")},
			`{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"why"}],"encrypted_content":null}`},
		"encrypted": {&protocol.Reasoning{Content: text("reasoning_text", "why"), EncryptedContent: new("x")},
			`{"type":"reasoning","summary":[],"encrypted_content":"x"}`},
		"replaced": {&protocol.Reasoning{Summary: text("summary_text", "short")},
			`{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"short"}],"encrypted_content":null}`},
	} {
		body, _ := sent(t, &core.Prompt{Model: "m", Items: modeltest.Items(tt.item, modeltest.Say(protocol.RoleUser, "hi"))})
		require.Contains(t, body, `"input":[`+tt.want+`,`, name)
	}
}

// TestReasoningThatAProviderRefusesOrDemands sends the request again without raw reasoning, or with a placeholder
// before the calls that have none.
func TestReasoningThatAProviderRefusesOrDemands(t *testing.T) {
	raw := &protocol.Reasoning{Content: []protocol.ReasoningText{{Type: "reasoning_text", Text: "why"}}}
	call := &protocol.FunctionCall{CallID: "c", Name: "f", Arguments: "{}"}
	output := &protocol.FunctionCallOutput{CallID: "c", Output: protocol.ToolOutput{Text: "ok"}}
	for name, tt := range map[string]struct {
		items   []protocol.ResponseItem
		refusal string
		want    []int // the reasoning items of each request
	}{
		"refused by its place": {modeltest.Items(raw, call, output),
			`{"error":{"message":"Unknown parameter: 'input[0].content'.","param":"input[0].content"}}`, []int{1, 0, 0}},
		"refused for its encrypted content": {modeltest.Items(raw, call, output),
			`{"error":{"message":"input.0: reasoning without encrypted_content is not supported"}}`, []int{1, 0, 0}},
		"demanded": {modeltest.Items(call, call, output, output, call, output),
			`{"error":{"message":"The ` + "`reasoning_text`" + ` in the thinking mode must be passed back to the API."}}`, []int{0, 2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []int
			provider := modeltest.Serve(t, responses.New(responses.Options{}), func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = append(got, strings.Count(string(body), `"type":"reasoning"`))
				if len(got) == 1 {
					http.Error(w, tt.refusal, http.StatusBadRequest)
					return
				}
				_, _ = io.WriteString(w, "data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\"}}\n\n")
			})
			for range 2 {
				_, _, err := modeltest.Ask(t.Context(), provider, &core.Prompt{Model: "m", Items: tt.items})
				require.NoError(t, err)
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestUsageHasCacheReadsAndWritesWithinBounds(t *testing.T) {
	for usage, want := range map[string]*protocol.TokenUsageBreakdown{
		`{"input_tokens":2000,"input_tokens_details":{"cached_tokens":1500,"cache_write_tokens":400},"output_tokens":5,"total_tokens":2005}`: {
			TotalTokens: 2005, InputTokens: 2000, CachedInputTokens: 1500, CacheWriteInputTokens: 400, OutputTokens: 5},
		`{"input_tokens":10,"input_tokens_details":{"cached_tokens":99,"cache_write_tokens":99},"output_tokens":-5,"total_tokens":1e300}`: {
			TotalTokens: 10, InputTokens: 10, CachedInputTokens: 10},
		`{"input_tokens":10,"input_tokens_details":[],"output_tokens":"5","total_tokens":{}}`: {TotalTokens: 10, InputTokens: 10},
		`{"input_tokens":-10}`: nil,
	} {
		_, a, err := answer(t, data(`{"type":"response.output_text.delta","delta":"hi"}`)+
			data(`{"type":"response.completed","response":{"usage":`+usage+`}}`))
		require.NoError(t, err, usage)
		require.Equal(t, want, a.Usage, usage)
	}
}

func TestAnAnswerGivesPiecesItemsCallsAndUsage(t *testing.T) {
	pieces, a, err := answer(t, strings.Join([]string{
		data(`{"type":"response.created","response":{"id":"r1","error":null}}`),
		data(`{"type":"response.output_item.added","item":{"type":"reasoning","id":"rs_1","summary":[]}}`),
		data(`{"type":"response.reasoning_summary_part.added","item_id":"rs_1","summary_index":0}`),
		data(`{"type":"response.reasoning_summary_text.delta","summary_index":0,"delta":"one"}`),
		data(`{"type":"response.reasoning_summary_part.added","item_id":"rs_1","summary_index":1}`),
		data(`{"type":"response.reasoning_summary_text.delta","summary_index":1,"delta":"two"}`),
		data(`{"type":"response.reasoning_text.delta","content_index":0,"delta":"raw"}`),
		done(`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"ENC"}`),
		data(`{"type":"response.output_text.delta","delta":"h\u00e9"}`),
		done(`{"type":"message","id":"m1","role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"hé","annotations":[]}]}`),
		done(`{"type":"function_call","name":"shell","arguments":"{}","call_id":"c1"}`),
		done(`{"type":"custom_tool_call","name":"apply_patch","input":"p","call_id":"c2"}`),
		done(`{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}}`),
		completed,
	}, ""))
	require.NoError(t, err)
	require.Equal(t, []core.ToolCall{{ID: "c1", Name: "shell", Arguments: "{}"},
		{ID: "c2", Name: "apply_patch", Arguments: "p", Custom: true}}, a.Calls)
	require.Equal(t, &protocol.TokenUsageBreakdown{TotalTokens: 15, InputTokens: 10, CachedInputTokens: 4, OutputTokens: 5,
		ReasoningOutputTokens: 3}, a.Usage)
	require.Equal(t, []string{"2:one", "3:", "2:two", "1:raw", "item *protocol.Reasoning", "0:hé",
		"item *protocol.Message", "item *protocol.Unknown"}, shown(pieces))
	require.Equal(t, "ENC", *pieces[4].Item.ResponseItemVariant.(*protocol.Reasoning).EncryptedContent)
	require.Equal(t, "final_answer", pieces[6].Item.ResponseItemVariant.(*protocol.Message).Phase)
}

// shown returns pieces as kind and text.
func shown(pieces []core.Piece) (list []string) {
	for _, p := range pieces {
		if p.Kind == core.PieceItem {
			list = append(list, "item "+strings.TrimPrefix(typeName(p.Item.ResponseItemVariant), ""))
			continue
		}
		list = append(list, string(rune('0'+int(p.Kind)))+":"+p.Text)
	}
	return list
}

func typeName(v any) string {
	switch v.(type) {
	case *protocol.Message:
		return "*protocol.Message"
	case *protocol.Reasoning:
		return "*protocol.Reasoning"
	}
	return "*protocol.Unknown"
}

func TestTextWithoutDeltasIsEmitted(t *testing.T) {
	message := `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}`
	for name, stream := range map[string]string{
		"item without deltas":     done(message) + completed,
		"items in the end alone":  data(`{"type":"response.completed","response":{"output":[` + message + `]}}`),
		"the end of older models": done(message) + data(`{"type":"response.done","response":{}}`),
	} {
		t.Run(name, func(t *testing.T) {
			pieces, _, err := answer(t, stream)
			require.NoError(t, err)
			text, _ := modeltest.Spoken(pieces)
			require.Equal(t, "hi", text)
		})
	}
}

// TestMessagesStayApart covers streams in which the deltas of one message come amidst another.
func TestMessagesStayApart(t *testing.T) {
	delta := func(index int, text string) string {
		return data(fmt.Sprintf(`{"type":"response.output_text.delta","output_index":%d,"delta":%q}`, index, text))
	}
	whole := func(index int, text string) string {
		return data(fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}}`, index, text))
	}
	const item = "item *protocol.Message"
	for name, c := range map[string]struct {
		stream string
		want   []string
	}{
		"interleaved": {delta(0, "a") + delta(1, "x") + delta(0, "b") + delta(1, "y") + whole(0, "ab") +
			whole(1, "xy"), []string{"0:a", "0:b", item, "0:xy", item}},
		"the second is whole": {delta(0, "a") + delta(1, "x") + whole(1, "x") + delta(0, "b") + whole(0, "ab"),
			[]string{"0:a", "0:b", item, "0:x", item}},
		"the first never ends": {delta(0, "a") + delta(1, "x") + whole(1, "x"), []string{"0:a", "0:x"}},
		"none ends":            {delta(0, "a") + delta(1, "x") + delta(1, "y"), []string{"0:a", "0:xy"}},
		"late":                 {delta(0, "a") + whole(0, "a") + delta(0, "b"), []string{"0:a", item}},
		"an index again": {delta(0, "a") + whole(0, "a") +
			data(`{"type":"response.output_item.added","output_index":0,"item":{}}`) + delta(0, "b") + whole(0, "b"),
			[]string{"0:a", item, "0:b", item}},
		"an index without added": {delta(0, "a") + whole(0, "a") + whole(0, "b"), []string{"0:a", item, "0:b", item}},
		"done without an index": {delta(0, "a") + delta(1, "x") +
			done(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}`), []string{"0:a", item}},
		"a call within": {delta(0, "a") + done(`{"type":"function_call","name":"f","call_id":"c"}`) +
			delta(0, "b") + whole(0, "ab"), []string{"0:a", "0:b", item}},
		"an index of another type": {data(`{"type":"response.output_text.delta","output_index":"0","delta":"a"}`) +
			whole(0, "a"), []string{"0:a", item}},
		"a refusal without deltas": {done(`{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"no"}]}`), []string{"0:no", item}},
	} {
		t.Run(name, func(t *testing.T) {
			pieces, _, err := answer(t, c.stream+completed)
			require.NoError(t, err)
			require.Equal(t, c.want, shown(pieces))
		})
	}
}

func TestFailuresAreClassifiedByTheirCodes(t *testing.T) {
	failed := func(code, message string) string {
		return data(`{"type":"response.failed","response":{"error":{"code":"` + code + `","message":"` + message + `"}}}`)
	}
	for name, c := range map[string]struct {
		stream, kind string
		retry        bool
	}{
		"too long":     {failed("context_length_exceeded", "m"), protocol.ErrorContextWindowExceeded, false},
		"no money":     {failed("insufficient_quota", "m"), protocol.ErrorUsageLimitExceeded, false},
		"rate":         {failed("rate_limit_exceeded", "Please try again in 1.5s."), protocol.ErrorRateLimitExceeded, true},
		"slow down":    {failed("slow_down", "m"), protocol.ErrorRateLimitExceeded, true},
		"not included": {failed("usage_not_included", "m"), protocol.ErrorUsageLimitExceeded, false},
		"policy":       {failed("cyber_policy", "m"), protocol.ErrorCyberPolicy, false},
		"overloaded":   {failed("server_is_overloaded", "m"), protocol.ErrorServerOverloaded, false},
		"prompt":       {failed("invalid_prompt", "m"), protocol.ErrorOther, false},
		"unknown":      {failed("something_else", "m"), protocol.ErrorOther, true},
		"no reason":    {data(`{"type":"response.failed","response":{"error":null}}`), protocol.ErrorOther, true},
		"error event": {data(`{"type":"error","code":"server_error","message":"boom"}`), protocol.ErrorInternalServer,
			true},
		"error member": {data(`{"type":"error","error":{"code":"rate_limit_exceeded","message":"x"}}`),
			protocol.ErrorRateLimitExceeded, true},
		"no end": {done(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}`),
			protocol.ErrorOther, true},
		"[DONE] alone": {"data: [DONE]\n\n", protocol.ErrorOther, true},
		"garbage":      {data(`{"type":`), protocol.ErrorOther, true},
		"cut to none":  {data(`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`), protocol.ErrorOther, false},
		"another cause": {data(`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"whim"}}}`),
			protocol.ErrorOther, true},
		"cut to none, completed": {data(`{"type":"response.completed","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}`),
			protocol.ErrorOther, false},
		"no room": {said + data(`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"model_context_window_exceeded"}}}`),
			protocol.ErrorContextWindowExceeded, false},
		"failed, completed": {said + data(`{"type":"response.completed","response":{"status":"failed","error":{"code":"server_error","message":"m"}}}`),
			protocol.ErrorInternalServer, true},
		"failed without an error, completed": {said + data(`{"type":"response.completed","response":{"status":"failed"}}`),
			protocol.ErrorOther, true},
		"cancelled":            {said + data(`{"type":"response.cancelled","response":{}}`), protocol.ErrorOther, true},
		"cancelled, completed": {said + data(`{"type":"response.completed","response":{"status":"cancelled"}}`), protocol.ErrorOther, true},
		"nothing":              {completed, protocol.ErrorOther, true},
		"blanks":               {data(`{"type":"response.output_text.delta","delta":" \n"}`) + completed, protocol.ErrorOther, true},
		"reasoning only": {data(`{"type":"response.reasoning_text.delta","delta":"hm"}`) +
			done(`{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}`) + completed,
			protocol.ErrorOther, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := answer(t, c.stream)
			m := modeltest.Failed(t, err)
			require.Equal(t, c.kind, m.Info.Kind, m.Message)
			require.Equal(t, c.retry, m.Retry, m.Message)
			require.True(t, m.Streaming, m.Message)
		})
	}
}

func TestAnIncompleteAnswerHasAReason(t *testing.T) {
	for end, want := range map[string]string{
		`{"type":"response.completed","response":{"status":"completed","incomplete_details":null}}`:                            "",
		`{"type":"response.completed","response":{"status":7,"incomplete_details":[]}}`:                                        "",
		`{"type":"response.done","response":{"status":"completed"}}`:                                                           "",
		`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`:                      "the provider's limit of output tokens was reached",
		`{"type":"response.completed","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`: "the provider's limit of output tokens was reached",
		`{"type":"response.completed","response":{"incomplete_details":{"reason":"max_tokens"}}}`:                              "the provider's limit of output tokens was reached",
		`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`:                         "the provider's content filter stopped it",
		`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"whim"}}}`:                                   `the provider ended it (reason "whim")`,
		`{"type":"response.incomplete","response":{}}`:                                                                         `the provider ended it (reason "incomplete")`,
		`{"type":"response.completed","response":{"status":"incomplete"}}`:                                                     `the provider ended it (reason "incomplete")`,
	} {
		_, a, err := answer(t, said+data(end))
		require.NoError(t, err, end)
		require.Equal(t, want, a.Cut, end)
	}
}

func TestACallThatIsSentTwiceCountsOnce(t *testing.T) {
	call := done(`{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":"{}"}`)
	other := done(`{"type":"function_call","id":"fd","call_id":"c","name":"f","arguments":"{\"x\":1}"}`)
	_, a, err := answer(t, call+call+other+completed)
	require.NoError(t, err)
	require.Equal(t,
		[]core.ToolCall{{ID: "c", Name: "f", Arguments: "{}"}, {ID: "call_1", Name: "f", Arguments: `{"x":1}`}},
		a.Calls)
}

// TestItemsInTheEndAloneCount covers providers that stream text, and send calls in the last event only.
func TestItemsInTheEndAloneCount(t *testing.T) {
	pieces, a, err := answer(t, said+data(`{"type":"response.completed","response":{"output":[`+
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"half"}]},`+
		`{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}}`))
	require.NoError(t, err)
	text, _ := modeltest.Spoken(pieces)
	require.Equal(t, "half", text)
	require.Equal(t, []core.ToolCall{{ID: "c", Name: "f", Arguments: "{}"}}, a.Calls)
}

// TestRefusedMembersAreLeftOut covers providers that serve a part of the API.
func TestRefusedMembersAreLeftOut(t *testing.T) {
	var bodies []map[string]any
	provider := modeltest.Serve(t, responses.New(responses.Options{}), func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		bodies = append(bodies, body)
		switch {
		case body["include"] != nil:
			http.Error(w, `{"error":{"message":"Unknown parameter: 'include'."}}`, http.StatusBadRequest)
		case body["tools"].([]any)[0].(map[string]any)["type"] == "custom":
			http.Error(w, `{"error":{"message":"Invalid value: 'custom'."}}`, http.StatusBadRequest)
		default:
			_, _ = io.WriteString(w, said+completed)
		}
	})
	p := modeltest.UserSays("hi")
	p.Model, p.Tools = "gpt-5", []core.ToolSpec{{Name: "apply_patch"}}
	_, _, err := modeltest.Ask(t.Context(), provider, p)
	require.NoError(t, err)
	_, _, err = modeltest.Ask(t.Context(), provider, p)
	require.NoError(t, err)
	require.Len(t, bodies, 4, "three for the first prompt, one for the second")
	require.Equal(t, "function", bodies[3]["tools"].([]any)[0].(map[string]any)["type"])
}

func TestAnswersWithoutEndAreCutOff(t *testing.T) {
	sample.NoRace(t)
	stream := strings.Repeat(data(`{"type":"response.output_text.delta","delta":"`+strings.Repeat("x", 1<<20)+`"}`), 40)
	_, _, err := answer(t, stream)
	require.Contains(t, modeltest.Failed(t, err).Message, "more than 32 MiB")
}

// FuzzAnswer gives arbitrary bytes as the body of an answer.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(completed))
	f.Add([]byte(done(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"\ud800"}]}`) +
		completed))
	f.Add([]byte(data(`{"type":"response.failed","response":{"error":{"code":7}}}`)))
	f.Add([]byte("data: {\"type\":\"response.output_text.delta\",\"delta\":\"\xff\"}\n\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		e := model.Endpoint{BaseURL: "http://memory",
			Transport: modeltest.FixedAnswer{Status: http.StatusOK, Body: string(body)}}
		provider := model.NewClient(e, responses.New(responses.Options{}))
		pieces, _, err := modeltest.Ask(t.Context(), provider, &core.Prompt{})
		for _, p := range pieces {
			b, err := protocol.Marshal(p.Text)
			require.NoError(t, err)
			require.True(t, json.Valid(b))
			if p.Item != nil {
				b, err := protocol.Marshal(*p.Item)
				require.NoError(t, err)
				require.True(t, json.Valid(b))
			}
		}
		if failed := new(core.ModelError); err != nil {
			require.True(t, errors.As(err, &failed), "%T", err)
			require.NotEmpty(t, failed.Message)
		}
	})
}

// BenchmarkStream reports what one text delta costs from the HTTP body to emit.
func BenchmarkStream(b *testing.B) {
	const deltas = 100_000
	var body strings.Builder
	for range deltas {
		body.WriteString("event: response.output_text.delta\n" +
			data(`{"type":"response.output_text.delta","sequence_number":17,"item_id":"msg_0123456789abcdef",`+
				`"output_index":1,"content_index":0,"delta":"token ","logprobs":[],"obfuscation":"abcdef0123"}`))
	}
	body.WriteString(completed)
	e := model.Endpoint{BaseURL: "http://memory",
		Transport: modeltest.FixedAnswer{Status: http.StatusOK, Body: body.String()}}
	provider := model.NewClient(e, responses.New(responses.Options{}))
	b.ReportAllocs()
	b.SetBytes(int64(body.Len()))
	for b.Loop() {
		n := 0
		if _, err := provider.Stream(b.Context(), &core.Prompt{}, func(core.Piece) { n++ }); err != nil || n != deltas {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/deltas, "ns/delta")
}

func TestARateLimitIsWaitedForAsItAsks(t *testing.T) {
	for message, want := range map[string]time.Duration{
		"Please try again in 11.5s. Visit":  11500 * time.Millisecond,
		"try again in 300ms":                300 * time.Millisecond,
		"Try again in 2 minutes.":           2 * time.Minute,
		"Try again in 35 seconds.":          35 * time.Second,
		"Rate limit reached, upgrade today": 0,
	} {
		_, _, err := answer(t,
			data(`{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"`+message+`"}}}`))
		require.Equal(t, want, modeltest.Failed(t, err).RetryAfter, message)
	}
}

// TestCallsWithoutNames: a server that knows only functions sends calls without names if the search of the web is
// offered. The request is sent again without it, at once or by the caller, and later requests have none.
func TestCallsWithoutNames(t *testing.T) {
	for name, said := range map[string]string{"at once": "", "after text": data(`{"type":"response.output_text.delta","delta":"a"}`)} {
		t.Run(name, func(t *testing.T) {
			var offered []bool
			provider := modeltest.Serve(t, responses.New(responses.Options{}), func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				searches, tool := strings.Contains(string(body), `"web_search"`), "f"
				if offered = append(offered, searches); searches {
					tool = ""
				}
				_, _ = io.WriteString(w, said+done(`{"type":"function_call","call_id":"c","arguments":"{}","name":"`+tool+`"}`)+completed)
			})
			p := &core.Prompt{Model: "m", WebSearch: &core.WebSearchTool{}, Tools: []core.ToolSpec{{Name: "f"}}}
			_, answer, err := modeltest.Ask(t.Context(), provider, p)
			if said != "" {
				require.True(t, modeltest.Failed(t, err).Retry)
				_, answer, err = modeltest.Ask(t.Context(), provider, p)
			}
			require.NoError(t, err)
			require.Equal(t, "f", answer.Calls[0].Name)
			require.Equal(t, []bool{true, false}, offered)
		})
	}
}

// TestRefusalsAtOnceAreLearnedOnce sends two prompts at the same time. Both are refused for their third tool. Only that
// tool is left out.
func TestRefusalsAtOnceAreLearnedOnce(t *testing.T) {
	var both, asked sync.WaitGroup
	both.Add(2)
	var mu sync.Mutex
	sent := map[int]int{} // the number of accepted requests, by their number of tools
	provider := modeltest.Serve(t, responses.New(responses.Options{}), func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		tools := len(gjson.GetBytes(body, "tools").Array())
		if tools == 4 {
			both.Done()
			both.Wait()
			http.Error(w, `{"error":{"message":"invalid","param":"tools[2].parameters"}}`, http.StatusBadRequest)
			return
		}
		mu.Lock()
		sent[tools]++
		mu.Unlock()
		_, _ = io.WriteString(w, "data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\n"+
			"data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\"}}\n\n")
	})
	for range 2 {
		asked.Go(func() {
			_, _, err := modeltest.Ask(t.Context(), provider, &core.Prompt{Model: "m",
				Items: modeltest.Items(modeltest.Say("user", "hi")),
				Tools: []core.ToolSpec{{Name: "t0"}, {Name: "t1"}, {Name: "t2"}, {Name: "t3"}}})
			assert.NoError(t, err)
		})
	}
	asked.Wait()
	require.Equal(t, map[int]int{3: 2}, sent)
}

// TestOutputsOfToolsThatMustBeTexts: Ollama takes no list as an output. The images follow all outputs in one message.
func TestOutputsOfToolsThatMustBeTexts(t *testing.T) {
	const image = "data:image/png;base64,AAAA"
	output := func(id string, parts ...protocol.ContentItem) *protocol.FunctionCallOutput {
		return &protocol.FunctionCallOutput{CallID: id, Output: protocol.ToolOutput{Parts: parts}}
	}
	text := protocol.ContentItem{Type: protocol.ContentInputText, Text: "a picture"}
	picture := protocol.ContentItem{Type: protocol.ContentInputImage, ImageURL: image}
	call := func(id string) *protocol.FunctionCall {
		return &protocol.FunctionCall{CallID: id, Name: "f", Arguments: "{}"}
	}
	var bodies []string
	provider := modeltest.Serve(t, responses.New(responses.Options{}), func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		if strings.Contains(string(body), `"output":[`) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"input[2]: json: cannot unmarshal array into Go struct field `+
				`ResponsesFunctionCallOutput.output of type string","type":"invalid_request_error","param":null,"code":null}}`)
			return
		}
		_, _ = io.WriteString(w, said+completed)
	})
	pieces, _, err := modeltest.Ask(t.Context(), provider, &core.Prompt{Model: "m", Items: modeltest.Items(
		call("1"), call("2"), call("3"), output("1", text, picture), output("2", picture), output("3"),
		modeltest.Say(protocol.RoleUser, "and?"))})
	require.NoError(t, err)
	for _, piece := range pieces {
		require.NotEqual(t, core.PieceNotice, piece.Kind, "the model gets the same content")
	}
	require.Len(t, bodies, 2)
	input := gjson.Get(bodies[1], "input").Array()
	require.Len(t, input, 8)
	require.Equal(t, "a picture", input[3].Get("output").String())
	require.Equal(t, "(the image is in the next message)", input[4].Get("output").String())
	require.Equal(t, "(no output)", input[5].Get("output").String())
	require.Equal(t, "user", input[6].Get("role").String())
	require.Equal(t, []any{image, image}, input[6].Get("content.#.image_url").Value())
	require.Equal(t, "and?", input[7].Get("content.0.text").String())
}

// TestArgumentsThatAreNoObjectAreWrapped: Ollama and others reject the whole request for them.
func TestArgumentsThatAreNoObjectAreWrapped(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"a": 1}`: `{"a": 1}`, "": "{}", `{"a":`: `{"input":"{\"a\":"}`, "[1]": `{"input":"[1]"}`, "no": `{"input":"no"}`,
	} {
		items := modeltest.Items(&protocol.FunctionCall{CallID: "c", Name: "f", Arguments: arguments},
			&protocol.FunctionCallOutput{CallID: "c", Output: protocol.ToolOutput{Text: "failed"}})
		body, _ := sent(t, &core.Prompt{Model: "qwen3", Items: items})
		require.Equal(t, want, gjson.Get(body, "input.0.arguments").String())
		body, _ = sent(t, &core.Prompt{Model: "gpt-5", Items: items})
		require.Equal(t, arguments, gjson.Get(body, "input.0.arguments").String(), "OpenAI gets back what its model wrote")
	}
}
