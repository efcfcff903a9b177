package apptest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// ToolCall is a tool call of a scripted model.
type ToolCall struct {
	Tool      string `json:"tool"`
	Arguments Object `json:"arguments"`
}

// ScriptText returns an input that makes a scripted model call tools. Each list is one answer.
func ScriptText(answers ...[]ToolCall) string {
	text, err := json.Marshal(answers)
	if err != nil {
		panic(err) // impossible: strings and numbers
	}
	return string(text)
}

// OneCall returns a list with one call.
func OneCall(tool string, arguments Object) []ToolCall { return []ToolCall{{tool, arguments}} }

// ShellCall returns a call of the tool shell.
func ShellCall(script string) []ToolCall { return OneCall("shell", Object{"command": script}) }

// ExecCall returns a call of exec_command. The command may keep running in the background.
func ExecCall(script string, more Object) []ToolCall {
	arguments := Object{"cmd": script, "yield_time_ms": 30_000}
	for name, value := range more {
		arguments[name] = value
	}
	return OneCall("exec_command", arguments)
}

// StdinCall returns a call that writes to the terminal session of LastSession.
func StdinCall(chars string) []ToolCall {
	return OneCall("write_stdin", Object{"session_id": LastSession, "chars": chars})
}

// StdinUntilEnd returns a call that writes to the terminal session of LastSession and waits for the end of its command.
func StdinUntilEnd(chars string) []ToolCall {
	return OneCall("write_stdin", Object{"session_id": LastSession, "chars": chars, "yield_time_ms": 30_000})
}

// LastSession is replaced in arguments by the last session ID that the model received.
const LastSession = "@SESSION@"

// ScriptedModel is a fake provider that makes the calls in the user's last message, answer by
// answer, and then answers "done". See ScriptText.
type ScriptedModel struct {
	*Provider
}

// NewScriptedModel starts a scripted model.
func NewScriptedModel(t *testing.T) ScriptedModel {
	m := ScriptedModel{&Provider{}}
	m.Server = httptest.NewServer(ModelHandler(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		request, write := string(body), func(answer func(io.Writer)) { answer(w) }
		if strings.HasSuffix(r.URL.Path, "/responses") {
			request, write = asChat(body), func(answer func(io.Writer)) { answerByResponses(w, answer) }
		}
		n := m.Record(ChatRequest{Body: request})
		w.Header().Set("Content-Type", "text/event-stream")
		write(func(w io.Writer) { writeNextAnswer(w, n, request) })
	}))
	t.Cleanup(m.Server.Close)
	return m
}

// writeNextAnswer answers the n-th request.
func writeNextAnswer(w io.Writer, n int, body string) {
	if calls := NextCalls(body); len(calls) > 0 {
		WriteCalls(w, n, withAgents(calls, body), LastSessionID(body))
		return
	}
	TextAnswer("done")(w)
}

// asChat converts the body of a request to the Responses API to one of Chat Completions.
func asChat(body []byte) string {
	raw, err := json.Marshal(Object{"messages": asMessages(body)})
	if err != nil {
		panic(err) // impossible: the messages were JSON
	}
	return string(raw)
}

// NextCalls returns the calls that answer a request.
func NextCalls(body string) (next []ToolCall) {
	var answers [][]ToolCall
	answered := 0
	for _, m := range gjson.Get(body, "messages").Array() {
		script := scriptIn(m)
		switch {
		case script != nil:
			answers, answered = script, 0
		case m.Get("tool_calls").Exists():
			answered++
		}
	}
	if answered >= len(answers) {
		return nil
	}
	return answers[answered]
}

// scriptIn returns the last script in a message of the user, or nil. Neighbouring messages of the user are one.
func scriptIn(m gjson.Result) (script [][]ToolCall) {
	if m.Get("role").Str != "user" {
		return nil
	}
	for _, paragraph := range strings.Split(m.Get("content").Str, "\n\n") {
		var calls [][]ToolCall
		if json.Unmarshal([]byte(paragraph), &calls) == nil {
			script = calls
		}
	}
	return script
}

// LastParagraph returns the text after the last blank line. Chat Completions join neighbouring messages of the user
// with blank lines.
func LastParagraph(text string) string { return text[strings.LastIndex("\n\n"+text, "\n\n"):] }

// WriteCalls answers the n-th request with calls. LastSession in arguments becomes session.
func WriteCalls(w io.Writer, n int, calls []ToolCall, session string) {
	var list []Object
	for i, a := range calls {
		text, err := json.Marshal(a.Arguments)
		if err != nil {
			panic(err) // impossible: it was JSON
		}
		list = append(list, Object{"index": i, "id": fmt.Sprintf("call_%d_%d", n, i), "type": "function",
			"function": Object{"name": a.Tool, "arguments": strings.ReplaceAll(string(text), LastSession, session)}})
	}
	fmt.Fprint(w, ChatChunk(Object{"role": "assistant", "tool_calls": list}, nil), ChatChunk(Object{}, "tool_calls"),
		"data: [DONE]\n\n")
}

// Outputs returns the tool outputs in the last request.
func (m ScriptedModel) Outputs() (list []string) {
	requests := m.Requests()
	for _, m := range gjson.Get(requests[len(requests)-1].Body, `messages.#(role=="tool")#.content`).Array() {
		list = append(list, m.Str)
	}
	return list
}

// LastOutput returns the newest tool output.
func (m ScriptedModel) LastOutput() string {
	all := m.Outputs()
	return all[len(all)-1]
}

// StartScripted starts the server with a scripted model.
func StartScripted(t *testing.T, args ...string) (*Client, ScriptedModel) {
	t.Helper()
	return StartScriptedOn(t, ChatWire, args...)
}

// StartScriptedOn starts the server with a scripted model that speaks one of the APIs.
func StartScriptedOn(t *testing.T, on WireAPI, args ...string) (*Client, ScriptedModel) {
	t.Helper()
	m := NewScriptedModelOn(t, on)
	c := StartServer(t, m.Home(t), args...)
	c.Initialize()
	return c, m
}

// NewScriptedModelOn returns a scripted model that speaks one of the APIs.
func NewScriptedModelOn(t *testing.T, on WireAPI) ScriptedModel {
	t.Helper()
	m := NewScriptedModel(t)
	m.wire = on
	return m
}

// RunScript runs a turn with these calls, requires that it completes, and returns its id.
func (c *Client) RunScript(thread string, answers ...[]ToolCall) string {
	c.T.Helper()
	turn := c.Turn(thread, ScriptText(answers...))
	require.Equal(c.T, "completed", turn.Status)
	return turn.ID
}

// LastSessionID returns the last session ID in a text, or "".
func LastSessionID(script string) string {
	found := SessionPattern.FindAllStringSubmatch(script, -1)
	if found == nil {
		return ""
	}
	return found[len(found)-1][1]
}
