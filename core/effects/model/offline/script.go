package offline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"appserver/protocol"
)

// Script has the answers of the offline provider. It is a JSON document:
//
//	{"steps": [
//	  {"toolCalls": [{"name": "shell", "arguments": {"command": "ls"}}]},
//	  {"reasoning": "Two files.", "deltas": ["There are ", "two files."], "gapMs": 20},
//	  {"match": "weather", "text": "Sunny.", "usage": {"input": 900, "output": 3}},
//	  {"error": {"status": 429, "message": "slow down", "retryAfterMs": 1500, "times": 2}, "text": "At last."},
//	  {"text": "This breaks off halfway.", "cut": true}
//	]}
type Script struct {
	// Steps are the answers, one for each model request.
	Steps []Step `json:"steps"`
}

// Step is the answer to one request: reasoning, then text, then tool calls.
type Step struct {
	// Match makes the step fit only where the last user message contains it.
	Match string `json:"match,omitempty"`
	// Reasoning comes before the text, as one piece.
	Reasoning string `json:"reasoning,omitempty"`
	// Text comes in several deltas. Deltas are those deltas, given one by one. At
	// most one of both is set.
	Text   string   `json:"text,omitempty"`
	Deltas []string `json:"deltas,omitempty"`
	// ToolCalls end the answer.
	ToolCalls []StepCall `json:"toolCalls,omitempty"`
	// Error fails requests before the step answers one.
	Error *StepError `json:"error,omitempty"`
	// Cut breaks the connection off halfway through the deltas.
	Cut bool `json:"cut,omitempty"`
	// DelayMs is the time before the answer begins, GapMs the time after each delta,
	// both in milliseconds.
	DelayMs int `json:"delayMs,omitempty"`
	GapMs   int `json:"gapMs,omitempty"`
	// Usage replaces what is counted.
	Usage *StepUsage `json:"usage,omitempty"`
}

// StepCall is a tool call. A missing or repeated ID is replaced.
type StepCall struct {
	Name      string        `json:"name"`
	Arguments CallArguments `json:"arguments,omitempty"`
	ID        string        `json:"id,omitempty"`
}

// CallArguments is the text of a call's arguments. A script gives an object, or a
// string that is taken as it is, valid or not; without either it is {}. {{agent 1}} stands for the id of the first
// agent that the thread has started.
type CallArguments string

// StepError fails the first Times requests of a step, or 1 if Times is 0. A step without an answer is
// used up afterwards.
type StepError struct {
	// Status is an HTTP status, 400 to 599.
	Status       int    `json:"status"`
	Message      string `json:"message,omitempty"`
	RetryAfterMs int    `json:"retryAfterMs,omitempty"`
	Times        int    `json:"times,omitempty"`
}

// StepUsage counts tokens. Cached is the part of Input that came from a cache.
type StepUsage struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
	Cached int64 `json:"cached,omitempty"`
}

var errArguments = errors.New("arguments must be an object or a string")

// UnmarshalJSON accepts an object or a string.
func (a *CallArguments) UnmarshalJSON(b []byte) error {
	var s string
	switch {
	case b[0] == '{':
		var compact bytes.Buffer
		if err := json.Compact(&compact, b); err != nil {
			return err
		}
		s = compact.String()
	case protocol.Unmarshal(b, &s) != nil || b[0] != '"':
		return errArguments
	}
	*a = CallArguments(s)
	return nil
}

// ReadScript reads a script. Its errors name the place: a line and column, or a
// member like steps[2].toolCalls[0].name.
func ReadScript(r io.Reader) (*Script, error) {
	document, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading the script: %w", err)
	}
	var raw struct {
		Steps []json.RawMessage `json:"steps"`
	}
	if err := decodeStrictly(document, &raw); err != nil {
		return nil, fmt.Errorf("script: %w", place(document, err))
	}
	script := &Script{Steps: make([]Step, len(raw.Steps))}
	for i, step := range raw.Steps {
		err := decodeStrictly(step, &script.Steps[i])
		if err == nil {
			err = script.Steps[i].check()
		}
		if err != nil {
			return nil, fmt.Errorf("script: steps[%d]%w", i, member(err))
		}
	}
	return script, nil
}

// decodeStrictly reads one JSON value and allows no unknown members and nothing
// after it.
func decodeStrictly(b []byte, to any) error {
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(to); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("there is something after the end of the JSON document")
	}
	return protocol.UnmarshalKnown(b, to) // the decoder does not look at the case of names
}

// memberError is an error about a member of a step.
type memberError struct {
	member, message string
}

// Error follows the name of the step.
func (e *memberError) Error() string { return "." + e.member + ": " + e.message }

// member returns the text of an error, so that it can follow the name of its step.
func member(err error) error {
	if named := new(memberError); errors.As(err, &named) {
		return err
	}
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) && wrong.Field != "" {
		return &memberError{wrong.Field, "want " + wrong.Type.String() + ", got " + wrong.Value}
	}
	return fmt.Errorf(": %s", strings.TrimPrefix(err.Error(), "json: "))
}

// place adds line and column to an error, if they are known.
func place(document []byte, err error) error {
	offset := int64(-1)
	if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
		offset = syntax.Offset
	}
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		offset = wrong.Offset
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		offset = int64(len(document))
		err = errors.New("the document ends too early")
	}
	if offset < 0 || offset > int64(len(document)) {
		return err
	}
	before := document[:offset]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n') - 1
	return fmt.Errorf("line %d, column %d: %w", line, column, err)
}

// answers reports whether the step has an answer beside its error.
func (s *Step) answers() bool {
	return s.Cut || s.Reasoning != "" || s.Text != "" || len(s.Deltas)+len(s.ToolCalls) > 0
}

func (s *Step) check() error {
	switch {
	case s.Text != "" && len(s.Deltas) > 0:
		return &memberError{"deltas", "give text or deltas, not both"}
	case s.DelayMs < 0:
		return &memberError{"delayMs", "must not be negative"}
	case s.GapMs < 0:
		return &memberError{"gapMs", "must not be negative"}
	case s.Usage != nil && (s.Usage.Input < 0 || s.Usage.Output < 0 || s.Usage.Cached < 0):
		return &memberError{"usage", "must not be negative"}
	case s.Usage != nil && s.Usage.Cached > s.Usage.Input:
		return &memberError{"usage.cached", "must not exceed input"}
	}
	for i := range s.ToolCalls {
		if s.ToolCalls[i].Name == "" {
			return &memberError{fmt.Sprintf("toolCalls[%d].name", i), "is missing"}
		}
	}
	if s.Error != nil {
		return s.Error.check()
	}
	if !s.answers() {
		return errors.New("the step holds no answer; give it text, deltas, reasoning, toolCalls, error or cut")
	}
	return nil
}

func (e *StepError) check() error {
	switch {
	case e.Status < 400 || e.Status > 599:
		return &memberError{"error.status", "want an HTTP status from 400 to 599"}
	case e.RetryAfterMs < 0:
		return &memberError{"error.retryAfterMs", "must not be negative"}
	case e.Times < 0:
		return &memberError{"error.times", "must not be negative"}
	}
	return nil
}
