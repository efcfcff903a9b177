//go:build reference

package interchange

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"appserver/test/apptest"
)

// The paths of the two APIs, below the address of each server.
const (
	chatPath      = "/v1/chat/completions"
	responsesPath = "/v1/responses"

	ourRequests   = "/ours"
	theirRequests = "/theirs"
)

// bilingual is a fake model that speaks Chat Completions and Responses, and records the last
// request of each server. The answer depends on the input. "run: COMMAND" calls the shell, where ⏎
// is a newline, and then answers "done". "outside: COMMAND" requests to leave the sandbox. "tool:
// NAME ARGUMENTS" calls a tool, with NAMESPACE/NAME in a namespace. Any other TEXT gives "answer to
// TEXT". Calls are call_1, call_2 ...
type bilingual struct {
	server *httptest.Server

	mu           sync.Mutex
	calls        int
	lastRequests map[string]modelRequest // last request, by ourRequests or theirRequests
}

func newBilingual(t *testing.T) *bilingual {
	m := &bilingual{lastRequests: map[string]modelRequest{}}
	mux := http.NewServeMux()
	for _, by := range []string{ourRequests, theirRequests} {
		mux.Handle("POST "+by+chatPath, m.serve(by, chatEvents))
		mux.Handle("POST "+by+responsesPath, m.serve(by, responsesEvents))
	}
	m.server = httptest.NewServer(mux)
	t.Cleanup(m.server.Close)
	return m
}

// serve answers requests of one server with the events that write produces.
func (m *bilingual) serve(by string, write func(io.Writer, modelAnswer)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request modelRequest
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer, err := m.answer(by, request)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if by == ourRequests && answer.namespace != "" { // this server offers tools without namespaces
			answer.namespace, answer.tool = "", answer.namespace+"__"+answer.tool
		}
		w.Header().Set("Content-Type", "text/event-stream")
		write(w, answer)
	})
}

// modelAnswer is a text or, with a call id, a tool call.
type modelAnswer struct{ text, callID, namespace, tool, arguments string }

func (m *bilingual) answer(by string, r modelRequest) (modelAnswer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lastRequests[by] = r
	lines := r.conversation()
	if len(lines) == 0 {
		return modelAnswer{}, fmt.Errorf("the request to %s is empty", by)
	}
	last := lines[len(lines)-1]
	if strings.HasPrefix(last, "output ") {
		return modelAnswer{text: "done"}, nil
	}
	text := r.asked(strings.TrimPrefix(last, "user: "))
	if script, background := strings.CutPrefix(text, "stay: "); background {
		m.calls++
		arguments, err := json.Marshal(apptest.Object{"cmd": script, "yield_time_ms": 250})
		return modelAnswer{callID: fmt.Sprintf("call_%d", m.calls), tool: "exec_command", arguments: string(arguments)}, err
	}
	if call, ok := strings.CutPrefix(text, "tool: "); ok {
		m.calls++
		return toolAnswer(fmt.Sprintf("call_%d", m.calls), call), nil
	}
	script, isCommand := strings.CutPrefix(text, "run: ")
	outside, escalates := strings.CutPrefix(text, "outside: ")
	if !isCommand && !escalates {
		return modelAnswer{text: "answer to " + text}, nil
	}
	m.calls++
	id := fmt.Sprintf("call_%d", m.calls)
	if escalates {
		return r.shellCall(id, outside, "sandbox_permissions", "require_escalated")
	}
	return r.shellCall(id, strings.ReplaceAll(script, "⏎", "\n"))
}

func toolAnswer(id, call string) modelAnswer {
	name, arguments, _ := strings.Cut(call, " ")
	a := modelAnswer{callID: id, tool: name, arguments: arguments}
	if namespace, tool, ok := strings.Cut(name, "/"); ok {
		a.namespace, a.tool = namespace, tool
	}
	return a
}

// conversation returns the conversation in the last request on a path.
func (m *bilingual) conversation(path string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lastRequests[path].conversation()
}

// chatEvents writes an answer in the form of Chat Completions. Calls have a signature, so that the
// rollout contains one, which the reference must ignore.
func chatEvents(w io.Writer, a modelAnswer) {
	if a.callID == "" {
		apptest.TextAnswer(a.text)(w)
		return
	}
	call := apptest.Object{"index": 0, "id": a.callID, "type": "function",
		"function":      apptest.Object{"name": a.tool, "arguments": a.arguments},
		"extra_content": apptest.Object{"google": apptest.Object{"thought_signature": "AA"}}}
	fmt.Fprint(w, apptest.ChatChunk(apptest.Object{"role": "assistant", "tool_calls": []apptest.Object{call}}, nil),
		apptest.ChatChunk(apptest.Object{}, "tool_calls"), "data: [DONE]\n\n")
}

// responsesEvents writes an answer in the form of Responses.
func responsesEvents(w io.Writer, a modelAnswer) {
	item := apptest.Object{"type": "message", "role": "assistant",
		"content": []apptest.Object{{"type": "output_text", "text": a.text}}}
	if a.callID != "" {
		item = apptest.Object{"type": "function_call", "call_id": a.callID, "name": a.tool, "arguments": a.arguments}
		if a.namespace != "" {
			item["namespace"] = a.namespace
		}
	}
	item["id"] = "item"
	event := func(kind, member string, value apptest.Object) {
		text, err := json.Marshal(apptest.Object{"type": kind, "output_index": 0, member: value})
		if err != nil {
			panic(err) // impossible: maps and strings
		}
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, text)
	}
	event("response.created", "response", apptest.Object{"id": "response"})
	event("response.output_item.done", "item", item)
	event("response.completed", "response",
		apptest.Object{"id": "response", "usage": apptest.Object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}})
}

