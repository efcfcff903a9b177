package chat_test

import (
	"cmp"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"appserver/core"
	"appserver/core/effects/model/modeltest"
	"appserver/protocol"

	"github.com/stretchr/testify/require"
)

// event returns a data line with a chunk of one choice.
func event(delta string) string {
	return `data: {"choices":[{"index":0,"delta":` + delta + `}]}` + "\n\n"
}

const (
	stop = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	done = "data: [DONE]\n\n"
)

func TestStreamShapes(t *testing.T) {
	hello := event(`{"content":"Hel"}`) + event(`{"content":"lo"}`)
	for name, stream := range map[string]string{
		"plain":               hello + stop + done,
		"role and null first": event(`{"role":"assistant","content":null}`) + hello + stop + done,
		"several data lines": "data: {\"choices\":\ndata: [{\"delta\":\ndata: {\"content\":\"Hello\"}}]}\n\n" +
			stop + done,
		"no [DONE]":                     hello + stop,
		"no finish_reason":              hello + done,
		"no line end after [DONE]":      hello + "data: [DONE]",
		"anything after [DONE]":         hello + done + "data: {\"error\":\"late\"}\n\n",
		"error spoken of":               event(`{"content":"Hello","note":{"error":"x"}}`) + stop + done,
		"finish_reason empty until set": strings.ReplaceAll(hello, `}}]`, `},"finish_reason":""}]`) + stop + done,
		"content in parts": event(`{"content":[{"type":"text","text":"Hel"},{"type":"text","text":"lo"}]}`) +
			stop + done,
		"members of wrong types": event(`{"content":"Hello","tool_calls":7,"reasoning":{"a":1}}`) +
			`data: {"choices":{},"usage":"none"}` + "\n\n" + stop + done,
		"other choices": `data: {"choices":[{"index":1,"delta":{"content":"no"}}]}` + "\n\n" + hello + stop +
			done,
		"a document, not a stream":  "{\n \"choices\": [{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]\n}\n",
		"refusal":                   event(`{"refusal":"Hello"}`) + stop + done,
		"all again in a message":    hello + messageEvent(`{"content":"Hello"}`) + stop + done,
		"the rest in a message":     event(`{"content":"Hel"}`) + messageEvent(`{"content":"Hello"}`) + stop + done,
		"a message in each event":   messageEvent(`{"content":"He"}`) + messageEvent(`{"content":"Hello"}`) + stop + done,
		"another text in a message": hello + messageEvent(`{"content":"hello "}`) + stop + done,
	} {
		t.Run(name, func(t *testing.T) {
			pieces, answer, err := modeltest.Ask(t.Context(), serve(t, modeltest.Events(stream)), modeltest.UserSays("hi"))
			require.NoError(t, err)
			text, _ := modeltest.Spoken(pieces)
			require.Equal(t, "Hello", text)
			require.Equal(t, core.Answer{}, answer)
		})
	}
}

// TestRawLineBreaks in strings, which some servers write, are part of the text.
func TestRawLineBreaks(t *testing.T) {
	document := "{\n\t\"choices\": [{\"message\":{\"content\":\"a \\\"b\\\"\n\tc\r\nd\\\\\"},\"finish_reason\":\"stop\"}]\r\n}"
	for name, body := range map[string]string{"a document": document} {
		t.Run(name, func(t *testing.T) {
			pieces, _, err := modeltest.Ask(t.Context(), serve(t, modeltest.Events(body)), modeltest.UserSays("hi"))
			require.NoError(t, err)
			text, _ := modeltest.Spoken(pieces)
			require.Equal(t, "a \"b\"\n\tc\r\nd\\", text)
		})
	}
	_, _, err := modeltest.Ask(t.Context(), serve(t, modeltest.Events("{\"error\":{\"message\":\"out of\nmemory\"}}")),
		modeltest.UserSays("hi"))
	require.ErrorContains(t, err, "out of")
	_, _, err = modeltest.Ask(t.Context(), serve(t, modeltest.Events("{\"choices\":\x01[]}")), modeltest.UserSays("hi"))
	require.ErrorContains(t, err, "is not JSON", "control characters between the members are no text")
}

