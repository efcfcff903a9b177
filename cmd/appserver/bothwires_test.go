package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// wireAPI is an API of model providers, as wire_api names it.
type wireAPI string

const (
	chatWire      wireAPI = "chat"
	responsesWire wireAPI = "responses"
)

// onBothWires runs a test with a provider of each API.
func onBothWires(t *testing.T, test func(t *testing.T, on wireAPI)) {
	for _, on := range []wireAPI{chatWire, responsesWire} {
		t.Run(string(on), func(t *testing.T) { test(t, on) })
	}
}

// asEvents answers with the events of a stream as they are.
func asEvents(stream string) func(w io.Writer) {
	return func(w io.Writer) { fmt.Fprint(w, stream) }
}

// provider is newProvider, whose configuration names the API.
func (on wireAPI) provider(t *testing.T, answers ...func(w io.Writer)) *provider {
	p := newProvider(t, answers...)
	p.wire = on
	return p
}

// byResponses serves a request of the Responses API by an answer of Chat Completions.
func byResponses(w http.ResponseWriter, answer func(w io.Writer)) {
	r := &rewriter{to: w, call: object{}}
	answer(r)
	r.end()
}

// rewriter turns the events of Chat Completions into those of the Responses API, as they come.
type rewriter struct {
	to      http.ResponseWriter
	pending bytes.Buffer // of a line that is not whole
	thought strings.Builder
	text    strings.Builder
	call    object // the function call under way
	usage   gjson.Result
	ended   bool
}

// Flush passes on what came.
func (r *rewriter) Flush() { r.to.(http.Flusher).Flush() }

// Write takes a part of the stream.
func (r *rewriter) Write(b []byte) (int, error) {
	r.pending.Write(b)
	for {
		line, err := r.pending.ReadString('\n')
		if err != nil {
			r.pending.Reset()
			r.pending.WriteString(line)
			return len(b), nil
		}
		r.line(strings.TrimSpace(line))
	}
}

func (r *rewriter) line(line string) {
	data, isData := strings.CutPrefix(line, "data: ")
	if !isData || data == "[DONE]" {
		return
	}
	event := gjson.Parse(data)
	if event.Get("type").Exists() { // it is one already
		fmt.Fprintf(r.to, "data: %s\n\n", data)
		return
	}
	if usage := event.Get("usage"); usage.IsObject() {
		r.usage = usage
	}
	delta := event.Get("choices.0.delta")
	if text := delta.Get("reasoning_content").Str + delta.Get("reasoning").Str; text != "" {
		r.thought.WriteString(text)
		r.send(object{"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": text})
	}
	if text := delta.Get("content").Str; text != "" {
		r.endThought()
		r.text.WriteString(text)
		r.send(object{"type": "response.output_text.delta", "delta": text})
	}
	for _, call := range delta.Get("tool_calls").Array() {
		r.tool(call)
	}
	r.ended = r.ended || event.Get("choices.0.finish_reason").Str != ""
}

// tool takes a piece of a call: one with an id begins it.
func (r *rewriter) tool(call gjson.Result) {
	if id := call.Get("id").Str; id != "" {
		r.endCall()
		r.endThought()
		r.call = object{"type": "function_call", "call_id": id, "name": call.Get("function.name").Str, "arguments": ""}
	}
	if r.call["type"] != nil {
		r.call["arguments"] = r.call["arguments"].(string) + call.Get("function.arguments").Str
	}
}

func (r *rewriter) endThought() {
	if r.thought.Len() > 0 {
		r.item(object{"type": "reasoning", "encrypted_content": "SEALED " + r.thought.String(),
			"summary": []object{{"type": "summary_text", "text": r.thought.String()}}})
		r.thought.Reset()
	}
}

func (r *rewriter) endCall() {
	if r.call["type"] != nil {
		r.item(r.call)
		r.call = object{}
	}
}

func (r *rewriter) item(item object) {
	r.send(object{"type": "response.output_item.done", "item": item})
}

// end ends the answer, if its stream had an end.
func (r *rewriter) end() {
	if !r.ended {
		return
	}
	r.endThought()
	if r.text.Len() > 0 {
		r.item(object{"type": "message", "role": "assistant", "content": []object{{"type": "output_text", "text": r.text.String()}}})
	}
	r.endCall()
	response := object{}
	if r.usage.Exists() {
		response["usage"] = object{
			"input_tokens": r.usage.Get("prompt_tokens").Int(), "output_tokens": r.usage.Get("completion_tokens").Int(), "total_tokens": r.usage.Get("total_tokens").Int(),
			"input_tokens_details":  object{"cached_tokens": r.usage.Get("prompt_tokens_details.cached_tokens").Int()},
			"output_tokens_details": object{"reasoning_tokens": r.usage.Get("completion_tokens_details.reasoning_tokens").Int()},
		}
	}
	r.send(object{"type": "response.completed", "response": response})
}