// modelRequest has the compared members of a request in either form.
type modelRequest struct {
	Messages []modelEntry // of Chat Completions
	Input    []modelEntry // of Responses
	Tools    []struct {
		Name     string
		Function struct{ Name string }
	}
}

// modelEntry is a message of Chat Completions, or an item of Responses.
type modelEntry struct {
	Type, Role      string
	Content, Output modelText
	Arguments       string
	CallID          string `json:"call_id"`
	ToolCallID      string `json:"tool_call_id"`
	ToolCalls       []struct {
		ID       string
		Function struct{ Arguments string }
	} `json:"tool_calls"`
}

// modelText is a text, as a string or in parts.
type modelText string

// UnmarshalJSON joins the parts.
func (m *modelText) UnmarshalJSON(b []byte) error {
	var text *string
	if json.Unmarshal(b, &text) == nil {
		if text != nil {
			*m = modelText(*text)
		}
		return nil
	}
	var parts []struct{ Text string }
	err := json.Unmarshal(b, &parts)
	for _, p := range parts {
		*m += modelText(p.Text)
	}
	return err
}

// shellWords are the names of shell tools, with the member for the command.
var shellWords = map[string]string{"shell": "command", "exec_command": "cmd", "shell_command": "command"}

// shellCall calls the offered shell tool. more are names and values of other arguments.
func (r modelRequest) shellCall(id, script string, more ...string) (modelAnswer, error) {
	for _, tool := range r.Tools {
		name := tool.Name + tool.Function.Name
		if word, ok := shellWords[name]; ok {
			given := map[string]string{word: script}
			for i := 0; i+1 < len(more); i += 2 {
				given[more[i]] = more[i+1]
			}
			arguments, err := json.Marshal(given)
			return modelAnswer{callID: id, tool: name, arguments: string(arguments)}, err
		}
	}
	return modelAnswer{}, fmt.Errorf("the request offers no shell to run %q", script)
}

// conversation returns a line for each message, call and output of a request. Instructions and the
// environment are left out, because the servers' texts differ.
func (r modelRequest) conversation() (lines []string) {
	for _, e := range append(r.Messages, r.Input...) {
		lines = append(lines, e.lines()...)
	}
	return lines
}

// asked returns the first line of a request for a summary, and the last paragraph of any other.
func (r modelRequest) asked(paragraph string) string {
	entries := append(r.Messages, r.Input...)
	content := string(entries[len(entries)-1].Content)
	for _, head := range []string{"# Conversation", "# Summary of the conversation before", "You are performing"} {
		if strings.HasPrefix(content, head) {
			line, _, _ := strings.Cut(content, "\n")
			return line
		}
	}
	return paragraph
}

// ofDevelopers matches what has the role of the developer on the Responses API.
var ofDevelopers = regexp.MustCompile(`(?s)<(skills_instructions|collaboration_mode|permissions instructions)>.*?</(skills_instructions|collaboration_mode|permissions instructions)>`)

// paragraphs returns the paragraphs of a message of the user. On Chat Completions, neighbouring messages are one,
// with a blank line between them. The environment and texts of the developer are left out.
func (e modelEntry) paragraphs() (texts []string) {
	content := ofDevelopers.ReplaceAllString(string(e.Content), "\n\n")
	for _, text := range strings.Split(content, "\n\n") {
		text = strings.Trim(text, "\n")
		isOfUser := !strings.HasPrefix(text, "<environment_context>") && !strings.HasPrefix(text, "</")
		if text != "" && isOfUser {
			texts = append(texts, "user: "+text)
		}
	}
	return texts
}

func (e modelEntry) lines() (lines []string) {
	if e.Role == "user" {
		for _, text := range e.paragraphs() {
			line, _, _ := strings.Cut(text, "\n")
			lines = append(lines, line)
		}
		return lines
	}
	text, _, _ := strings.Cut(string(e.Content), "\n")
	switch {
	case e.Type == "function_call":
		return []string{calledLine(e.CallID, e.Arguments)}
	case e.Type == "function_call_output":
		return []string{outputLine(e.CallID, string(e.Output))}
	case e.Role == "tool":
		return []string{outputLine(e.ToolCallID, string(e.Content))}
	case e.Role != "assistant":
		return nil
	case text != "":
		lines = append(lines, e.Role+": "+text)
	}
	for _, call := range e.ToolCalls {
		lines = append(lines, calledLine(call.ID, call.Function.Arguments))
	}
	return lines
}

func calledLine(id, arguments string) string {
	var a struct{ Command, Cmd string }
	if err := json.Unmarshal([]byte(arguments), &a); err != nil {
		return "call " + id + ": " + err.Error()
	}
	return "call " + id + ": " + a.Command + a.Cmd
}

// outputLine returns the output without the servers' prefix with duration and exit code.
func outputLine(id, output string) string {
	_, text, found := strings.Cut(output, "Output:\n")
	if !found {
		text = output[strings.LastIndex(output, "\n")+1:]
	}
	return "output " + id + ": " + text
}