func TestPiecesComeInOrder(t *testing.T) {
	stream := event(`{"reasoning_content":"first "}`) + event(`{"reasoning":"second"}`) +
		event(`{"content":"","reasoning":"both","reasoning_content":"both"}`) +
		event(`{"content":"answer \ud83d\ude00"}`) + stop + done
	pieces, _, err := modeltest.Ask(t.Context(), serve(t, modeltest.Events(stream)), modeltest.UserSays("hi"))
	require.NoError(t, err)
	require.Equal(t, []core.Piece{
		{Kind: core.PieceReasoning, Text: "first "},
		{Kind: core.PieceReasoning, Text: "second"},
		{Kind: core.PieceReasoning, Text: "both"},
		{Kind: core.PieceText, Text: "answer 😀"},
	}, pieces)
}

func TestUsage(t *testing.T) {
	full := `"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,` +
		`"prompt_tokens_details":{"cached_tokens":64,"cache_write_tokens":8},"completion_tokens_details":{"reasoning_tokens":5}}`
	want := &protocol.TokenUsageBreakdown{
		TotalTokens: 120, InputTokens: 100, CachedInputTokens: 64, CacheWriteInputTokens: 8,
		OutputTokens: 20, ReasoningOutputTokens: 5,
	}
	for name, c := range map[string]struct {
		stream string
		want   *protocol.TokenUsageBreakdown
	}{
		"in the last chunk":    {stop + `data: {"choices":[],` + full + "}\n\n" + done, want},
		"beside finish_reason": {`data: {"choices":[{"delta":{},"finish_reason":"stop"}],` + full + "}\n\n" + done, want},
		"inside the choice":    {`data: {"choices":[{"delta":{},"finish_reason":"stop",` + full + "}]}\n\n" + done, want},
		"running, the last wins": {`data: {"choices":[],"usage":{"prompt_tokens":1}}` + "\n\n" + stop + "data: {" + full +
			"}\n\n" + done, want},
		"null elsewhere": {`data: {` + full + "}\n\n" + `data: {"usage":null}` + "\n\n" + stop + done, want},
		"without a total": {`data: {"usage":{"prompt_tokens":3,"completion_tokens":4,"prompt_tokens_details":null}}` +
			"\n\n" + stop, &protocol.TokenUsageBreakdown{TotalTokens: 7, InputTokens: 3, OutputTokens: 4}},
		"all zero": {`data: {"usage":{"prompt_tokens":0}}` + "\n\n" + stop, nil},
		"absent":   {stop + done, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, answer, err := modeltest.Ask(t.Context(), serve(t,
				modeltest.Events(event(`{"content":"ok"}`)+c.stream)), modeltest.UserSays("hi"))
			require.NoError(t, err)
			require.Equal(t, c.want, answer.Usage)
		})
	}
}

// callEvent returns a chunk with these fragments of tool calls.
func callEvent(fragments ...string) string {
	return event(`{"tool_calls":[` + strings.Join(fragments, ",") + `]}`)
}

// messageEvent returns a chunk with a message in place of a delta.
func messageEvent(message string) string {
	return `data: {"choices":[{"index":0,"delta":{},"message":` + message + `}]}` + "\n\n"
}

