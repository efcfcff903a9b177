package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"appserver/core/effects/model"
	"appserver/protocol"
)

// chunk has the used members of one event of an answer: the first choice only, because requests ask
// for one. Members of a wrong type count as absent.
type chunk struct {
	Choices [1]choice `json:"choices"`
	Usage   *usage    `json:"usage"`
	Groq    struct {
		Usage *usage `json:"usage"`
	} `json:"x_groq"`
	Progress *promptProgress `json:"prompt_progress"` // llama.cpp
}

// choice has a message instead of a delta where the provider does not stream, and
// usage of its own with some providers.
type choice struct {
	Index        int    `json:"index"`
	Delta        delta  `json:"delta"`
	Message      *delta `json:"message"`
	FinishReason string `json:"finish_reason"`
	Usage        *usage `json:"usage"`
}

// delta is a part of the answer. Providers call raw reasoning reasoning_content,
// or reasoning, or send it by both names, and some once more in parts.
type delta struct {
	Content          text              `json:"content"`
	Refusal          text              `json:"refusal"`
	ReasoningContent text              `json:"reasoning_content"`
	Reasoning        text              `json:"reasoning"`
	ReasoningDetails []reasoningDetail `json:"reasoning_details"`
	ToolCalls        []fragment        `json:"tool_calls"`
	// FunctionCall is a part of the only call of an answer, in the older form of the API.
	FunctionCall *function `json:"function_call"`
}

// size returns the size in bytes.
func (d *delta) size() int {
	n := len(d.Content) + len(d.Refusal) + len(d.ReasoningContent) + len(d.Reasoning)
	for _, detail := range d.ReasoningDetails {
		n += model.PartCost
		for name, value := range detail {
			n += len(name) + len(value)
		}
	}
	for i := range d.ToolCalls {
		f := &d.ToolCalls[i]
		n += model.PartCost + len(f.ID) + len(f.Function.Name) + len(f.Function.Arguments) + len(f.ExtraContent)
	}
	if d.FunctionCall != nil {
		n += model.PartCost + len(d.FunctionCall.Name) + len(d.FunctionCall.Arguments)
	}
	return n
}

// function is the called function, or a part of it.
type function struct {
	Name      string    `json:"name"`
	Arguments arguments `json:"arguments"`
}

// callIndex is the place of a call in the answer, if the provider gives one.
type callIndex struct {
	place int
	given bool
}

// UnmarshalJSON treats a value that is not an integer as absent. It never fails.
func (x *callIndex) UnmarshalJSON(b []byte) error {
	n, err := strconv.Atoi(strings.Trim(string(b), `"`))
	*x = callIndex{n, err == nil}
	return nil
}

// decodeChunk reads an event. What is kept of it as it came is UTF-8 all the same.
func decodeChunk(raw []byte, form *plainForm) (chunk, error) {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\ufffd"))
	}
	if content, plain := form.read(raw); plain {
		var c chunk
		c.Choices[0].Delta.Content = text(content)
		return c, nil
	}
	return parseChunk(raw)
}

func parseChunk(raw []byte) (chunk, error) {
	var c chunk
	err := protocol.Unmarshal(raw, &c)
	if mismatch := new(json.UnmarshalTypeError); err == nil || errors.As(err, &mismatch) {
		return c, nil
	}
	return chunk{}, model.NotJSON(raw, err)
}

// reasoning returns the raw reasoning of a delta, and the member that it came by.
func (d *delta) reasoning() (text, member string) {
	if d.ReasoningContent != "" {
		return string(d.ReasoningContent), memberReasoningContent
	}
	if d.Reasoning != "" {
		return string(d.Reasoning), memberReasoning
	}
	for _, detail := range d.ReasoningDetails {
		text += detail.text()
	}
	return text, memberReasoning
}

// text is a string, or the texts of a list of parts; anything else is "".
type text string

// UnmarshalJSON never fails.
func (t *text) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		*t = text(unquote(b))
	case '[':
		var parts []struct {
			Text string `json:"text"`
		}
		_ = protocol.Unmarshal(b, &parts)
		var all strings.Builder
		for _, p := range parts {
			all.WriteString(p.Text)
		}
		*t = text(all.String())
	}
	return nil
}

// arguments is JSON text: of a string what it holds, of any other value its own.
type arguments string

// UnmarshalJSON never fails.
func (a *arguments) UnmarshalJSON(b []byte) error {
	switch {
	case b[0] == '"':
		*a = arguments(unquote(b))
	case string(b) != "null":
		*a = arguments(b)
	}
	return nil
}

// unquote returns the value of a valid JSON string; bytes that are not UTF-8 become
// U+FFFD.
func unquote(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 && utf8.Valid(b) {
		return string(b[1 : len(b)-1])
	}
	var s string
	_ = protocol.Unmarshal(b, &s)
	return s
}
