package conform

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"appserver/protocol"
)

// Line is a message of a transcript.
type Line struct {
	// Number counts the lines of the transcript from 1.
	Number     int
	FromServer bool
	Message    []byte
}

// ParseTranscript finds the messages in a text: a line that begins with "-> " is
// what the client wrote, one with "<- " what the server wrote. Other lines are
// passed over.
func ParseTranscript(text string) []Line {
	var lines []Line
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if message, ok := strings.CutPrefix(line, "-> "); ok {
			lines = append(lines, Line{number, false, []byte(message)})
		}
		if message, ok := strings.CutPrefix(line, "<- "); ok {
			lines = append(lines, Line{number, true, []byte(message)})
		}
	}
	return lines
}

// Report is the result of a validation.
type Report struct {
	// Checked counts the messages that were held against a schema.
	Checked int
	// Unchecked are the methods, but for our own, that the reference has no schema for.
	Unchecked []string
	Problems  []Problem
}

// Problem is a message that is wrong.
type Problem struct {
	Line    int
	Message string
	Err     error
}

// Error returns a message with the line and the fault.
func (p Problem) Error() string { return fmt.Sprintf("line %d: %s: %v", p.Line, p.Message, p.Err) }

// ValidateTranscript checks what the server wrote: notifications and requests by
// their method, answers by the method of the request that they answer, which
// must be in the transcript too. Ids of requests may be used again once they are
// answered.
func ValidateTranscript(reference *Schemas, lines []Line) Report {
	v := validation{schemas: reference, names: messageNames(own)}
	return v.run(lines)
}

// ValidateOwnTranscript does the same as ValidateTranscript, with the schemas that this server
// generates. It also checks the messages that the reference does not have, and whole error answers.
func ValidateOwnTranscript(ours *Schemas, lines []Line) Report {
	v := validation{schemas: ours, names: messageNames(""), ours: true}
	return v.run(lines)
}

func (v *validation) run(lines []Line) Report {
	v.pending = map[string]string{}
	for _, line := range lines {
		v.batch(line)
	}
	return v.report
}

type validation struct {
	schemas *Schemas
	ours    bool
	names   map[string]string
	pending map[string]string // methods by the id of the request
	report  Report
}

// batch divides a batch into its messages.
func (v *validation) batch(line Line) {
	var elements []json.RawMessage
	if json.Unmarshal(line.Message, &elements) != nil || len(elements) == 0 {
		elements = []json.RawMessage{line.Message}
	}
	for _, element := range elements {
		v.line(Line{line.Number, line.FromServer, element})
	}
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func (v *validation) line(line Line) {
	if !line.FromServer {
		v.asked(line)
		return
	}
	var m message
	err := json.Unmarshal(line.Message, &m)
	switch {
	case err != nil:
		v.problem(line, "not a message", err)
	case m.Method != "":
		v.check(line, m.Method, v.names[m.Method], m.Params)
	case m.Error != nil:
		v.answered(line, m)
		if v.ours {
			v.check(line, "error", "ErrorResponse", line.Message)
			return
		}
		v.check(line, "error", "JSONRPCErrorError", m.Error)
	default:
		method := v.answered(line, m)
		v.check(line, method, v.names["result of "+method], m.Result)
	}
}

// asked records a request of the client. A message with an id that is not a response counts as a
// request, even if its method is not a text.
func (v *validation) asked(line Line) {
	var m struct{ ID, Method, Result, Error json.RawMessage }
	if json.Unmarshal(line.Message, &m) != nil || m.ID == nil {
		return
	}
	method := "malformed"
	if json.Unmarshal(m.Method, &method) != nil && (m.Result != nil || m.Error != nil) {
		return
	}
	v.pending[string(m.ID)] = method
}

// answered returns the method of the request that m answers. An error without id
// answers a line that could not be read.
func (v *validation) answered(line Line, m message) string {
	id := string(m.ID)
	method, ok := v.pending[id]
	if !ok && (m.Error == nil || id != "null") {
		v.problem(line, "answer", fmt.Errorf("no request with id %s waits for one", cmp.Or(id, "(none)")))
	}
	delete(v.pending, id)
	return method
}

func (v *validation) check(line Line, method, name string, value json.RawMessage) {
	switch {
	case name == "" && method != "":
		v.problem(line, method, fmt.Errorf("not in the tables of package protocol"))
	case name == "", name == own:
	case !v.schemas.Has(name):
		v.report.Unchecked = append(v.report.Unchecked, method)
	default:
		v.report.Checked++
		if err := v.schemas.Validate(name, value); err != nil {
			v.problem(line, name, err)
		}
	}
}

func (v *validation) problem(line Line, what string, err error) {
	v.report.Problems = append(v.report.Problems, Problem{line.Number, what, err})
}

// own is the name of the schema of messages that the reference does not have.
const own = "our own"

// messageNames returns the schema files by method; "result of METHOD" for answers. A name that is not "" takes
// the place of the files of messages that the reference does not have.
func messageNames(unlessOwn string) map[string]string {
	names := map[string]string{}
	for _, m := range protocol.Methods() {
		names["result of "+m.Name] = ResultName(m)
		if m.Own && unlessOwn != "" {
			names["result of "+m.Name] = unlessOwn
		}
	}
	for _, n := range protocol.Notifications() {
		names[n.Method] = n.Params.Name()
		if n.Own && unlessOwn != "" {
			names[n.Method] = unlessOwn
		}
	}
	for _, r := range protocol.ServerRequests() {
		names[r.Name] = r.Params.Name()
	}
	return names
}

// ResultName returns the name of the schema file of a method's answer.
func ResultName(m protocol.Method) string {
	if m.Result == reflect.TypeFor[protocol.Empty]() {
		return strings.TrimSuffix(m.Params.Name(), "Params") + "Response"
	}
	return m.Result.Name()
}
