package apptest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// WireAPI is an API of model providers, named as in the setting `wire_api`.
type WireAPI string

const (
	ChatWire      WireAPI = "chat"
	ResponsesWire WireAPI = "responses"
)

// OnBothWires runs a test with a provider of each API. With -short it runs the test with one of
// them; the length of the test's name selects it.
func OnBothWires(t *testing.T, test func(t *testing.T, on WireAPI)) {
	wires := []WireAPI{ChatWire, ResponsesWire}
	if testing.Short() {
		n := len(t.Name()) % len(wires)
		wires = wires[n : n+1]
	}
	for _, on := range wires {
		t.Run(string(on), func(t *testing.T) { test(t, on) })
	}
}

// StreamAnswer returns an answer that writes the events of a stream unchanged.
func StreamAnswer(stream string) func(w io.Writer) {
	return func(w io.Writer) { fmt.Fprint(w, stream) }
}

// NewProvider returns a provider, as the function NewProvider does. Configurations that it writes
// name the API on.
func (on WireAPI) NewProvider(t *testing.T, answers ...func(w io.Writer)) *Provider {
	p := NewProvider(t, answers...)
	p.wire = on
	return p
}

// answerByResponses writes an answer, made for Chat Completions, in the form of the Responses API.
func answerByResponses(w http.ResponseWriter, answer func(w io.Writer)) {
	r := &responsesWriter{to: w, call: Object{}}
	answer(r)
	r.end()
}

// responsesWriter converts events of Chat Completions to events of the Responses API while they
// arrive.
type responsesWriter struct {
	to        http.ResponseWriter
	pending   bytes.Buffer // the start of an incomplete line
	reasoning strings.Builder
	text      strings.Builder
	call      Object // the function call that is not complete yet
	usage     gjson.Result
	ended     string // the finish reason, or ""
}

// Flush sends the buffered events.
func (r *responsesWriter) Flush() { r.to.(http.Flusher).Flush() }

