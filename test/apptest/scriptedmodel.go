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

// ToolCall is a tool call.
type ToolCall struct {
	Tool      string `json:"tool"`
	Arguments Object `json:"arguments"`
}

// ScriptText are the words that have an obedient model make calls: those of each list in one answer.
func ScriptText(answers ...[]ToolCall) string {
	text, err := json.Marshal(answers)
	if err != nil {
		panic(err) // of strings and numbers
	}
	return string(text)
}

// OneCall is a list of one.
func OneCall(tool string, arguments Object) []ToolCall { return []ToolCall{{tool, arguments}} }

func ShellCall(script string) []ToolCall { return OneCall("shell", Object{"command": script}) }

// ExecCall has a command run that may stay.
func ExecCall(script string, more Object) []ToolCall {
	arguments := Object{"cmd": script, "yield_time_ms": 30_000}
	for name, value := range more {
		arguments[name] = value
	}
	return OneCall("exec_command", arguments)
}

// StdinCall types on the session that was told last.
func StdinCall(chars string) []ToolCall {
	return OneCall("write_stdin", Object{"session_id": LastSession, "chars": chars})
}

// LastSession stands for the number of the session that the model was told last.
const LastSession = "@SESSION@"

// ScriptedModel is a model that makes the calls which the newest message of the user names, answer by
// answer, and then says that they are done.
type ScriptedModel struct {
	*Provider
}

func NewScriptedModel(t *testing.T) ScriptedModel {
	o := ScriptedModel{&Provider{}}
	o.Server = httptest.NewServer(ModelHandler(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		asked, answer := string(body), func(answer func(io.Writer)) { answer(w) }
		if strings.HasSuffix(r.URL.Path, "/responses") {
			asked, answer = asChat(body), func(answer func(io.Writer)) { answerByResponses(w, answer) }
		}
		n := o.Record(ChatRequest{Body: asked})
		w.Header().Set("Content-Type", "text/event-stream")
		answer(func(w io.Writer) { obey(w, n, asked) })
	}))
	t.Cleanup(o.Server.Close)
	return o
}

// obey answers the n-th request.
func obey(w io.Writer, n int, body string) {
	if acts := NextCalls(body); len(acts) > 0 {
		WriteCalls(w, n, acts, LastSessionID(body))
		return
	}
	TextAnswer("done")(w)
}

// asChat is the body of a request of the Responses API as one of Chat Completions.
func asChat(body []byte) string {
	raw, err := json.Marshal(Object{"messages": asMessages(body)})
	if err != nil {
		panic(err) // of messages that were JSON
	}
	return string(raw)
}

// NextCalls are the calls of the answer to a request.
func NextCalls(body string) (next []ToolCall) {
	var answers [][]ToolCall
	at := 0
	for _, m := range gjson.Get(body, "messages").Array() {
		var told [][]ToolCall
		switch {
		case m.Get("role").Str == "user" && json.Unmarshal([]byte(m.Get("content").Str), &told) == nil:
			answers, at = told, 0
		case m.Get("tool_calls").Exists():
			at++
		}
	}
	if at >= len(answers) {
		return nil
	}
	return answers[at]
}

// WriteCalls answers the n-th request with calls, of which some may be about a session.
func WriteCalls(w io.Writer, n int, acts []ToolCall, session string) {
	var list []Object
	for i, a := range acts {
		text, err := json.Marshal(a.Arguments)
		if err != nil {
			panic(err) // it was JSON
		}
		list = append(list, Object{"index": i, "id": fmt.Sprintf("call_%d_%d", n, i), "type": "function",
			"function": Object{"name": a.Tool, "arguments": strings.ReplaceAll(string(text), LastSession, session)}})
	}
	fmt.Fprint(w, ChatChunk(Object{"role": "assistant", "tool_calls": list}, nil), ChatChunk(Object{}, "tool_calls"),
		"data: [DONE]\n\n")
}

// Outputs are what the model was told by tools, in order.
func (o ScriptedModel) Outputs() (list []string) {
	asked := o.Requests()
	for _, m := range gjson.Get(asked[len(asked)-1].Body, `messages.#(role=="tool")#.content`).Array() {
		list = append(list, m.Str)
	}
	return list
}

// LastOutput is what the newest call gave.
func (o ScriptedModel) LastOutput() string {
	all := o.Outputs()
	return all[len(all)-1]
}

// StartScripted starts the binary with an obedient model.
func StartScripted(t *testing.T, args ...string) (*Client, ScriptedModel) {
	t.Helper()
	return StartScriptedOn(t, ChatWire, args...)
}

// StartScriptedOn does so by one of the APIs.
func StartScriptedOn(t *testing.T, on WireAPI, args ...string) (*Client, ScriptedModel) {
	t.Helper()
	o := NewScriptedModel(t)
	o.wire = on
	c := StartServer(t, o.Home(t), args...)
	c.Initialize()
	return c, o
}

// RunScript runs the calls of a turn that must complete.
func (c *Client) RunScript(thread string, answers ...[]ToolCall) string {
	c.T.Helper()
	turn := c.Turn(thread, ScriptText(answers...))
	require.Equal(c.T, "completed", turn.Status)
	return turn.ID
}

// LastSessionID is the number that was told last, "" where none was.
func LastSessionID(told string) string {
	found := SessionPattern.FindAllStringSubmatch(told, -1)
	if found == nil {
		return ""
	}
	return found[len(found)-1][1]
}