func (r *rewriter) send(event object) {
	b, err := json.Marshal(event)
	if err != nil {
		panic(err) // of maps and strings
	}
	fmt.Fprintf(r.to, "data: %s\n\n", b)
}

// asMessages are the items of a request of the Responses API as messages of Chat Completions.
func asMessages(body []byte) (messages []json.RawMessage) {
	var list []object
	if text := gjson.GetBytes(body, "instructions").Str; text != "" {
		list = append(list, object{"role": "system", "content": text})
	}
	for _, item := range gjson.GetBytes(body, "input").Array() {
		list = appendAsMessage(list, item)
	}
	return encoded(list)
}

// shownAsMessages does so with the messages of context/getPrompt. Those of Chat Completions stay as
// they are.
func shownAsMessages(shown []json.RawMessage) []json.RawMessage {
	var list []object
	for _, raw := range shown {
		item := gjson.ParseBytes(raw)
		if !item.Get("type").Exists() {
			return shown
		}
		list = appendAsMessage(list, item)
	}
	return encoded(list)
}

func encoded(list []object) (messages []json.RawMessage) {
	for _, m := range list {
		raw, err := json.Marshal(m)
		if err != nil {
			panic(err) // of maps and strings
		}
		messages = append(messages, raw)
	}
	return messages
}

func appendAsMessage(list []object, item gjson.Result) []object {
	switch item.Get("type").Str {
	case "message":
		role := item.Get("role").Str
		if role == "developer" {
			role = "system"
		}
		return append(list, object{"role": role, "content": contentAsMessage(item.Get("content"))})
	case "function_call":
		return appendAsCall(list, item, item.Get("arguments").Str)
	case "custom_tool_call":
		arguments, err := json.Marshal(object{"input": item.Get("input").Str})
		if err != nil {
			panic(err) // of a string
		}
		return appendAsCall(list, item, string(arguments))
	case "function_call_output", "custom_tool_call_output":
		return append(list, object{"role": "tool", "content": contentAsMessage(item.Get("output")), "tool_call_id": item.Get("call_id").Str})
	}
	return list
}

func appendAsCall(list []object, item gjson.Result, arguments string) []object {
	if last := len(list) - 1; last < 0 || list[last]["role"] != "assistant" {
		list = append(list, object{"role": "assistant", "content": nil})
	}
	last := list[len(list)-1]
	calls, _ := last["tool_calls"].([]object)
	last["tool_calls"] = append(calls, object{"id": item.Get("call_id").Str, "type": "function",
		"function": object{"name": item.Get("name").Str, "arguments": arguments}})
	return list
}

// tools are the names of the tools of a request, as a JSON list.
func (r chatRequest) tools() string {
	return gjson.Get(r.Body, "tools.#.function.name").Raw + gjson.Get(r.Body, "tools.#.name").Raw
}

// contentAsMessage is a text, or parts if there are images among them.
func contentAsMessage(content gjson.Result) any {
	if !content.IsArray() {
		return content.Str
	}
	var texts []string
	var parts []object
	images := false
	for _, part := range content.Array() {
		if url := part.Get("image_url").Str; url != "" {
			images, parts = true, append(parts, object{"type": "image_url", "image_url": object{"url": url}})
			continue
		}
		texts, parts = append(texts, part.Get("text").Str), append(parts, object{"type": "text", "text": part.Get("text").Str})
	}
	if images {
		return parts
	}
	return strings.Join(texts, "\n")
}

// TestBinaryWiresSendTheSame checks the fake of this file: a conversation with calls is the same
// on both wires.
func TestBinaryWiresSendTheSame(t *testing.T) {
	t.Parallel()
	sent := map[wireAPI][]string{}
	onBothWires(t, func(t *testing.T, on wireAPI) {
		p := on.provider(t, callsShell("call_1", "echo hi"), says("done"), says("fine"))
		c := startServer(t, p.home(t))
		c.initialize()
		thread := c.startTrusted()
		c.turn(thread, "first")
		c.turn(thread, "second")
		asked := p.asked()
		require.Len(t, asked, 3)
		require.Equal(t, on == responsesWire, gjson.Get(asked[2].Body, "input").Exists())
		for _, m := range asked[2].Messages {
			sent[on] = append(sent[on], gjson.GetBytes(m, "role").Str+" "+gjson.GetBytes(m, "tool_calls.0.function.arguments").Str)
		}
		c.close()
	})
	require.Equal(t, sent[chatWire], sent[responsesWire])
}