func TestToolCallFragments(t *testing.T) {
	call := func(id, name, arguments string) core.ToolCall {
		return core.ToolCall{ID: id, Name: name, Arguments: arguments}
	}
	for name, c := range map[string]struct {
		stream string
		want   []core.ToolCall
	}{
		"in pieces": {
			callEvent(`{"index":0,"id":"a","type":"function","function":{"name":"shell","arguments":""}}`) +
				callEvent(`{"index":0,"function":{"arguments":"{\"x\""}}`) +
				callEvent(`{"index":0,"function":{"arguments":":1}"}}`),
			[]core.ToolCall{call("a", "shell", `{"x":1}`)},
		},
		"interleaved": {
			callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`,
				`{"index":1,"id":"b","function":{"name":"g","arguments":"{\"y\""}}`) +
				callEvent(`{"index":1,"function":{"arguments":":2}"}}`) + callEvent(`{"index":0,"function":{"arguments":":1}"}}`),
			[]core.ToolCall{call("a", "f", `{"x":1}`), call("b", "g", `{"y":2}`)},
		},
		"no index": {
			callEvent(`{"id":"a","function":{"name":"f","arguments":"{\"x\""}}`) +
				callEvent(`{"function":{"arguments":":1}"}}`) +
				callEvent(`{"id":"b","function":{"name":"f","arguments":"{}"}}`),
			[]core.ToolCall{call("a", "f", `{"x":1}`), call("b", "f", `{}`)},
		},
		"no index, interleaved by id": {
			callEvent(`{"id":"a","function":{"name":"f","arguments":"{"}}`) +
				callEvent(`{"id":"b","function":{"name":"g","arguments":"{"}}`) +
				callEvent(`{"id":"a","function":{"arguments":"}"}}`) + callEvent(`{"id":"b","function":{"arguments":"}"}}`),
			[]core.ToolCall{call("a", "f", `{}`), call("b", "g", `{}`)},
		},
		"index 0 for all": {
			callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}`) +
				callEvent(`{"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":2}"}}`),
			[]core.ToolCall{call("a", "f", `{"x":1}`), call("b", "f", `{"x":2}`)},
		},
		"index 0 for all and no ids": {
			callEvent(`{"index":0,"id":"","function":{"name":"f","arguments":"{\"x\":1}"}}`,
				`{"index":0,"function":{"name":"f","arguments":"{\"x\":2}"}}`,
				`{"index":0,"function":{"name":"g","arguments":""}}`),
			[]core.ToolCall{call("call_1", "f", `{"x":1}`), call("call_2", "f", `{"x":2}`), call("call_3", "g", "")},
		},
		"a new id in every fragment": {
			callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`) +
				callEvent(`{"index":0,"id":"b","function":{"arguments":":1}"}}`),
			[]core.ToolCall{call("a", "f", `{"x":1}`)},
		},
		"id and name in every fragment": {
			callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`) +
				callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}`),
			[]core.ToolCall{call("a", "f", `{"x":1}`)},
		},
		"name in every fragment, no ids": {
			callEvent(`{"index":0,"function":{"name":"f","arguments":"{\"x\":{}"}}`) +
				callEvent(`{"index":0,"function":{"name":"f","arguments":",\"y\":1}"}}`),
			[]core.ToolCall{call("call_1", "f", `{"x":{},"y":1}`)},
		},
		"id after the name": {
			callEvent(`{"index":0,"function":{"name":"f"}}`) + callEvent(`{"index":0,"id":"a","function":{"arguments":"{}"}}`),
			[]core.ToolCall{call("a", "f", `{}`)},
		},
		"arguments as an object": {
			callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":{"x":[1,2]}}}`),
			[]core.ToolCall{call("a", "f", `{"x":[1,2]}`)},
		},
		"arguments null": {
			callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":null}}`),
			[]core.ToolCall{call("a", "f", "")},
		},
		"arguments that are not JSON are kept": {
			callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":"{oops"}}`),
			[]core.ToolCall{call("a", "f", "{oops")},
		},
		"ids of the prompt and of the answer are taken": {
			callEvent(`{"index":0,"id":"old","function":{"name":"f"}}`, `{"index":1,"id":"new","function":{"name":"f"}}`,
				`{"index":2,"id":"new","function":{"name":"f"}}`, `{"index":3,"id":null,"function":{"name":"f"}}`),
			[]core.ToolCall{call("call_1", "f", ""), call("new", "f", ""), call("call_3", "f", ""), call("call_4", "f", "")},
		},
		"a new id and the name in every fragment": {
			callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`) +
				callEvent(`{"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":"}}`) +
				callEvent(`{"index":0,"id":"c","function":{"name":"f","arguments":"1}"}}`),
			[]core.ToolCall{call("a", "f", `{"x":1}`)},
		},
		"a new id and the name in every fragment, no index": {
			callEvent(`{"id":"a","function":{"name":"f","arguments":"{\"x\":"}}`) +
				callEvent(`{"id":"b","function":{"name":"f","arguments":"1}"}}`),
			[]core.ToolCall{call("a", "f", `{"x":1}`)},
		},
		"two ids at one index, the second with all": {
			callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}`) +
				callEvent(`{"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":1}"}}`),
			[]core.ToolCall{call("a", "f", `{"x":{"x":1}`)}, // the core finds the object
		},
		"two ids at one index, empty arguments": {
			callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`) +
				callEvent(`{"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":1}"}}`),
			[]core.ToolCall{call("a", "f", `{}`), call("b", "f", `{"x":1}`)},
		},
		"interleaved by id, all index 0": {
			callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}`) +
				callEvent(`{"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":"}}`) +
				callEvent(`{"index":0,"id":"a","function":{"arguments":"1}"}}`) +
				callEvent(`{"index":0,"id":"b","function":{"arguments":"2}"}}`),
			[]core.ToolCall{call("a", "f", `{"x":1}`), call("b", "f", `{"x":2}`)},
		},
		"heads at index 0, tails at their index": {
			callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`) +
				callEvent(`{"index":0,"function":{"arguments":"{\"x\":1}"}}`) +
				callEvent(`{"index":0,"id":"b","function":{"name":"f","arguments":""}}`) +
				callEvent(`{"index":1,"function":{"arguments":"{\"x\":"}}`) + callEvent(`{"index":1,"function":{"arguments":"2}"}}`),
			[]core.ToolCall{call("a", "f", `{"x":1}`), call("b", "f", `{"x":2}`)},
		},
		"a blank id": {
			callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}`) +
				callEvent(`{"index":0,"id":" ","function":{"name":"","arguments":"}"}}`),
			[]core.ToolCall{call("a", "f", `{}`)},
		},
		"the index as a text": {
			callEvent(`{"index":"0","id":"a","function":{"name":"f","arguments":"{"}}`,
				`{"index":"1","id":"b","function":{"name":"g","arguments":"{"}}`) +
				callEvent(`{"index":"0","function":{"arguments":"}"}}`) + callEvent(`{"index":"1","function":{"arguments":"}"}}`),
			[]core.ToolCall{call("a", "f", `{}`), call("b", "g", `{}`)},
		},
		"all again with the same id": {
			callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}`) +
				callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}`),
			[]core.ToolCall{call("a", "f", `{"x":1}{"x":1}`)}, // the core finds the object
		},
		"all again in a message": {
			callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`) +
				callEvent(`{"index":0,"function":{"arguments":":1}"}}`) +
				messageEvent(`{"content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]}`),
			[]core.ToolCall{call("a", "f", `{"x":1}`)},
		},
		"two calls again in a message without ids": {
			callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`,
				`{"index":1,"id":"b","function":{"name":"f","arguments":"{"}}`) +
				messageEvent(`{"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"f","arguments":"{}"}}]}`),
			[]core.ToolCall{call("call_1", "f", `{}`), call("call_2", "f", `{}`)},
		},
		"a message with fewer calls": {
			callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`,
				`{"index":1,"id":"b","function":{"name":"f","arguments":"{}"}}`) +
				messageEvent(`{"tool_calls":[{"id":"b","function":{"name":"f","arguments":"{}"}}]}`),
			[]core.ToolCall{call("a", "f", `{}`), call("b", "f", `{}`)},
		},
		"a message in each event": {
			messageEvent(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}`) +
				messageEvent(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]}`),
			[]core.ToolCall{call("a", "f", `{"x":1}`)},
		},
		"the older form": {
			event(`{"function_call":{"name":"f","arguments":""}}`) + event(`{"function_call":{"arguments":"{\"x\":"}}`) +
				event(`{"function_call":{"arguments":"1}"}}`),
			[]core.ToolCall{call("call_1", "f", `{"x":1}`)},
		},
		"the older form in a message": {
			event(`{"function_call":{"name":"f","arguments":"{"}}`) +
				messageEvent(`{"function_call":{"name":"f","arguments":"{\"x\":1}"}}`),
			[]core.ToolCall{call("call_1", "f", `{"x":1}`)},
		},
		"both forms": {
			event(`{"function_call":{"name":"f","arguments":"{}"},"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}`),
			[]core.ToolCall{call("a", "f", `{}`)},
		},
		"an empty fragment is no call": {
			callEvent(`{"index":0}`, `{"index":1,"id":"a","function":{"name":"f"}}`),
			[]core.ToolCall{call("a", "f", "")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := modeltest.UserSays("hi")
			p.Items = append(p.Items, modeltest.Items(
				&protocol.FunctionCall{CallID: "old", Name: "f"}, &protocol.CustomToolCall{CallID: "call_2"})...)
			if !strings.Contains(name, "of the prompt") {
				p.Items = nil
			}
			_, answer, err := modeltest.Ask(t.Context(), serve(t, modeltest.Events(c.stream+stop+done)), p)
			require.NoError(t, err)
			require.Equal(t, c.want, answer.Calls)
		})
	}
}

