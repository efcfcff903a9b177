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

// Act is a tool call.
type Act struct {
	Tool      string `json:"tool"`
	Arguments Object `json:"arguments"`
}

// Does are the words that have an obedient model make calls: those of each list in one answer.
func Does(answers ...[]Act) string {
	text, err := json.Marshal(answers)
	if err != nil {
		panic(err) // of strings and numbers
	}
	return string(text)
}

// Call is a list of one.
func Call(tool string, arguments Object) []Act { return []Act{{tool, arguments}} }

func RunsShell(script string) []Act { return Call("shell", Object{"command": script}) }

// RunsExec has a command run that may stay.
func RunsExec(script string, more Object) []Act {
	arguments := Object{"cmd": script, "yield_time_ms": 30_000}
	for name, value := range more {
		arguments[name] = value
	}
	return Call("exec_command", arguments)
}

// Types types on the session that was told last.
func Types(chars string) []Act {
	return Call("write_stdin", Object{"session_id": LastSession, "chars": chars})
}

// LastSession stands for the number of the session that the model was told last.
const LastSession = "@SESSION@"

// Obedient is a model that makes the calls which the newest message of the user names, answer by
// answer, and then says that they are done.
type Obedient struct {
	*Provider
}

func NewObedient(t *testing.T) Obedient {
	o := Obedient{&Provider{}}
	o.Server = httptest.NewServer(Completions(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		asked, answer := string(body), func(answer func(io.Writer)) { answer(w) }
		if strings.HasSuffix(r.URL.Path, "/responses") {
			asked, answer = asChat(body), func(answer func(io.Writer)) { byResponses(w, answer) }
		}
		n := o.Keep(ChatRequest{Body: asked})
		w.Header().Set("Content-Type", "text/event-stream")
		answer(func(w io.Writer) { obey(w, n, asked) })
	}))
	t.Cleanup(o.Server.Close)
	return o
}

// obey answers the n-th request.
func obey(w io.Writer, n int, body string) {
	if acts := NextActs(body); len(acts) > 0 {
		Calling(w, n, acts, Session(body))
		return
	}
	Says("done")(w)
}

// asChat is the body of a request of the Responses API as one of Chat Completions.
func asChat(body []byte) string {
	raw, err := json.Marshal(Object{"messages": asMessages(body)})
	if err != nil {
		panic(err) // of messages that were JSON
	}
	return string(raw)
}

// NextActs are the calls of the answer to a request.
func NextActs(body string) (next []Act) {
	var answers [][]Act
	at := 0
	for _, m := range gjson.Get(body, "messages").Array() {
		var told [][]Act
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

// Calling answers the n-th request with calls, of which some may be about a session.
func Calling(w io.Writer, n int, acts []Act, session string) {
	var list []Object
	for i, a := range acts {
		text, err := json.Marshal(a.Arguments)
		if err != nil {
			panic(err) // it was JSON
		}
		list = append(list, Object{"index": i, "id": fmt.Sprintf("call_%d_%d", n, i), "type": "function",
			"function": Object{"name": a.Tool, "arguments": strings.ReplaceAll(string(text), LastSession, session)}})
	}
	fmt.Fprint(w, Streamed(Object{"role": "assistant", "tool_calls": list}, nil), Streamed(Object{}, "tool_calls"),
		"data: [DONE]\n\n")
}

// Outputs are what the model was told by tools, in order.
func (o Obedient) Outputs() (list []string) {
	asked := o.Asked()
	for _, m := range gjson.Get(asked[len(asked)-1].Body, `messages.#(role=="tool")#.content`).Array() {
		list = append(list, m.Str)
	}
	return list
}

// LastOutput is what the newest call gave.
func (o Obedient) LastOutput() string {
	all := o.Outputs()
	return all[len(all)-1]
}

// StartObedient starts the binary with an obedient model.
func StartObedient(t *testing.T, args ...string) (*Client, Obedient) {
	t.Helper()
	return StartObedientOn(t, ChatWire, args...)
}

// StartObedientOn does so by one of the APIs.
func StartObedientOn(t *testing.T, on WireAPI, args ...string) (*Client, Obedient) {
	t.Helper()
	o := NewObedient(t)
	o.wire = on
	c := StartServer(t, o.Home(t), args...)
	c.Initialize()
	return c, o
}

// Done runs the calls of a turn that must complete.
func (c *Client) Done(thread string, answers ...[]Act) string {
	c.T.Helper()
	turn := c.Turn(thread, Does(answers...))
	require.Equal(c.T, "completed", turn.Status)
	return turn.ID
}

// Session is the number that was told last, "" where none was.
func Session(told string) string {
	found := SessionLine.FindAllStringSubmatch(told, -1)
	if found == nil {
		return ""
	}
	return found[len(found)-1][1]
}
