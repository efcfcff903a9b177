package model_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/model"
	"appserver/core/effects/model/chat"
	"appserver/core/effects/model/modeltest"
	"appserver/core/effects/model/responses"
)

// encoding is a wire, and how its providers write answers. What holds for all wires is tested with
// each.
type encoding struct {
	name string
	wire func() model.Wire
	path string // below the base URL
	// delta is an event with a text, given as a JSON value.
	delta func(text string) string
	// end is the end of an answer.
	end string
	// finish is the finish of an answer after which more may follow, or "" if nothing may.
	finish string
	// endless are events that an answer may repeat without end, by what they hold. Each is some
	// 100 KiB or more.
	endless map[string]string
}

func event(json string) string { return "data: " + json + "\n\n" }

var mebibyte = strings.Repeat("x", 1<<20)

// encodings are all wires.
var encodings = []encoding{
	{
		name: "chat", wire: func() model.Wire { return chat.New() }, path: "chat/completions",
		delta:  func(text string) string { return event(`{"choices":[{"index":0,"delta":{"content":` + text + `}}]}`) },
		end:    event(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`) + "data: [DONE]\n\n",
		finish: event(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`),
		endless: map[string]string{
			"reasoning": event(`{"choices":[{"delta":{"reasoning":"` + mebibyte + `"}}]}`),
			"reasoning details": event(`{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"` +
				mebibyte + `"}]}}]}`),
			"arguments": event(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"` +
				mebibyte + `"}}]}}]}`),
			"calls":   event(`{"choices":[{"delta":{"tool_calls":[` + strings.Repeat(`{},`, 100_000) + `{}]}}]}`),
			"nothing": strings.Repeat(event(`{"choices":[]}`), 10_000),
		},
	},
	{
		name: "responses", wire: func() model.Wire { return responses.New(responses.Options{}) }, path: "responses",
		delta: func(text string) string {
			return event(`{"type":"response.output_text.delta","output_index":0,"delta":` + text + `}`)
		},
		end: event(`{"type":"response.completed","response":{"id":"r"}}`),
		endless: map[string]string{
			"reasoning": event(`{"type":"response.reasoning_text.delta","delta":"` + mebibyte + `"}`),
			"summaries": event(`{"type":"response.reasoning_summary_text.delta","delta":"` + mebibyte + `"}`),
			"arguments": event(`{"type":"response.function_call_arguments.delta","delta":"` + mebibyte + `"}`),
			"calls": strings.Repeat(event(`{"type":"response.output_item.done","item":{"type":"function_call"}}`),
				10_000),
			"unknown items": strings.Repeat(event(`{"type":"response.output_item.done","item":{"type":"ghost"}}`), 10_000),
			"a giant item": event(`{"type":"response.output_item.done","item":{"type":"ghost","of":"` +
				strings.Repeat(mebibyte, 40) + `"}}`),
			"held texts": event(`{"type":"response.output_text.delta","output_index":0,"delta":"a"}`) +
				event(`{"type":"response.output_text.delta","output_index":1,"delta":"`+mebibyte+`"}`),
			"messages": strings.Repeat(event(`{"type":"response.output_item.added","output_index":0,"item":{}}`), 10_000),
			"nothing":  strings.Repeat(event(`{"type":"response.in_progress"}`), 10_000),
		},
	},
}

// eachWire runs a test with each wire.
func eachWire(t *testing.T, test func(*testing.T, encoding)) {
	for _, w := range encodings {
		t.Run(w.name, func(t *testing.T) { test(t, w) })
	}
}

func (w encoding) text(s string) string { return w.delta(fmt.Sprintf("%q", s)) }

// client returns a provider of an endpoint.
func (w encoding) client(e model.Endpoint) *model.Client { return model.NewClient(e, w.wire()) }

// serve starts an endpoint and makes a provider for it.
func (w encoding) serve(t *testing.T, handler http.HandlerFunc, edit ...func(*model.Endpoint)) *model.Client {
	t.Helper()
	return modeltest.Serve(t, w.wire(), handler, edit...)
}

// said returns the text of an answer with this body, which must be complete.
func (w encoding) said(t *testing.T, body string) string {
	t.Helper()
	pieces, _, err := modeltest.Ask(t.Context(), modeltest.FromMemory(w.wire(), body), modeltest.UserSays("hi"))
	require.NoError(t, err)
	text, _ := modeltest.Spoken(pieces)
	return text
}