func TestErrorsAmidstTheAnswer(t *testing.T) {
	other := protocol.CodexErrorInfo{Kind: protocol.ErrorOther}
	for name, c := range map[string]struct {
		event   string
		message string
		info    protocol.CodexErrorInfo
		retry   bool
	}{
		"exact form":   {`{"error":{"message":"boom"}}`, "boom", other, true},
		"with a space": {`{ "error" : {"message":"boom"}}`, "boom", other, true},
		"not first": {`{"id":"x","choices":[],"error":{"message":"boom","code":502}}`, "boom",
			protocol.CodexErrorInfo{Kind: protocol.ErrorInternalServer}, true},
		"text":         {`{"error":"boom"}`, "boom", other, true},
		"says nothing": {`{"error":{"param":7}}`, "without saying which", other, true},
		"rate limit": {`{"error":{"message":"slow","type":"rate_limit_error"}}`, "slow",
			protocol.CodexErrorInfo{Kind: protocol.ErrorRateLimitExceeded}, true},
		"overloaded": {`{"error":{"message":"busy","type":"overloaded_error"}}`, "busy",
			protocol.CodexErrorInfo{Kind: protocol.ErrorServerOverloaded}, true},
		"server error": {`{"error":{"message":"oh","type":"server_error"}}`, "oh",
			protocol.CodexErrorInfo{Kind: protocol.ErrorInternalServer}, true},
		"invalid request": {`{"error":{"message":"no","type":"invalid_request_error"}}`, "no", other, false},
		"context": {`{"error":{"message":"no","code":"context_length_exceeded"}}`, "no",
			protocol.CodexErrorInfo{Kind: protocol.ErrorContextWindowExceeded}, false},
		"quota": {`{"error":{"message":"no","code":"insufficient_quota"}}`, "no",
			protocol.CodexErrorInfo{Kind: protocol.ErrorUsageLimitExceeded}, false},
		"finish_reason only": {`{"choices":[{"delta":{},"finish_reason":"error"}]}`, "finish_reason", other, true},
	} {
		t.Run(name, func(t *testing.T) {
			stream := ": before\n\nevent: x\n" + event(`{"content":"a"}`) + "data: " + c.event + "\n\n" + done
			_, _, err := modeltest.Ask(t.Context(), serve(t, modeltest.Events(stream)), modeltest.UserSays("hi"))
			m := modeltest.Failed(t, err)
			require.Contains(t, m.Message, c.message)
			require.Equal(t, c.info, m.Info)
			require.Equal(t, c.retry, m.Retry)
			require.True(t, m.Streaming)
		})
	}
}