// Write converts the complete lines of b and keeps the rest.
func (r *responsesWriter) Write(b []byte) (int, error) {
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

func (r *responsesWriter) line(line string) {
	data, isData := strings.CutPrefix(line, "data: ")
	if !isData || data == "[DONE]" {
		return
	}
	event := gjson.Parse(data)
	if event.Get("type").Exists() { // an event of the Responses API
		fmt.Fprintf(r.to, "data: %s\n\n", data)
		return
	}
	if usage := event.Get("usage"); usage.IsObject() {
		r.usage = usage
	}
	delta := event.Get("choices.0.delta")
	if text := delta.Get("reasoning_content").Str + delta.Get("reasoning").Str; text != "" {
		r.reasoning.WriteString(text)
		r.send(Object{"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": text})
	}
	if text := delta.Get("content").Str; text != "" {
		r.endReasoning()
		r.text.WriteString(text)
		r.send(Object{"type": "response.output_text.delta", "delta": text})
	}
	for _, call := range delta.Get("tool_calls").Array() {
		r.tool(call)
	}
	r.ended = cmp.Or(event.Get("choices.0.finish_reason").Str, r.ended)
}

// tool appends a piece to the current call. A piece with an id begins a new call.
func (r *responsesWriter) tool(call gjson.Result) {
	if id := call.Get("id").Str; id != "" {
		r.endCall()
		r.endReasoning()
		r.call = Object{"type": "function_call", "call_id": id, "name": call.Get("function.name").Str, "arguments": ""}
	}
	if r.call["type"] != nil {
		r.call["arguments"] = r.call["arguments"].(string) + call.Get("function.arguments").Str
	}
}

func (r *responsesWriter) endReasoning() {
	if r.reasoning.Len() > 0 {
		r.item(Object{"type": "reasoning", "encrypted_content": "SEALED " + r.reasoning.String(),
			"summary": []Object{{"type": "summary_text", "text": r.reasoning.String()}}})
		r.reasoning.Reset()
	}
}

func (r *responsesWriter) endCall() {
	if r.call["type"] != nil {
		r.item(r.call)
		r.call = Object{}
	}
}

func (r *responsesWriter) item(item Object) {
	r.send(Object{"type": "response.output_item.done", "item": item})
}

// end writes the last items and response.completed, or response.incomplete with a reason that is not normal. If the
// stream was cut off, it writes nothing.
func (r *responsesWriter) end() {
	if r.ended == "" {
		return
	}
	r.endReasoning()
	if r.text.Len() > 0 {
		r.item(Object{"type": "message", "role": "assistant",
			"content": []Object{{"type": "output_text", "text": r.text.String()}}})
	}
	r.endCall()
	response := Object{}
	if r.usage.Exists() {
		response["usage"] = Object{
			"input_tokens": r.usage.Get("prompt_tokens").Int(), "output_tokens": r.usage.Get("completion_tokens").Int(),
			"total_tokens":          r.usage.Get("total_tokens").Int(),
			"input_tokens_details":  Object{"cached_tokens": r.usage.Get("prompt_tokens_details.cached_tokens").Int()},
			"output_tokens_details": Object{"reasoning_tokens": r.usage.Get("completion_tokens_details.reasoning_tokens").Int()},
		}
	}
	switch r.ended {
	case "stop", "tool_calls":
		r.send(Object{"type": "response.completed", "response": response})
	default:
		response["incomplete_details"] = Object{"reason": r.ended}
		r.send(Object{"type": "response.incomplete", "response": response})
	}
}

func (r *responsesWriter) send(event Object) {
	b, err := json.Marshal(event)
	if err != nil {
		panic(err) // impossible: maps and strings
	}
	fmt.Fprintf(r.to, "data: %s\n\n", b)
}

// asMessages returns the input items of a request to the Responses API as messages of Chat
// Completions.
func asMessages(body []byte) (messages []json.RawMessage) {
	var list []Object
	if text := gjson.GetBytes(body, "instructions").Str; text != "" {
		list = append(list, Object{"role": "system", "content": text})
	}
	for _, item := range gjson.GetBytes(body, "input").Array() {
		list = appendAsMessage(list, item)
	}
	return encoded(list)
}

// promptAsMessages converts the messages of context/getPrompt likewise. Messages of Chat
// Completions are returned unchanged.
func promptAsMessages(shown []json.RawMessage) []json.RawMessage {
	var list []Object
	for _, raw := range shown {
		item := gjson.ParseBytes(raw)
		if !item.Get("type").Exists() {
			return shown
		}
		list = appendAsMessage(list, item)
	}
	return encoded(list)
}

func encoded(list []Object) (messages []json.RawMessage) {
	for _, m := range list {
		raw, err := json.Marshal(m)
		if err != nil {
			panic(err) // impossible: maps and strings
		}
		messages = append(messages, raw)
	}
	return messages
}

func appendAsMessage(list []Object, item gjson.Result) []Object {
	switch item.Get("type").Str {
	case "message":
		role := item.Get("role").Str
		if role == "developer" {
			role = "system"
		}
		return append(list, Object{"role": role, "content": contentAsMessage(item.Get("content"))})
	case "function_call":
		return appendAsCall(list, item, item.Get("arguments").Str)
	case "custom_tool_call":
		arguments, err := json.Marshal(Object{"input": item.Get("input").Str})
		if err != nil {
			panic(err) // impossible: a string
		}
		return appendAsCall(list, item, string(arguments))
	case "function_call_output", "custom_tool_call_output":
		return append(list, Object{"role": "tool", "content": contentAsMessage(item.Get("output")),
			"tool_call_id": item.Get("call_id").Str})
	}
	return list
}

func appendAsCall(list []Object, item gjson.Result, arguments string) []Object {
	if last := len(list) - 1; last < 0 || list[last]["role"] != "assistant" {
		list = append(list, Object{"role": "assistant", "content": nil})
	}
	last := list[len(list)-1]
	calls, _ := last["tool_calls"].([]Object)
	last["tool_calls"] = append(calls, Object{"id": item.Get("call_id").Str, "type": "function",
		"function": Object{"name": item.Get("name").Str, "arguments": arguments}})
	return list
}

// ToolNames returns the names of the offered tools as a JSON list.
func (r ChatRequest) ToolNames() string {
	return gjson.Get(r.Body, "tools.#.function.name").Raw + gjson.Get(r.Body, "tools.#.name").Raw
}

// contentAsMessage returns the text of a content, or its parts if one of them is an image.
func contentAsMessage(content gjson.Result) any {
	if !content.IsArray() {
		return content.Str
	}
	var texts []string
	var parts []Object
	images := false
	for _, part := range content.Array() {
		if url := part.Get("image_url").Str; url != "" {
			images, parts = true, append(parts, Object{"type": "image_url", "image_url": Object{"url": url}})
			continue
		}
		texts, parts = append(texts, part.Get("text").Str),
			append(parts, Object{"type": "text", "text": part.Get("text").Str})
	}
	if images {
		return parts
	}
	return strings.Join(texts, "\n")
}