// ends are the finish reasons of providers. docs/providers.md has their sources.
var ends = []struct {
	reasons []string
	cut     string // of an answer with text; "" is whole
	empty   string // the error of an answer without text
	kind    string // of the error, also of an answer with text; "" if only the empty one fails
	retry   bool
}{
	{[]string{"stop", "STOP", "eos", "end_turn", "stop_sequence", "COMPLETE"}, "", "no text and no call", "", true},
	{[]string{"tool_calls", "tool-calls", "toolUse", "function_call"}, "announced calls and sent none", "no text and no call", "", true},
	{[]string{"length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "maxTokens"}, "limit of output tokens", "length limit", "", false},
	{[]string{"content_filter", "content-filter", "SAFETY", "sensitive", "refusal", "RECITATION", "PROHIBITED_CONTENT", "SPII",
		"content_filter: PROHIBITED_CONTENT", "content_filter: OTHER", "guardrail_intervened"}, "content filter", "content filter", "", false},
	{[]string{"error", "ERROR", "network_error", "insufficient_system_resource", "abort", "malformed_function_call",
		"MALFORMED_FUNCTION_CALL", "function_call_filter: MALFORMED_FUNCTION_CALL", "cancelled", "UNEXPECTED_TOOL_CALL"},
		"", "the provider ended the answer (finish_reason ", protocol.ErrorOther, true},
	{[]string{"model_context_window_exceeded", "MODEL_CONTEXT_WINDOW_EXCEEDED", "context_length_exceeded", "model_length"},
		"", "leaves no room", protocol.ErrorContextWindowExceeded, false},
	{[]string{"unknown", "other", "OTHER", "pause_turn", "repetition", "time_limit", "FINISH_REASON_UNSPECIFIED", ":", "7", "\u00e9"},
		"the provider ended it (finish_reason ", "no text and no call", "", true},
}

func TestAnAnswerEndsAsItsFinishReasonSays(t *testing.T) {
	for _, c := range ends {
		for _, reason := range c.reasons {
			t.Run(reason, func(t *testing.T) {
				finish := `data: {"choices":[{"delta":{},"finish_reason":"` + reason + `"}]}` + "\n\n" + done
				ask := func(stream string) (core.Answer, error) {
					_, answer, err := modeltest.Ask(t.Context(), serve(t, modeltest.Events(stream+finish)), modeltest.UserSays("hi"))
					return answer, err
				}
				for _, empty := range []string{"", event(`{"reasoning":"hm"}`), event(`{"content":" \n"}`), event(`{"content":""}`)} {
					_, err := ask(empty)
					m := modeltest.Failed(t, err)
					require.Contains(t, m.Message, c.empty)
					require.Equal(t, cmp.Or(c.kind, protocol.ErrorOther), m.Info.Kind)
					require.Equal(t, c.retry, m.Retry)
					require.True(t, m.Streaming)
				}
				answer, err := ask(event(`{"content":"some"}`))
				if c.kind != "" {
					require.Equal(t, c.kind, modeltest.Failed(t, err).Info.Kind)
					return
				}
				require.NoError(t, err)
				require.Contains(t, answer.Cut, c.cut)
				require.Equal(t, c.cut == "", answer.Cut == "", answer.Cut)
			})
		}
	}
}

// TestCallsNeedNoFinishReason covers the reasons with which providers end answers that only have calls.
func TestCallsNeedNoFinishReason(t *testing.T) {
	for _, end := range []string{"", `"finish_reason":"stop"`, `"finish_reason":"tool_calls"`, `"finish_reason":null`,
		`"finish_reason":"function_call"`, `"finish_reason":"TOOL_USE"`, `"finish_reason":7`} {
		stream := callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`) +
			`data: {"choices":[{"index":0` + strings.TrimSuffix(","+end, ",") + "}]}\n\n" + done
		_, answer, err := modeltest.Ask(t.Context(), serve(t, modeltest.Events(stream)), modeltest.UserSays("hi"))
		require.NoError(t, err, end)
		require.Empty(t, answer.Cut, end)
		require.Len(t, answer.Calls, 1, end)
	}
}

func TestHugeArgumentsCostAFewTimesTheirSize(t *testing.T) {
	const size = 8 << 20
	huge := strings.Repeat("x", size)
	var stream strings.Builder
	stream.WriteString(callEvent(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":\""}}`))
	for i := range 4 {
		fmt.Fprint(&stream, callEvent(`{"index":0,"function":{"arguments":"`+huge[i*size/4:(i+1)*size/4]+`"}}`))
	}
	stream.WriteString(callEvent(`{"index":0,"function":{"arguments":"\"}"}}`) + stop + done)
	provider := memoryProvider(stream.String())

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, answer, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Len(t, answer.Calls[0].Arguments, size+len(`{"x":""}`))
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(20*size))
}
